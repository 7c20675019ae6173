// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import ISOBMFF
import TestKit
import Testing

extension MovieFile {
  /// Writes the movie's video again with a changed sample entry, changed samples, and other changed
  /// metadata.
  func rebuildVideo(
    at path: String, container: MovieContainer = .quickTime,
    metadata: MovieMetadata = MovieMetadata(),
    entry change: (inout VisualSampleEntry) throws -> Void = { _ in },
    sample changeSample: (inout [UInt8]) throws -> Void = { _ in },
    track changeTrack: (inout TrackDescription) -> Void = { _ in }
  ) throws {
    let track = try video()
    var entry = try videoEntry()
    try change(&entry)
    var writer = MovieWriter(container: container, metadata: metadata)
    var description = TrackDescription(.video(entry), timescale: track.timescale)
    changeTrack(&description)
    let id = try writer.addTrack(description)
    var file = writer.header
    for sample in track.allSamples {
      var data = Array(bytes[Int(sample.offset)..<Int(sample.offset) + Int(sample.size)])
      try changeSample(&data)
      try writer.append(
        SampleDescription(
          size: UInt32(data.count), decodeTime: sample.decodeTime, duration: sample.duration,
          compositionOffset: Int32(sample.presentationTime - sample.decodeTime),
          isSync: sample.isSync), to: id)
      file += data
    }
    let tail = try writer.finish()
    file += tail.index
    let start = Int(tail.patch.offset)
    file.replaceSubrange(start..<start + tail.patch.bytes.count, with: tail.patch.bytes)
    try Data(file).write(to: URL(filePath: path))
  }

  /// The layered video as a byte stream, its parameter sets first.
  func videoByteStream() throws -> [UInt8] {
    let entry = try videoEntry()
    let base = try HEVCDecoderConfigurationRecord(bytes: try #require(entry.hvcC))
    let layered = try LHEVCDecoderConfigurationRecord(bytes: try #require(entry.lhvC))
    let content = content(of: try video())
    let units =
      try base.nalUnits + layered.nalUnits
      + LengthPrefixed.nalUnits(in: content.span.bytes).map { Array(content[$0]) }
    return units.flatMap { [0, 0, 0, 1] + $0 }
  }
}

/// Changes a file whose index comes last, where no offset moves.
enum MovieIndex {
  /// The file with another edit list in each track of a kind; times as in `elst`, version 1.
  static func replacingEdits(
    _ edits: [Edit], of handler: FourCC, in file: [UInt8]
  ) throws -> [UInt8] {
    var boxes = OpaqueBox.all(in: file)
    let index = try #require(boxes.lastIndex { $0.type == "moov" })
    // The box of media data has a size of 32 bits in files as small as a test's.
    try #require(boxes.reduce(0) { $0 + $1.bytes.count } == file.count)
    boxes[index].payload = OpaqueBox.all(in: boxes[index].payload).flatMap { track in
      guard track.type == "trak",
        track.payload.firstRange(of: Array(handler.description.utf8)) != nil
      else { return track.bytes }
      var children = OpaqueBox.all(in: track.payload).filter { $0.type != "edts" }
      let header = children.firstIndex { $0.type == "tkhd" } ?? 0
      children.insert(OpaqueBox("edts", payload: list(edits).bytes), at: header + 1)
      return OpaqueBox("trak", payload: children.flatMap(\.bytes)).bytes
    }
    return boxes.flatMap(\.bytes)
  }

  private static func list(_ edits: [Edit]) -> OpaqueBox {
    func big(_ value: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
    var payload: [UInt8] = [1, 0, 0, 0]
    payload += big(UInt32(edits.count))
    for edit in edits {
      payload += big(edit.duration)
      payload += big(edit.mediaTime ?? -1)
      payload += big(edit.rate)
    }
    return OpaqueBox("elst", payload: payload)
  }
}
