// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Packager
import Testing

/// Segments and playlists of synthetic streams, as files in a dictionary.
struct PackagerTests {
  @Test("a rendition that lags by less than is allowed has no gap, however short segments are")
  func slowFollower() throws {
    var settings = PackagerSettings(.onDemand, target: 1)
    settings.patience = 12 * second
    let disk = Disk()
    var packager = Packager<[UInt8]>(settings)
    let (fast, slow) = (
      try packager.add(video("v")), try packager.add(video("m", isStereo: false))
    )
    for sample in pictures(300) {
      try packager.append(sample, to: fast)
      try disk.take(&packager)
    }
    for sample in pictures(300) {
      try packager.append(sample, to: slow)
      try disk.take(&packager)
    }
    for index in [fast, slow] { try packager.end(index) }
    try disk.take(&packager)
    let (v, m) = (try disk.playlist("v/index.m3u8"), try disk.playlist("m/index.m3u8"))
    #expect(m.segments.count == 10 && !m.segments.contains { $0.isGap })
    #expect(m.segments.map(\.duration) == v.segments.map(\.duration))
  }

  @Test("a finished movie: segments start together at keyframes, nothing is lost or moved")
  func onDemand() throws {
    var settings = PackagerSettings(.onDemand, target: 2)
    settings.names.manifest = "manifest.mpd"
    let frames = pictures(165)
    let disk = try packaged(
      settings,
      [
        (video("video_0"), frames),
        (video("video_0_mono", isStereo: false, iFrames: true), frames),
        (audio("audio_0"), packets(258)),
      ])
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let playlist = try disk.playlist("\(name)/index.m3u8")
      #expect(
        playlist.segments.map(\.uri) == [
          "segment00000.m4s", "segment00001.m4s", "segment00002.m4s",
        ])
      #expect(playlist.hasEnded && playlist.kind == .onDemand)
      #expect(abs(Int64(playlist.duration) - 5_500_000_000) < 22_000_000)
      for segment in playlist.segments.prefix(2) {
        #expect(abs(Int64(segment.duration) - 2 * second) < 22_000_000)
      }
    }
    let clock = TrackClock(timescale: 30_000)
    for name in ["video_0", "video_0_mono"] {
      let (track, bytes) = try track(disk, name)
      #expect(track.samples.count == frames.count)
      for (index, frame) in frames.enumerated() {
        let sample = try #require(track.samples.sample(at: index))
        #expect(sample.presentationTime == clock.units(frame.presentationTime))
        #expect(sample.isSync == frame.isSync)
        #expect(Array(bytes[Int(sample.offset)..<Int(sample.offset) + 2]) == frame.payload)
      }
    }
    // CMAF: fragments begin with their earliest picture.
    #expect(try track(disk, "video_0").0.edits.isEmpty)
    #expect(try track(disk, "audio_0").0.samples.count == 258)
    let main = try disk.text("main.m3u8")
    #expect(main.contains("#EXT-X-VERSION:12\n") && main.contains("REQ-VIDEO-LAYOUT=\"CH-STEREO\""))
    let flat = try disk.text("main-2d.m3u8")
    #expect(flat.contains("video_0_mono/index.m3u8") && !flat.contains("video_0/index.m3u8"))
    let manifest = try disk.text("manifest.mpd")
    #expect(manifest.contains("media=\"video_0/segment$Number%05d$.m4s\""))
    #expect(manifest.contains("<S t=\"0\" d=\"60000\" r=\"1\"/>"))
    #expect(manifest.contains("<S t=\"120000\" d=\"45000\"/>"))
  }

  @Test(
    "a finished movie's target duration is that of its longest segment, in all renditions",
    arguments: [
      (gop: 30, target: 2, written: 2), (gop: 132, target: 2, written: 4),
      (gop: 136, target: 2, written: 5),
    ])
  func targetDuration(gop: Int, target: Int, written: Int) throws {
    let disk = try packaged(
      PackagerSettings(.onDemand, target: target),
      [
        (video("v", isStereo: false, iFrames: true), pictures(gop * 3, gop: gop)),
        (audio("a"), packets(gop * 5)),
      ])
    for path in ["v/index.m3u8", "v/iframe.m3u8", "a/index.m3u8"] {
      let playlist = try disk.playlist(path)
      #expect(playlist.targetDuration == written, "\(path)")
      #expect(
        playlist.segments.allSatisfy { $0.duration < UInt64(written) * 1_000_000_000 + 500_000_000 }
      )
    }
  }

  @Test(
    "a manifest does not list segments that a rendition lacks before it begins or after it ends")
  func lateAudio() throws {
    var settings = PackagerSettings(.onDemand, target: 1)
    settings.names.manifest = "manifest.mpd"
    let sound = packets(281).filter { (3 * second..<5 * second).contains($0.presentationTime) }
    let disk = try packaged(settings, [(video("v"), pictures(210)), (audio("a"), sound)])
    let manifest = try disk.text("manifest.mpd")
    let part = try #require(manifest.split(separator: "<Representation id=\"a\"").last)
    let start = try #require(part.firstMatch(of: /startNumber="(\d+)"/)).1
    #expect(start == "3")
    let rows = part.matches(of: /<S t="\d+" d="\d+"(?: r="(\d+)")?\/>/)
    let count = rows.reduce(0) { $0 + 1 + (Int($1.1 ?? "0") ?? 0) }
    for number in 3..<3 + count {
      #expect(disk.files["a/segment0000\(number).m4s"] != nil, "\(number)")
    }
    #expect(count == 2 || count == 3)
  }

  @Test("each keyframe is a chunk of its own, which a playlist of pictures finds by its bytes")
  func iFrames() throws {
    let disk = try packaged(
      PackagerSettings(.onDemand, target: 2),
      [(video("v", isStereo: false, iFrames: true), pictures(120))])
    let playlist = try disk.playlist("v/iframe.m3u8")
    #expect(playlist.isIFramesOnly && playlist.segments.count == 4 && playlist.hasEnded)
    for entry in playlist.segments {
      let range = try #require(entry.byteRange)
      #expect(entry.duration == 1_000_000_000)
      let bytes = try #require(disk.files["v/\(entry.uri)"])
      let chunk = bytes[Int(range.offset)..<Int(range.offset + range.length)]
      #expect(Array(chunk.dropFirst(4).prefix(4)) == Array("moof".utf8))
      #expect(chunk.last == 1)
      #expect(Array(chunk.suffix(10).dropFirst(4).prefix(4)) == Array("mdat".utf8))
    }
  }

  @Test("a live window slides, keyframes are requested ahead, old files are removed late")
  func live() throws {
    var settings = PackagerSettings(.live, target: 1)
    settings.playlistLength = 4
    let disk = try packaged(
      settings, date: 1_795_313_036_000_000_000,
      [(video("v"), pictures(30 * 20)), (audio("a"), packets(938))])
    for name in ["v", "a"] {
      let playlist = try disk.playlist("\(name)/index.m3u8")
      #expect(playlist.mediaSequence == 16 && playlist.segments.count == 4)
      #expect(playlist.kind == .live && playlist.hasEnded)
      let date = try #require(playlist.segments.first?.programDateTime)
      #expect(abs(date - 1_795_313_052_000_000_000) < 22_000_000)
      let kept = disk.files.keys.filter { $0.hasPrefix("\(name)/segment") }
      // Those of the playlist, and those that clients may still play.
      #expect((8...11).contains(kept.count), "\(kept.sorted())")
    }
    #expect(disk.keyframes == (1...20).map { Int64($0) * second })
    #expect(disk.segments.filter { $0.rendition == "v" }.count == 20)
  }

  @Test("parts have the declared duration, make up the segment, and are announced")
  func parts() throws {
    var settings = PackagerSettings(.live, target: 2)
    settings.partDuration = 500_000_000
    let disk = try packaged(
      settings, date: 0, [(video("v"), pictures(300, gop: 60)), (audio("a"), packets(468))])
    // The promise has a margin of one in fifty.
    for (name, target) in [("v", 510_000_000), ("a", 522_240_000)] as [(String, UInt64)] {
      let playlist = try disk.playlist("\(name)/index.m3u8")
      let lowLatency = try #require(playlist.lowLatency)
      #expect(abs(Int64(lowLatency.partTarget) - Int64(target)) < 10_000)
      #expect(abs(Int64(lowLatency.partHoldBack) - 1_566_720_000) < 10_000)
      for segment in playlist.segments.suffix(2) {
        #expect(segment.parts.count == 4)
        #expect(
          segment.parts.reduce(0) { $0 + $1.duration } / 100_000 == segment.duration / 100_000)
        for part in segment.parts.dropLast() {
          #expect(part.duration <= target + 10_000 && part.duration * 100 >= target * 85)
        }
        let whole = try #require(disk.files["\(name)/\(segment.uri)"])
        #expect(whole == segment.parts.flatMap { disk.files["\(name)/\($0.uri)"] ?? [] })
      }
    }
    // Every hint becomes the next part, or the file of the segment after the last.
    #expect(try disk.text("v/index.m3u8").contains("INDEPENDENT=YES"))
    let reports = try disk.playlist("v/index.m3u8").renditionReports
    #expect(reports.isEmpty || reports.first?.uri == "../a/index.m3u8")
  }

  @Test("a rendition that stalls has gaps in the meantime, and the others continue")
  func stall() throws {
    var packager = Packager<[UInt8]>(PackagerSettings(.event, target: 1))
    let disk = Disk()
    let stereo = try packager.add(video("v"))
    let rendition = try packager.add(audio("a"))
    // Audio of seconds 0 to 2 and 8 to 12.
    let audioPackets = packets(94) + packets(190, from: 375)
    for sample in packets(94) { try packager.append(sample, to: rendition) }
    for sample in pictures(30 * 8) {
      try packager.append(sample, to: stereo)
      try disk.take(&packager)
    }
    let during = try disk.playlist("a/index.m3u8")
    #expect(during.segments.contains { $0.isGap })
    for sample in audioPackets.dropFirst(94) { try packager.append(sample, to: rendition) }
    for sample in pictures(30 * 4, from: 240) { try packager.append(sample, to: stereo) }
    try packager.end(stereo)
    try packager.end(rendition)
    try disk.take(&packager)
    let (video, audio) = (try disk.playlist("v/index.m3u8"), try disk.playlist("a/index.m3u8"))
    #expect(video.segments.count == 12 && audio.segments.count == 12)
    #expect(audio.segments.map(\.isGap) == [0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0].map { $0 == 1 })
    #expect(try track(disk, "a").0.samples.count == audioPackets.count)
  }

  @Test("with irregular keyframes, segments that would be too long end early")
  func freeKeyframes() throws {
    var settings = PackagerSettings(.onDemand, target: 6)
    settings.requestsKeyframes = false
    let disk = try packaged(settings, [(video("v"), pictures(30 * 20, gop: 120))])
    let playlist = try disk.playlist("v/index.m3u8")
    #expect(playlist.segments.map { $0.duration / 1_000_000_000 } == [4, 4, 4, 4, 4])
    #expect(disk.keyframes.isEmpty)
  }

  @Test("names follow the templates, and addresses lead from file to file")
  func names() throws {
    var settings = PackagerSettings(.onDemand, target: 1)
    settings.names.segment = "media/%s-%d.m4s"
    settings.names.initialization = "media/%s 100%%.mp4"
    settings.names.playlist = "lists/%s.m3u8"
    settings.names.multivariantPlaylist = "a b/all.m3u8"
    settings.names.manifest = "all.mpd"
    let disk = try packaged(settings, [(video("v"), pictures(60))])
    let text = try disk.text("lists/v.m3u8")
    #expect(text.contains("#EXT-X-MAP:URI=\"../media/v%20100%25.mp4\"\n"))
    #expect(text.contains("\n../media/v-1.m4s\n"))
    #expect(disk.files["media/v 100%.mp4"] != nil && disk.files["media/v-1.m4s"] != nil)
    #expect(try disk.text("a b/all.m3u8").contains("\n../lists/v.m3u8\n"))
    #expect(try disk.text("all.mpd").contains("media=\"media/v-$Number$.m4s\""))
  }

  @Test("a rendition that starts after another one has ended is listed, too")
  func lateRendition() throws {
    var packager = Packager<[UInt8]>(PackagerSettings(.onDemand, target: 1))
    let disk = Disk()
    let audio = try packager.add(audio("a"))
    for sample in packets(141) { try packager.append(sample, to: audio) }
    try packager.end(audio)
    try disk.take(&packager)
    let stereo = try packager.add(video("v"))
    for sample in pictures(90) { try packager.append(sample, to: stereo) }
    try packager.end(stereo)
    try disk.take(&packager)
    #expect(try track(disk, "v").0.samples.count == 90)
  }

  @Test("one picture without a duration is a segment")
  func still() throws {
    var packager = Packager<[UInt8]>(PackagerSettings(.onDemand))
    let disk = Disk()
    let stereo = try packager.add(video("v"))
    var picture = try #require(pictures(1).first)
    picture.duration = 0
    try packager.append(picture, to: stereo)
    try packager.end(stereo)
    try disk.take(&packager)
    #expect(try disk.playlist("v/index.m3u8").segments.map(\.duration) == [1_000_000])
    #expect(try track(disk, "v").0.samples.count == 1)
  }

  @Test("settings that make no sense are bounded", arguments: [0, 9_000_000_000_000_000_000, .max])
  func bounds(partDuration: UInt64) throws {
    var settings = PackagerSettings(.onDemand, target: partDuration == .max ? .max : -5)
    settings.partDuration = partDuration
    let disk = try packaged(settings, [(video("v"), pictures(60))])
    #expect(try track(disk, "v").0.samples.count == 60)
    let part = try disk.playlist("v/index.m3u8").lowLatency?.partTarget ?? 0
    #expect(part <= (partDuration == .max ? 86_400 : 1) * 1_010_000_000 + 33_800_000)
  }

  @Test("times that jump by years, and gigabytes without a keyframe, are refused with a message")
  func refused() throws {
    var packager = Packager<[UInt8]>(PackagerSettings())
    let stereo = try packager.add(video("v"))
    var samples = pictures(3)
    try packager.append(samples[0], to: stereo)
    samples[1].decodeTime += 100_000 * second
    #expect(throws: PackagerError.timeJump(rendition: "v")) {
      try packager.append(samples[1], to: stereo)
    }
    samples[2].size = 1 << 30
    #expect(throws: PackagerError.noKeyframe(rendition: "v", bytes: (1 << 30) + 2)) {
      try packager.append(samples[2], to: stereo)
    }
  }

  // MARK: Changes

  /// A rendition of another size, with other parameter sets.
  private func larger(_ rendition: Rendition) -> Rendition {
    var rendition = rendition
    rendition.track = TrackDescription(
      .video(VisualSampleEntry(width: 1280, height: 720, hvcC: [4, 5, 6])), timescale: 60_000)
    return rendition
  }

  @Test("two eyes, later one: both layouts are listed, the one shown longer first")
  func changedLayout() throws {
    let disk = Disk()
    let settings = PackagerSettings(.event, target: 2)
    var packager = Packager<[UInt8]>(settings)
    let track = try packager.add(video("video_0"))
    var texts: [String] = []
    for (index, sample) in pictures(240).enumerated() {
      if index == 90 { try packager.replace(track, by: video("video_0", isStereo: false)) }
      try packager.append(sample, to: track)
      try disk.take(&packager)
      if index == 89 { texts.append(try disk.text("main.m3u8")) }
    }
    try packager.end(track)
    try disk.take(&packager)
    texts.append(try disk.text("main.m3u8"))
    #expect(texts[0].contains("REQ-VIDEO-LAYOUT=\"CH-STEREO\""), "\(texts)")
    #expect(texts[1].contains("REQ-VIDEO-LAYOUT=\"CH-MONO,CH-STEREO\""), "\(texts)")
  }

  /// Two renditions of one video that change at a picture, and sound that does not.
  private func change(
    at picture: Int, of count: Int, followerFirst: Bool, together: Bool = false,
    missing: Set<Int> = [], to disk: Disk, _ adjust: (inout PackagerSettings) -> Void = { _ in }
  ) throws {
    var settings = PackagerSettings(.event, target: 2)
    settings.names.manifest = "all.mpd"
    adjust(&settings)
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    let names = ["video_0", "video_1"].map { video($0, iFrames: true) }
    let videos = try names.map { try packager.add($0) }
    let audio = try packager.add(audio("audio_0"))
    let before = pictures(picture)
    let after = pictures(count - picture, from: 0).map { sample in
      var sample = sample
      let shift = Int64(picture) * second / 30
      sample.presentationTime += shift
      sample.decodeTime += shift
      return sample
    }
    var packets = packets(count * 48_000 / 30 / 1024)[...]
    for (index, sample) in (before + after).enumerated() {
      while let packet = packets.first, packet.decodeTime <= sample.decodeTime {
        try packager.append(packets.removeFirst(), to: audio)
      }
      if missing.contains(index) { continue }
      if together, index == picture {
        for (video, name) in zip(videos, names) { try packager.replace(video, by: larger(name)) }
      }
      for number in followerFirst ? [1, 0] : [0, 1] {
        if !together, index == picture {
          try packager.replace(videos[number], by: larger(names[number]))
        }
        try packager.append(sample, to: videos[number])
        try disk.take(&packager)
      }
    }
    for packet in packets { try packager.append(packet, to: audio) }
    for index in videos + [audio] { try packager.end(index) }
    try disk.take(&packager)
  }

  @Test(
    "if the format changes, all renditions have a discontinuity at the same segment",
    arguments: [45, 60, 75], [false, true])
  func changed(picture: Int, followerFirst: Bool) throws {
    let disk = Disk()
    try change(at: picture, of: 150, followerFirst: followerFirst, to: disk)
    let lists = try ["video_0", "video_1", "audio_0"].map { try disk.playlist("\($0)/index.m3u8") }
    for list in lists {
      #expect(list.segments.count == lists[0].segments.count)
      let places = list.segments.indices.filter { list.segments[$0].startsDiscontinuity }
      #expect(places == [picture > 60 ? 2 : 1])
      let maps = list.segments.map { $0.map?.uri }
      let isVideo = list.segments.count == maps.filter { $0 != nil }.count
      #expect(isVideo)
    }
    let place = picture > 60 ? 2 : 1
    for list in lists.prefix(2) {
      #expect(list.segments.prefix(place).allSatisfy { $0.map?.uri == "init00000.mp4" })
      #expect(list.segments.dropFirst(place).allSatisfy { $0.map?.uri == "init00001.mp4" })
    }
    #expect(lists[2].segments.allSatisfy { $0.map?.uri == "init00000.mp4" })
    // The tag stands once, also among the keyframes of the segment.
    for name in ["video_0/index.m3u8", "video_0/iframe.m3u8", "audio_0/index.m3u8"] {
      #expect(try disk.text(name).matches(of: /(?m)^#EXT-X-DISCONTINUITY$/).count == 1)
    }
    // Each segment holds what its initialization section describes, and times continue.
    for name in ["video_0", "video_1"] {
      var sizes: [UInt16: Int] = [:]
      var times: [Int64] = []
      let list = try disk.playlist("\(name)/index.m3u8")
      for number in [0, 1] {
        var bytes = try #require(disk.files["\(name)/init0000\(number).mp4"])
        for segment in list.segments where segment.map?.uri == "init0000\(number).mp4" {
          bytes += try #require(disk.files["\(name)/\(segment.uri)"])
        }
        let track = try track(of: bytes)
        guard case .video(let entry) = track.sampleEntries[0] else { continue }
        sizes[entry.width] = track.samples.count
        for index in 0..<track.samples.count {
          let sample = try #require(track.samples.sample(at: index))
          times.append(Int64(clamping: sample.decodeTime) * 30_000 / Int64(track.timescale))
        }
      }
      #expect(sizes == [640: picture, 1280: 150 - picture])
      #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 1000) <= 1 }, "\(times)")
    }
    let manifest = try disk.text("all.mpd")
    #expect(manifest.matches(of: /<Period id/).count == 2)
    #expect(manifest.contains("video_0/init00001.mp4") && manifest.contains("width=\"1280\""))
    #expect(manifest.contains("presentationTimeOffset"))
  }

  @Test(
    "if pictures are missing before a change, the last one is shown up to it in all renditions")
  func changedAfterGap() throws {
    let disk = Disk()
    try change(at: 60, of: 150, followerFirst: false, together: true, missing: [58, 59], to: disk)
    for name in ["video_0", "video_1"] {
      let list = try disk.playlist("\(name)/index.m3u8")
      try #require(list.segments.count > 1 && list.segments[1].startsDiscontinuity)
      #expect(abs(Int64(list.segments[0].duration) - 2 * second) < 1_000_000, "\(list.text)")
    }
  }

  @Test("a discontinuity that leaves a live window with parts is counted")
  func changedLive() throws {
    let disk = Disk()
    try change(at: 75, of: 600, followerFirst: false, to: disk) {
      $0.kind = .live
      $0.playlistLength = 4
      $0.partDuration = 500_000_000
    }
    for name in ["video_0", "video_1", "audio_0"] {
      let text = try disk.text("\(name)/index.m3u8")
      #expect(text.contains("#EXT-X-DISCONTINUITY-SEQUENCE:1\n"), "\(text)")
      #expect(!text.contains("#EXT-X-DISCONTINUITY\n"))
    }
    #expect(try disk.text("video_0/index.m3u8").contains("init00001.mp4"))
    #expect(try disk.text("all.mpd").matches(of: /<Period id/).count == 1)
  }

  @Test("a follower that changes alone waits for the leader's next keyframe, and loses nothing")
  func changedFollower() throws {
    var packager = Packager<[UInt8]>(PackagerSettings(.event, target: 2))
    let disk = Disk()
    let (leader, follower) = (
      try packager.add(video("video_0")), try packager.add(audio("audio_0"))
    )
    let packets = packets(235)
    var next = packets[...]
    for sample in pictures(150) {
      while let packet = next.first, packet.decodeTime <= sample.decodeTime {
        if packet.decodeTime == packets[130].decodeTime {
          try packager.replace(follower, by: audio("audio_0"))
        }
        try packager.append(next.removeFirst(), to: follower)
      }
      try packager.append(sample, to: leader)
      try disk.take(&packager)
    }
    for packet in next { try packager.append(packet, to: follower) }
    for index in [leader, follower] { try packager.end(index) }
    try disk.take(&packager)
    let lists = try ["video_0", "audio_0"].map { try disk.playlist("\($0)/index.m3u8") }
    #expect(lists[0].segments.count == lists[1].segments.count)
    // The sound changes at 2.77 s, and the next keyframe is at 3 s.
    for list in lists {
      #expect(list.segments.indices.filter { list.segments[$0].startsDiscontinuity } == [2])
    }
    var count = 0
    for number in [0, 1] {
      var bytes = try #require(disk.files["audio_0/init0000\(number).mp4"])
      for segment in lists[1].segments where segment.map?.uri == "init0000\(number).mp4" {
        bytes += try #require(disk.files["audio_0/\(segment.uri)"])
      }
      let samples = try track(of: bytes).samples.count
      #expect(number == 1 || samples == 130)
      count += samples
    }
    #expect(count == 235)
  }
}
