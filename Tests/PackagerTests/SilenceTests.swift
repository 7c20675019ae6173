// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Packager
import TestKit
import Testing

/// One eye, with a playlist of keyframes.
private let mono = video("v", isStereo: false, iFrames: true)

/// Renditions that give nothing for a while, keyframes at times that nobody asked for.
struct SilenceTests {
  /// A stream of a live presentation: its samples, and how much later than their times they arrive.
  private struct Source {
    var rendition: Rendition
    var samples: [PackagedSample<[UInt8]>]
    var latency: Int64 = 0
    /// Times between which nothing comes.
    var silence: Range<Int64> = 0..<0
  }

  /// Plays sources by a clock that goes on in steps of 100 ms, and passes over those that have
  /// given nothing for a second.
  private func play(_ settings: PackagerSettings, _ sources: [Source], seconds: Int64) throws
    -> Disk
  {
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    let disk = Disk()
    var queues = sources.map { source in
      source.samples.filter { !source.silence.contains($0.decodeTime) }[...]
    }
    let indices = try sources.map { try packager.add($0.rendition) }
    var latest = sources.map { _ in Int64.max - second }
    for now in stride(from: 0, to: seconds * second, by: Int(second / 10)) {
      guard queues.contains(where: { !$0.isEmpty }) else { break }
      for (number, source) in sources.enumerated() {
        while let sample = queues[number].first, sample.decodeTime + source.latency <= now {
          queues[number].removeFirst()
          try packager.append(sample, to: indices[number])
          latest[number] = now
        }
        if latest[number] + second <= now { try packager.passOver(indices[number]) }
      }
      try packager.pass(to: now)
      try disk.take(&packager)
    }
    for index in indices { try packager.end(index) }
    try disk.take(&packager)
    return disk
  }

  /// What holds for the playlists of all renditions: no segment is longer than promised, all start
  /// together and have the same discontinuities, and what is listed is what the files hold.
  ///
  /// - Parameter apart: How many nanoseconds apart segments may start.
  private func check(_ disk: Disk, _ names: [String], apart: Int64 = 100_000_000) throws {
    let lists = try names.map { try disk.playlist("\($0)/index.m3u8") }
    let first = lists[0]
    for (name, list) in zip(names, lists) {
      if disk.files["\(name)/iframe.m3u8"] != nil {
        let keyframes = try disk.playlist("\(name)/iframe.m3u8")
        for (one, next) in zip(keyframes.segments, keyframes.segments.dropFirst()) {
          #expect(one.map == next.map || next.startsDiscontinuity, "\(name): \(keyframes.text)")
        }
      }
      #expect(list.targetDuration == first.targetDuration)
      #expect(abs(list.segments.count - first.segments.count) <= 1, "\(name): \(list.text)")
      let promised = Int64(list.targetDuration) * second + second / 2
      var (end, length): (Int64?, Int64) = (nil, 0)
      for (segment, other) in zip(list.segments, first.segments) {
        // A source that stops leaves a hole in its last segment, and a gap in the next one; so does
        // one that stops for a moment, if the segment would become longer than promised.
        if let end, let date = segment.programDateTime, !segment.isGap,
          !segment.startsDiscontinuity, length + date - end < promised
        {
          #expect(abs(date - end) < 50_000_000, "\(name) \(segment.uri)\n\(list.text)")
        }
        length = Int64(segment.duration)
        end = segment.programDateTime.map { $0 + length }
        #expect(
          segment.duration < promised, "\(name): \(list.text)")
        #expect(segment.startsDiscontinuity == other.startsDiscontinuity, "\(name): \(list.text)")
        for part in segment.parts {
          #expect(part.duration <= list.lowLatency?.partTarget ?? 0, "\(name): \(list.text)")
        }
        let dates = [segment, other].compactMap(\.programDateTime)
        // Where two come back, one may be later.
        if dates.count == 2, !segment.startsDiscontinuity {
          #expect(abs(dates[0] - dates[1]) < apart, "\(name) \(list.text)\n\(first.text)")
        }
        guard !segment.isGap else { continue }
        let address = try #require(segment.map).uri
        let map = try #require(disk.files["\(name)/\(address)"])
        let bytes = try #require(disk.files["\(name)/\(segment.uri)"])
        let track = try track(of: map + bytes)
        #expect(
          try #require(track.samples.sample(at: 0)).isSync, "\(name) \(segment.uri)\n\(list.text)")
        let length = (0..<track.samples.count).reduce(UInt64(0)) {
          $0 + UInt64(track.samples.sample(at: $1)?.duration ?? 0)
        }
        let spoken = segment.duration * UInt64(track.timescale) / 1_000_000_000
        #expect(abs(Int64(length) - Int64(spoken)) <= 60, "\(name) \(segment.uri)")
      }
    }
  }

  private static let names = ["video_0", "video_0_mono", "audio_0"]

  /// Both eyes, one eye and audio.
  private func channel(
    videoSilence: Range<Int64> = 0..<0, audioSilence: Range<Int64> = 0..<0, latency: Int64 = 0,
    gop: Int = 60, seconds: Int = 24
  ) -> [Source] {
    let frames = pictures(30 * seconds, gop: gop)
    return [
      Source(
        rendition: video("video_0"), samples: frames, latency: latency, silence: videoSilence),
      Source(
        rendition: video("video_0_mono", isStereo: false, iFrames: true), samples: frames,
        latency: latency, silence: videoSilence),
      Source(
        rendition: audio("audio_0"), samples: packets(seconds * 48_000 / 1024),
        silence: audioSilence),
    ]
  }

  private func settings(parts: Bool) -> PackagerSettings {
    var settings = PackagerSettings(.event, target: 2)
    if parts { settings.partDuration = 500_000_000 }
    return settings
  }

  @Test(
    "video without keyframes where segments begin has a gap, which is told",
    arguments: [false, true])
  func rareKeyframes(parts: Bool) throws {
    // Its second keyframe comes after 14 seconds, in the middle of a segment.
    let rare = pictures(30 * 24, gop: 60).enumerated().map { index, sample in
      var sample = sample
      sample.isSync = index == 0 || index >= 421 && (index - 421) % 60 == 0
      return sample
    }
    var sources = channel()
    sources[1].samples = rare.map {
      var sample = $0
      sample.presentationTime = sample.decodeTime + 33_333_333
      return sample
    }
    let disk = try play(settings(parts: parts), sources, seconds: 26)
    try check(disk, Self.names)
    #expect(disk.losses == ["video_0_mono"])
    let lists = try Self.names.map { try disk.playlist("\($0)/index.m3u8") }
    #expect((4...7).contains(lists[1].segments.count { $0.isGap }), "\(lists[1].text)")
    #expect(!lists[0].segments.contains { $0.isGap } && !lists[2].segments.contains { $0.isGap })
    #expect(lists[1].segments.count { $0.startsDiscontinuity } == 1, "\(lists[1].text)")
  }

  @Test(
    "video without keyframes that stops leaves no segment without one", arguments: [false, true],
    [0, 1])
  func noKeyframes(parts: Bool, after: Int) throws {
    // Keyframes that come some frames late, and from the fifth segment on none, until it stops.
    var sources = channel()
    sources[1].samples = sources[1].samples.enumerated().map { index, sample in
      var sample = sample
      let place = index - after
      sample.isSync = index == 0 || place % 60 == 0 && !(300..<540).contains(index)
      sample.presentationTime = sample.decodeTime + 33_333_333
      return sample
    }
    for index in [0, 1] { sources[index].silence = 13_200_000_000..<16_800_000_000 }
    let disk = try play(settings(parts: parts), sources, seconds: 26)
    try check(disk, Self.names)
    let list = try disk.playlist("video_0_mono/index.m3u8")
    #expect(list.segments.prefix(4).allSatisfy { !$0.isGap }, "\(list.text)")
    #expect(list.segments.last?.isGap == false, "\(list.text)")
  }

  @Test("video that begins in the middle of a GOP has a gap up to its keyframe, which is told")
  func begunLate() throws {
    var sources = channel()
    for index in [0, 1] { sources[index].samples.removeFirst(20) }
    let disk = try play(settings(parts: false), sources, seconds: 26)
    #expect(Set(disk.losses) == ["video_0", "video_0_mono"])
    for name in Self.names.prefix(2) {
      let list = try disk.playlist("\(name)/index.m3u8")
      #expect(list.segments.map(\.isGap).firstIndex(of: false) == 1, "\(list.text)")
      #expect(list.segments.count { $0.isGap } == 1, "\(list.text)")
    }
  }

  @Test(
    "video that comes back without a keyframe, and late, makes no segment of the others too long",
    arguments: [false, true], [0, 3])
  func lateReturn(parts: Bool, latency: Int64) throws {
    var sources = channel(videoSilence: 7 * second..<9 * second, latency: latency * second)
    for source in [0, 1] {
      sources[source].samples = sources[source].samples.enumerated().map { index, sample in
        var sample = sample
        // None for five seconds.
        sample.isSync = sample.isSync && !(270..<420).contains(index)
        sample.presentationTime = sample.decodeTime + 33_333_333
        return sample
      }
    }
    let disk = try play(settings(parts: parts), sources, seconds: 30)
    try check(disk, Self.names)
    let list = try disk.playlist("video_0/index.m3u8")
    #expect(list.segments.last?.isGap == false, "\(list.text)")
  }

  @Test(
    "audio that stops for a moment leaves no hole, in a segment or between two",
    arguments: [false, true], [0, 1_000_000_000] as [Int64])
  func shortSilence(parts: Bool, latency: Int64) throws {
    for begin in [5_000_000_000, 5_550_000_000, 5_900_000_000, 6_000_000_000] as [Int64] {
      for length in [450_000_000, 950_000_000] as [Int64] {
        let disk = try play(
          settings(parts: parts),
          channel(audioSilence: begin..<begin + length, latency: latency), seconds: 26)
        try check(disk, Self.names, apart: second)
        let list = try disk.playlist("audio_0/index.m3u8")
        #expect(list.segments.allSatisfy { !$0.isGap }, "\(list.text)")
        #expect(list.targetDuration == 2, "\(list.text)")
        // Browsers stop where nothing is buffered. What would make a segment too long stays a hole.
        let isWhole = abs(Int64(list.duration) - 24 * second) < 30_000_000
        #expect(isWhole || begin + length > 6_500_000_000, "\(list.text)")
      }
    }
  }

  @Test("a keyframe that does not come is requested again, a second later and then every second")
  func keyframeAgain() throws {
    let frames = pictures(30 * 6, gop: 60).enumerated().map { index, sample in
      var sample = sample
      sample.isSync = [0, 60, 165].contains(index)
      return sample
    }
    let disk = try play(
      settings(parts: true), [Source(rendition: mono, samples: frames)], seconds: 8)
    let tenths = disk.keyframes.map { Int(($0 + 50_000_000) / 100_000_000) }
    // The second segment has none at 4 s; the one at 5.5 s begins the third.
    #expect(tenths == [20, 40, 50, 75] || tenths == [20, 40, 51, 75], "\(tenths)")
  }

  @Test("the discontinuity of a gap is in the list of keyframes as well")
  func keyframesAfterGap() throws {
    var packager = Packager<[UInt8]>(settings(parts: false))
    packager.date = 0
    let disk = Disk()
    let leader = try packager.add(video("video_0"))
    let other = try packager.add(mono)
    for (index, sample) in pictures(30 * 12, gop: 60).enumerated() {
      // Both change at the second segment, which begins without a keyframe of the other one.
      if index == 60 {
        for track in [leader, other] {
          try packager.replace(track, by: track == other ? mono : video("video_0"))
        }
      }
      try packager.append(sample, to: leader)
      var late = sample
      late.isSync = sample.isSync && index != 60
      try packager.append(late, to: other)
      try disk.take(&packager)
    }
    for index in [leader, other] { try packager.end(index) }
    try disk.take(&packager)
    let list = try disk.playlist("v/index.m3u8")
    #expect(
      list.segments.map(\.isGap) == [false, true, false, false, false, false], "\(list.text)")
    try check(disk, ["video_0", "v"])
    let keyframes = try disk.playlist("v/iframe.m3u8")
    #expect(keyframes.segments.map(\.startsDiscontinuity) == [false, true, false, false, false])
  }

  @Test("a change of format that is lost with the samples after it is there on the return")
  func lostChange() throws {
    // The other video has keyframes in the middle of segments, and a new format at the second one.
    var packager = Packager<[UInt8]>(settings(parts: true))
    packager.date = 0
    let disk = Disk()
    let leader = try packager.add(video("video_0"))
    let other = try packager.add(mono)
    for (index, sample) in pictures(30 * 40, gop: 60).enumerated() {
      try packager.append(sample, to: leader)
      var late = sample
      late.presentationTime = sample.decodeTime + 33_333_333
      late.isSync = index == 0 || index == 90 || index > 900 && index % 60 == 1
      if index == 90 { try packager.replace(other, by: mono) }
      try packager.append(late, to: other)
      try disk.take(&packager)
    }
    for index in [leader, other] { try packager.end(index) }
    try disk.take(&packager)
    try check(disk, ["video_0", "v"])
    let list = try disk.playlist("v/index.m3u8")
    #expect(list.segments.last?.isGap == false, "\(list.text)")
  }

  @Test("parts are as long as promised where pictures are shown for a moment", arguments: 0..<4)
  func squeezed(first: Int) throws {
    // A source that steps back by half a second: its timestamps are mended until they catch up.
    let pictures = pictures(30 * 12, gop: 60).enumerated().map { index, sample in
      var sample = sample
      let start = 100 + first
      let frames = index < start ? index : index < start + 15 ? start : index - 14
      let moment = index > start && index < start + 15 ? Int64(index - start) * 2_000_000 : 0
      sample.decodeTime = Int64(frames) * second / 30 + moment
      sample.presentationTime = sample.decodeTime
      return sample
    }
    let source = Source(rendition: video("video_0"), samples: pictures)
    // The rules of streams are checked with each playlist.
    let disk = try play(settings(parts: true), [source], seconds: 14)
    try check(disk, ["video_0"])
    #expect(try disk.playlist("video_0/index.m3u8").segments.count >= 5)
  }

  @Test(
    "video that stops has gaps while audio goes on, and comes back at a discontinuity",
    arguments: [false, true], [0, 300_000_000, 1_500_000_000] as [Int64])
  func stoppedVideo(parts: Bool, latency: Int64) throws {
    let silence = 8_300_000_000..<17_700_000_000 as Range<Int64>
    let disk = try play(
      settings(parts: parts), channel(videoSilence: silence, latency: latency), seconds: 26)
    try check(disk, Self.names)
    let lists = try Self.names.map { try disk.playlist("\($0)/index.m3u8") }
    #expect((3...6).contains(lists[0].segments.count { $0.isGap }), "\(lists[0].text)")
    #expect(lists[1].segments.map(\.isGap) == lists[0].segments.map(\.isGap))
    #expect(!lists[2].segments.contains { $0.isGap })
    #expect(lists[2].segments.count { $0.startsDiscontinuity } == 1)
    // Of audio, nothing is lost; of video, what no keyframe begins.
    let total = lists[2].duration
    #expect(abs(Int64(total) - 24 * second) < 30_000_000)
    let shown = lists[0].segments.filter { !$0.isGap }.reduce(0) { $0 + $1.duration }
    #expect(shown > 12_000_000_000 && shown < 17_500_000_000, "\(lists[0].text)")
  }

  @Test("audio that stops has gaps, and comes back with a keyframe", arguments: [false, true])
  func stoppedAudio(parts: Bool) throws {
    let silence = 6_500_000_000..<13_200_000_000 as Range<Int64>
    let disk = try play(
      settings(parts: parts), channel(audioSilence: silence, latency: 700_000_000), seconds: 26)
    try check(disk, Self.names)
    let lists = try Self.names.map { try disk.playlist("\($0)/index.m3u8") }
    #expect((2...4).contains(lists[2].segments.count { $0.isGap }), "\(lists[2].text)")
    #expect(!lists[0].segments.contains { $0.isGap })
    #expect(abs(Int64(lists[0].duration) - 24 * second) < 40_000_000)
  }

  @Test("if everything stops, all playlists have gaps up to the present", arguments: [false, true])
  func stopped(parts: Bool) throws {
    let silence = 6_500_000_000..<13_200_000_000 as Range<Int64>
    let disk = try play(
      settings(parts: parts), channel(videoSilence: silence, audioSilence: silence), seconds: 26)
    try check(disk, Self.names)
    for name in Self.names {
      let list = try disk.playlist("\(name)/index.m3u8")
      #expect((2...4).contains(list.segments.count { $0.isGap }), "\(list.text)")
      #expect(list.segments.contains { $0.startsDiscontinuity })
    }
  }

  @Test("one of two cameras stops", arguments: [0, 1])
  func oneOfTwo(stopped: Int) throws {
    let silence = 5_100_000_000..<11_900_000_000 as Range<Int64>
    let sources = [0, 1].map { number in
      Source(
        rendition: video("video_\(number)"), samples: pictures(720, gop: 45),
        latency: number == 1 ? 200_000_000 : 0, silence: number == stopped ? silence : 0..<0)
    }
    let disk = try play(settings(parts: false), sources, seconds: 26)
    let names = ["video_0", "video_1"]
    try check(disk, names)
    let lists = try names.map { try disk.playlist("\($0)/index.m3u8") }
    #expect(lists[stopped].segments.contains { $0.isGap }, "\(lists[stopped].text)")
    #expect(!lists[1 - stopped].segments.contains { $0.isGap }, "\(lists[1 - stopped].text)")
  }

  @Test(
    "sources that come and go at random never break the playlists",
    arguments: (0..<400).sampled(8) + [660, 732, 1946])
  func random(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    func silence() -> Range<Int64> {
      let start = Int64.random(in: 1...18, using: &random) * 1_010_000_000
      return start..<start + Int64.random(in: 1...60, using: &random) * 150_000_000
    }
    let sources = channel(
      videoSilence: silence(), audioSilence: silence(),
      latency: Int64.random(in: 0...15, using: &random) * 100_000_000,
      gop: seed < 400 ? Int.random(in: 20...60, using: &random) : seed % 3 == 0 ? 15 : 30)
    var settings = settings(parts: seed % 4 == (seed < 400 ? 0 : 2))
    settings.partDuration /= UInt64(seed < 400 ? 1 : 2)
    if seed % 4 < 2 || seed >= 400 { settings.segmentDuration = UInt64(second) }
    let disk = try play(settings, sources, seconds: 27)
    // What stops for a moment in two segments begins the second one late.
    try check(disk, Self.names, apart: second * 3 / 2)
  }

  @Test(
    "keyframes of another encoder: no segment is longer than the target duration", .tags(.long),
    arguments: [
      (gop: 60, target: 1, first: 0, written: 2), (60, 2, 0, 2), (60, 2, 40, 2), (60, 2, -40, 2),
      (60, 3, 25, 3), (60, 4, 40, 4), (60, 4, -40, 4), (48, 2, 15, 2), (250, 6, 0, 8),
      (250, 2, 0, 8), (75, 6, 60, 6),
    ].sampled(6), [false, true])
  func remoteKeyframes(
    _ row: (gop: Int, target: Int, first: Int64, written: Int), parts: Bool
  ) throws {
    var settings = PackagerSettings(.event, target: row.target)
    if parts { settings.partDuration = 500_000_000 }
    var frames = pictures(1000, gop: row.gop)
    // The first picture arrives late or early, in milliseconds.
    if row.first < 0 {
      for index in frames.indices.dropFirst() {
        frames[index].presentationTime -= row.first * 1_000_000
        frames[index].decodeTime -= row.first * 1_000_000
      }
    } else {
      frames[0].presentationTime += row.first * 1_000_000
    }
    let disk = try packaged(settings, [(mono, frames), (audio("a"), packets(1560))])
    for name in ["v", "a"] {
      let list = try disk.playlist("\(name)/index.m3u8")
      #expect(list.targetDuration == row.written, "\(list.text)")
      for segment in list.segments {
        #expect(segment.duration < UInt64(row.written) * 1_000_000_000 + 500_000_000)
      }
    }
  }

  @Test(
    "times at the ends of what numbers hold do no harm",
    arguments: [Int64.max, .min, 1 << 62, -(1 << 62)], [false, true])
  func extremes(time: Int64, isSilent: Bool) throws {
    var settings = settings(parts: true)
    settings.names.manifest = "all.mpd"
    var packager = Packager<[UInt8]>(settings)
    let (picture, sound) = (try packager.add(video("video_0")), try packager.add(audio("audio_0")))
    for (number, sample) in pictures(90).enumerated() {
      var sample = sample
      if number >= 45 { sample.presentationTime = time }
      if isSilent, number == 60 {
        for index in [picture, sound] { try packager.passOver(index) }
        try packager.pass(to: time)
      }
      try? packager.append(sample, to: picture)
    }
    for packet in packets(50) { try? packager.append(packet, to: sound) }
    for index in [picture, sound] { try? packager.end(index) }
    #expect(!packager.takeOutputs().isEmpty)
  }

  @Test("segments may be wished shorter than the target duration")
  func segmentDuration() throws {
    var settings = PackagerSettings(.onDemand, target: 6)
    settings.segmentDuration = 2_000_000_000
    let disk = try packaged(settings, [(mono, pictures(300, gop: 30))])
    let list = try disk.playlist("v/index.m3u8")
    #expect(list.targetDuration == 6)
    #expect(list.segments.map { $0.duration / 100_000_000 } == [20, 20, 20, 20, 20])
  }
}

/// A generator of random numbers that gives the same ones for the same seed.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
