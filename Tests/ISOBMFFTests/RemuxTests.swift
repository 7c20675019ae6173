// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

/// A foreign file's track, written again without being decoded.
@Suite(.enabled(if: Media.isPresent, "the folder ../shared/media is absent"))
struct RemuxTests {
  @Test(
    "sample bytes, times, hvcC, lhvC, vexu and hfov are the same", arguments: Media.all,
    MovieContainer.allCases)
  func remux(name: String, container: MovieContainer) throws {
    let bytes = try Media.bytes(name)
    let source = try #require(try ParsedFile(pulling: bytes).movie?.tracks.first)
    let entry = try #require(source.sampleEntries.first)
    var writer = MovieWriter(container: container)
    let id = try writer.addTrack(TrackDescription(entry, timescale: source.timescale))
    var file = writer.header
    for record in source.samples.all {
      let start = Int(record.offset)
      try writer.append(
        SampleDescription(
          size: record.size, decodeTime: record.decodeTime, duration: record.duration,
          compositionOffset: Int32(record.presentationTime - record.decodeTime),
          isSync: record.isSync, dependency: record.dependency),
        Array(bytes[start..<start + Int(record.size)]), to: id, file: &file)
    }
    let written = try writer.complete(file)
    let copy = try #require(try ParsedFile(pulling: written).movie?.tracks.first)
    var expected = entry
    if case .video(var video) = expected {
      // Only MP4's form of colr says the range.
      let isFull = video.colour?.fullRange == true
      video.colour?.fullRange = container == .mp4 || isFull ? isFull : nil
      expected = .video(video)
    }
    #expect(copy.sampleEntries == [expected])
    #expect(copy.samples.count == source.samples.count)
    for (old, new) in zip(source.samples.all, copy.samples.all) {
      #expect(
        bytes[Int(old.offset)..<Int(old.offset) + Int(old.size)]
          == written[Int(new.offset)..<Int(new.offset) + Int(new.size)])
      #expect(new.presentationTime == old.presentationTime)
      #expect(new.decodeTime == old.decodeTime)
      #expect(new.isSync == old.isSync)
      #expect(new.dependency == old.dependency)
    }
    let (theirs, ours) = (BoxTree(bytes), BoxTree(written))
    let path = "moov/trak/mdia/minf/stbl/stsd/hvc1/"
    let kept = ["hvcC", "lhvC", "hfov", "vexu/eyes/stri", "vexu/eyes/cams/blin"]
    for leaf in theirs.leaves where kept.contains(where: { leaf.path == path + $0 }) {
      #expect(ours[leaf.path] == leaf.payload)
    }
  }
}
