// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

struct MovieWriterTests {
  private let entry = SampleEntry.video(VisualSampleEntry(width: 64, height: 32, hvcC: [1]))
  private let stbl = "moov/trak/mdia/minf/stbl/"

  private func tree(of movie: MovieWriter) throws -> BoxTree {
    BoxTree(try movie.finish().index)
  }

  @Test(
    "a movie ends when the picture presented last does, whenever it is decoded",
    arguments: [
      // The second picture is presented last, long after it is decoded.
      ([(0, 0, 10), (10, 100, 10), (90, 90, 10)], nil, 110),
      // Samples in their order end where the next one begins, whatever they say.
      ([(0, 0, 500), (10, 10, 10)], nil, 20),
      // A last picture without a duration is presented, too.
      ([(0, 0, 100), (100, 100, 0)], nil, 101),
      ([(0, 0, 100), (100, 100, 100)], 150, 150), ([(0, 0, 100), (100, 100, 100)], 900, 200),
      ([(0, 50, 100), (100, 150, 100)], -5, 50), ([(0, 0, 100)], .max, 100),
    ] as [([(decode: Int64, presentation: Int64, duration: UInt32)], Int64?, UInt64)])
  func end(
    samples: [(decode: Int64, presentation: Int64, duration: UInt32)], limit: Int64?, end: UInt64
  ) throws {
    var writer = MovieWriter(container: .mp4, movieTimescale: 1000)
    let entry = VisualSampleEntry(width: 64, height: 48, hvcC: [1])
    let track = try writer.addTrack(TrackDescription(.video(entry), timescale: 1000))
    for (decode, presentation, duration) in samples {
      var sample = SampleDescription(size: 1, decodeTime: decode, duration: duration)
      sample.compositionOffset = Int32(presentation - decode)
      try writer.append(sample, to: track)
    }
    if let limit { try writer.endPresentation(of: track, at: limit) }
    let movie = try Movie(content: Array(try writer.finish().index.dropFirst(8)))
    #expect(movie.duration == end)
  }

  @Test("sizes beyond 4 GiB give a 64-bit mdat and co64, smaller ones neither")
  func largeFiles() throws {
    for (count, isLarge) in [(2, false), (3, true)] {
      var movie = MovieWriter(container: .quickTime)
      let track = try movie.addTrack(TrackDescription(entry, timescale: 1))
      for index in 0..<count {
        try movie.append(
          SampleDescription(size: 2_000_000_000, decodeTime: Int64(index), duration: 1), to: track)
      }
      let tail = try movie.finish()
      let tree = BoxTree(tail.index)
      #expect(tail.offset == UInt64(36 + count * 2_000_000_000))
      if isLarge {
        #expect(tail.patch.offset == 20)
        #expect(BoxTree.number(tail.patch.bytes.prefix(8)) == 0x1_6D64_6174)
        #expect(BoxTree.number(tail.patch.bytes.suffix(8)) == 6_000_000_016)
      } else {
        #expect(tail.patch.offset == 28)
        #expect(BoxTree.number(tail.patch.bytes) == 4_000_000_008)
      }
      #expect((tree[stbl + "co64"] == nil) == (tree[stbl + "stco"] != nil))
      // The third chunk begins below 4 GiB; only a later one needs the wide table.
      #expect(tree[stbl + "co64"] == nil)
      try movie.append(
        SampleDescription(size: 1, decodeTime: 9, duration: 1), to: track)
      #expect((try self.tree(of: movie)[stbl + "co64"] != nil) == isLarge)
    }
  }

  @Test("consecutive samples of a track share a chunk until another track's sample")
  func chunks() throws {
    var movie = MovieWriter(container: .mp4)
    let first = try movie.addTrack(TrackDescription(entry, timescale: 10))
    let second = try movie.addTrack(TrackDescription(entry, timescale: 10))
    for (index, track) in [first, first, second, first, first, first].enumerated() {
      #expect(movie.position == UInt64(44 + 10 * index))
      try movie.append(
        SampleDescription(size: 10, decodeTime: Int64(index), duration: 1), to: track)
    }
    let tree = try tree(of: movie)
    #expect(tree[stbl + "stco"] == [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 44, 0, 0, 0, 74])
    #expect(
      tree[stbl + "stsc"] == [
        0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0,
        0, 1,
      ])
    #expect(tree[stbl + "stsz"] == [0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 5])
    #expect(
      tree[stbl + "stts"] == [
        0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0,
        0, 1,
      ])
  }

  @Test("a late track gets an empty edit, an early one is cut at 0")
  func edits() throws {
    func edits(startingAt start: Int64) throws -> [UInt8]? {
      var movie = MovieWriter(container: .quickTime, movieTimescale: 1000)
      let track = try movie.addTrack(TrackDescription(entry, timescale: 100))
      for index in 0..<10 as Range<Int64> {
        try movie.append(
          SampleDescription(size: 1, decodeTime: start + 10 * index, duration: 10), to: track)
      }
      return try tree(of: movie)["moov/trak/edts/elst"]
    }
    let rate: [UInt8] = [0, 1, 0, 0]
    #expect(
      try edits(startingAt: 50)
        == [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0xF4, 255, 255, 255, 255] + rate
        + [0, 0, 3, 0xE8, 0, 0, 0, 0] + rate)
    #expect(
      try edits(startingAt: -20)
        == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 3, 0x20, 0, 0, 0, 20] + rate)
  }

  @Test("decoding delay goes into signed offsets: the first picture is at media time 0")
  func compositionOffsets() throws {
    var movie = MovieWriter(container: .quickTime, movieTimescale: 10)
    let track = try movie.addTrack(TrackDescription(entry, timescale: 10))
    for (decodeTime, offset) in [(-2, 2), (-1, 4), (0, 1), (1, 1)] as [(Int64, Int32)] {
      try movie.append(
        SampleDescription(
          size: 1, decodeTime: decodeTime, duration: 1, compositionOffset: offset), to: track)
    }
    let tree = try tree(of: movie)
    #expect(tree["moov/trak/edts/elst"]?.suffix(12) == [0, 0, 0, 4, 0, 0, 0, 0, 0, 1, 0, 0])
    #expect(
      tree[stbl + "ctts"] == [
        1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 255,
        255, 255, 255,
      ])
    #expect(
      tree[stbl + "cslg"] == [
        0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 4,
      ])
  }

  @Test("equal offsets need no ctts")
  func constantOffset() throws {
    var movie = MovieWriter(container: .quickTime)
    let track = try movie.addTrack(TrackDescription(entry, timescale: 10))
    for index in 0..<3 as Range<Int64> {
      try movie.append(
        SampleDescription(size: 1, decodeTime: index - 2, duration: 1, compositionOffset: 2),
        to: track)
    }
    let tree = try tree(of: movie)
    #expect(tree[stbl + "ctts"] == nil)
    #expect(tree[stbl + "cslg"] == nil)
    #expect(tree["moov/trak/edts/elst"]?.prefix(8).last == 1)
  }

  @Test("long movies get 64-bit durations")
  func longDurations() throws {
    var movie = MovieWriter(container: .mp4, movieTimescale: 90_000)
    let track = try movie.addTrack(TrackDescription(entry, timescale: 90_000))
    for index in 0..<3 as Range<Int64> {
      try movie.append(
        SampleDescription(size: 1, decodeTime: index * 0xF000_0000, duration: 1), to: track)
    }
    let tree = try tree(of: movie)
    for path in ["moov/mvhd", "moov/trak/tkhd", "moov/trak/mdia/mdhd", "moov/trak/edts/elst"] {
      #expect(tree[path]?.first == 1, "\(path)")
    }
  }

  @Test("a run of PCM frames costs one entry in each table")
  func runs() throws {
    var movie = MovieWriter(container: .quickTime)
    let pcm = AudioSampleEntry(
      coding: .pcm(PCMFormat(bitsPerSample: 16)), channelCount: 2, sampleRate: 48_000)
    let track = try movie.addTrack(TrackDescription(.audio(pcm), timescale: 48_000))
    for index in 0..<100 as Range<Int64> {
      var run = SampleDescription(size: 4, decodeTime: index * 4800, duration: 1)
      run.count = 4800
      try movie.append(run, to: track)
    }
    let tree = try tree(of: movie)
    #expect(tree[stbl + "stts"]?.count == 16)
    #expect(tree[stbl + "stsz"] == [0, 0, 0, 0, 0, 0, 0, 4, 0, 7, 0x53, 0])
    #expect(BoxTree.number(tree["moov/trak/mdia/mdhd"]?[16..<20] ?? []) == 480_000)
  }

  @Test("freeform items of iTunes are written with both parts of their names")
  func freeform() throws {
    let item = MetadataItem(
      keySpace: "mdir", key: "----:com.apple.iTunes:a:b", value: .utf8("Tides"))
    for container in MovieContainer.allCases {
      let movie = MovieWriter(container: container, metadata: MovieMetadata(items: [item]))
      var parts: [UInt8] = []
      for (part, text) in [("mean", "com.apple.iTunes"), ("name", "a:b")] {
        parts += [0, 0, 0, UInt8(text.utf8.count + 12)] + Array(part.utf8) + [0, 0, 0, 0]
        parts += Array(text.utf8)
      }
      let item = try #require(try tree(of: movie)["moov/udta/meta/ilst/----"])
      #expect(item.starts(with: parts))
    }
  }

  @Test("metadata: QuickTime keys in .mov, ilst keys where there are any in .mp4")
  func metadata() throws {
    let items =
      [MetadataItem(key: "com.apple.quicktime.title", value: .utf8("Tides"))]
      + MovieMetadata.spatialItems
    for container in MovieContainer.allCases {
      let movie = MovieWriter(container: container, metadata: MovieMetadata(items: items))
      let tree = try tree(of: movie)
      let keys = String(decoding: tree["moov/meta/keys"] ?? [], as: UTF8.self)
      #expect(keys.contains("com.apple.quicktime.spatial.format-version"))
      #expect(keys.contains("com.apple.quicktime.title") == (container == .quickTime))
      #expect((tree["moov/udta/meta/ilst/©nam"] != nil) == (container == .mp4))
    }
  }
}
