// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import TestKit
import Testing

import struct FuzzTargets.SplitMix

/// The compact tables give what a plain list of samples gives.
struct SampleTableTests {
  /// One movie with a video track, and what was written of each sample.
  struct Written {
    var movie: Movie
    var samples: [SampleRecord] = []
  }

  /// Samples with many or few different durations, offsets, sizes and chunks.
  private func write(
    seed: UInt64, count: Int, variety: UInt64, container: MovieContainer
  ) throws -> Written {
    var generator = SplitMix(state: seed)
    func pick(_ range: ClosedRange<Int64>) -> Int64 {
      generator.next() % 100 < variety
        ? Int64.random(in: range, using: &generator) : range.lowerBound
    }
    var writer = MovieWriter(container: container)
    let entry = SampleEntry.video(VisualSampleEntry(width: 16, height: 16, hvcC: [1]))
    let track = try writer.addTrack(TrackDescription(entry, timescale: 600))
    let other = try writer.addTrack(TrackDescription(entry, timescale: 600))
    var samples: [SampleRecord] = []
    var decodeTime: Int64 = 0
    for index in 0..<count {
      if pick(0...3) == 1 {
        try writer.append(
          SampleDescription(size: 5, decodeTime: decodeTime, duration: 1), to: other)
      }
      let duration = UInt32(pick(20...40))
      // The first sample is the first to be shown, so that the writer shifts nothing.
      let offset = index == 0 ? 0 : pick(0...60)
      let dependency = SampleDependency(rawValue: UInt8(pick(0...255)))
      let record = SampleRecord(
        offset: writer.position, size: UInt32(pick(100...2000)), decodeTime: decodeTime,
        presentationTime: decodeTime + offset, duration: duration, isSync: pick(0...1) == 0,
        dependency: dependency, sampleEntryIndex: 0)
      try writer.append(
        SampleDescription(
          size: record.size, decodeTime: decodeTime, duration: duration,
          compositionOffset: Int32(offset), isSync: record.isSync, dependency: dependency),
        to: track)
      samples.append(record)
      decodeTime += Int64(duration)
    }
    let index = try writer.finish().index
    return Written(movie: try Movie(content: Array(index.dropFirst(8))), samples: samples)
  }

  @Test(
    "every sample comes back as it was written",
    arguments: [0, 3, 50, 100] as [UInt64], [1, 15, 16, 17, 64, 65, 1000])
  func roundTrip(variety: UInt64, count: Int) throws {
    for container in MovieContainer.allCases {
      let written = try write(
        seed: variety, count: count, variety: variety, container: container)
      #expect(written.movie.issues.isEmpty)
      let samples = try #require(written.movie.tracks.first).samples
      #expect(samples.all == written.samples)
      #expect(
        Int64(samples.minimumCompositionOffset)
          == written.samples.map { $0.presentationTime - $0.decodeTime }.min())
      #expect(samples.sample(at: count) == nil)
      #expect(samples.sample(at: -1) == nil)
    }
  }

  @Test(
    "look-ups by time and for sync samples agree with a search through all",
    arguments: [
      0, 3, 50, 100,
    ] as [UInt64])
  func lookUps(variety: UInt64) throws {
    let written = try write(seed: 5, count: 700, variety: variety, container: .quickTime)
    let samples = try #require(written.movie.tracks.first).samples
    let all = written.samples
    let end = samples.endDecodeTime
    #expect(end == (all.last.map { $0.decodeTime + Int64($0.duration) } ?? 0))
    for time in stride(from: Int64(-7), to: end + 100, by: 7) {
      #expect(samples.index(atDecodeTime: time) == all.lastIndex { $0.decodeTime <= time })
      let presented = all.filter { $0.presentationTime <= time }.map(\.presentationTime).max()
      let found = samples.index(atPresentationTime: time)
      #expect(found.map { all[$0].presentationTime } == presented)
    }
    for index in all.indices {
      #expect(samples.syncSample(atOrBefore: index) == all[...index].lastIndex { $0.isSync })
      #expect(
        samples.syncSample(after: index) == all[(index + 1)...].firstIndex { $0.isSync })
    }
    #expect(samples.syncSample(after: -1) == all.firstIndex { $0.isSync })
  }

  @Test("PCM frames are read in runs that end with their chunk")
  func runs() throws {
    var writer = MovieWriter(container: .quickTime)
    let pcm = AudioSampleEntry(
      coding: .pcm(PCMFormat(bitsPerSample: 16)), channelCount: 2, sampleRate: 48_000)
    let audio = try writer.addTrack(TrackDescription(.audio(pcm), timescale: 48_000))
    let other = try writer.addTrack(TrackDescription(.audio(pcm), timescale: 48_000))
    for part in 0..<3 as Range<Int64> {
      for track in [audio, other] {
        var run = SampleDescription(size: 4, decodeTime: part * 1000, duration: 1)
        run.count = 1000
        try writer.append(run, to: track)
      }
    }
    let movie = try Movie(content: Array(try writer.finish().index.dropFirst(8)))
    let samples = movie.tracks[0].samples
    #expect(samples.count == 3000)
    let run = try #require(samples.run(at: 1100, maximumCount: 10_000))
    #expect(run.count == 900)
    #expect(run.first.offset == 36 + 8000 + 400)
    #expect(run.first.decodeTime == 1100)
    #expect(samples.run(at: 1100, maximumCount: 10)?.count == 10)
  }

  @Test("a two-hour movie opens at once, with few bytes per sample")
  func opening() throws {
    var writer = MovieWriter(container: .quickTime)
    let entry = SampleEntry.video(VisualSampleEntry(width: 16, height: 16, hvcC: [1]))
    let video = try writer.addTrack(TrackDescription(entry, timescale: 30))
    let aac = AudioSampleEntry(
      coding: .aac(audioSpecificConfig: [0x11, 0x90]), channelCount: 2, sampleRate: 48_000)
    let audio = try writer.addTrack(TrackDescription(.audio(aac), timescale: 48_000))
    let frames = 2 * 3600 * 30
    var packets: Int64 = 0
    for frame in 0..<Int64(frames) {
      try writer.append(
        SampleDescription(
          size: UInt32(1000 + frame % 977), decodeTime: frame, duration: 1,
          compositionOffset: [1, 3, 0, 0][Int(frame % 4)], isSync: frame % 60 == 0,
          dependency: .dependent), to: video)
      while packets * 1024 * 30 < frame * 48_000 {
        try writer.append(
          SampleDescription(
            size: UInt32(300 + packets % 89), decodeTime: packets * 1024, duration: 1024),
          to: audio)
        packets += 1
      }
    }
    let index = try writer.finish().index
    let content = Array(index.dropFirst(8))
    let movie = try Movie(content: content)
    #expect(movie.tracks[0].samples.count == frames)
    // All that is kept is the index itself, and one remembered number for every 64 sizes and two
    // or three for every 16 rows of the other tables.
    #expect(content.count < 25 * (frames + Int(packets)))
    // Reading touches nothing that there is for each sample.
    let seconds = try (0..<5).map { _ in
      try processorTime { _ = try Movie(content: content) }
    }.min()
    #if !DEBUG
      #expect(try #require(seconds) < 0.5)
    #endif
  }
}
