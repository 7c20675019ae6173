// SPDX-License-Identifier: MPL-2.0

internal import Foundation
public import ISOBMFF

/// A movie made track by track, with whatever its sample entries and samples are to be.
public struct HandmadeMovie {
  /// A track with its samples in decoding order.
  public struct Track {
    public var description: TrackDescription
    /// The size of each is that of its bytes.
    public var samples: [(SampleDescription, bytes: [UInt8])] = []
    /// Time at which the presentation ends before the samples do, in units of the track.
    public var end: Int64?

    public init(_ description: TrackDescription) {
      self.description = description
    }

    /// Adds a sample after the previous one.
    public mutating func add(_ bytes: [UInt8], at time: Int64, duration: UInt32, offset: Int32 = 0)
    {
      var sample = SampleDescription(
        size: UInt32(bytes.count), decodeTime: time, duration: duration)
      sample.compositionOffset = offset
      samples.append((sample, bytes))
    }
  }

  public var container = MovieContainer.quickTime
  public var tracks: [Track]

  public init(_ tracks: [Track]) {
    self.tracks = tracks
  }

  /// The file, with all samples of the first track before those of the second.
  public func bytes() throws -> [UInt8] {
    var writer = MovieWriter(container: container)
    let ids = try tracks.map { try writer.addTrack($0.description) }
    var bytes = writer.header
    for (track, id) in zip(tracks, ids) {
      for (sample, data) in track.samples {
        try writer.append(sample, to: id)
        bytes += data
      }
      if let end = track.end { try writer.endPresentation(of: id, at: end) }
    }
    let tail = try writer.finish()
    let start = Int(tail.patch.offset)
    bytes.replaceSubrange(start..<start + tail.patch.bytes.count, with: tail.patch.bytes)
    return bytes + tail.index
  }

  public func write(to path: String) throws {
    try Data(bytes()).write(to: URL(filePath: path))
  }
}
