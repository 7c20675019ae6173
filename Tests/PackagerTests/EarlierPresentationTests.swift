// SPDX-License-Identifier: MPL-2.0

import Packager
import Testing

/// A run into the folder of another one, without `append`.
struct EarlierPresentationTests {
  /// Three seconds of video and audio.
  private func disk(_ settings: PackagerSettings, ends: Bool = true) throws -> Disk {
    let disk = Disk()
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    let (stereo, sound) = (
      try packager.add(video("video_0", iFrames: true)), try packager.add(audio("audio_1"))
    )
    try play(&packager, [stereo: pictures(90), sound: packets(141)], to: disk, ends: ends)
    return disk
  }

  private func earlier(_ settings: PackagerSettings, on disk: Disk) -> EarlierPresentation {
    EarlierPresentation(settings.names, with: ["video_0"]) { disk.files[$0] }
  }

  @Test(
    "whatever keeps all its segments stays, finished or not; the window of a live stream does not",
    arguments: [MediaPlaylist.Kind.live, .event, .onDemand],
    [MediaPlaylist.Kind.live, .event, .onDemand])
  func isToBeKept(old: MediaPlaylist.Kind, new: MediaPlaylist.Kind) throws {
    for ends in [false, true] {
      let found = earlier(
        PackagerSettings(old, target: 1),
        on: try disk(PackagerSettings(old, target: 1), ends: ends))
      #expect(found.hasEnded == ends)
      var settings = PackagerSettings(new, target: 1)
      #expect(found.isToBeKept(from: settings) == (old != .live || new != .live))
      settings.playlistLength = 0
      #expect(found.isToBeKept(from: settings))
    }
    let settings = PackagerSettings(new, target: 1)
    #expect(!earlier(settings, on: Disk()).isToBeKept(from: settings))
  }

  @Test(
    "every file of an earlier run is found, of renditions that this run does not have, too",
    arguments: [
      ("%s/segment%05d.m4s", "%s/init%05d.mp4", "%s/index.m3u8"),
      ("live/%s_%d", "live/%s-init%d", "live/%s.m3u8"),
      ("media/%s/%d.mp4", "media/%s/init%d.mp4", "lists/%s/list.m3u8"),
      ("a b/%s/%s-%03d.x.m4s", "a b/%s/%s-%03d.mp4", "a b/%s/%s.m3u8"),
    ])
  func files(segment: String, initialization: String, playlist: String) throws {
    var settings = PackagerSettings(.event, target: 1)
    settings.partDuration = 250_000_000
    settings.names.segment = segment
    settings.names.initialization = initialization
    settings.names.playlist = playlist
    settings.names.manifest = "manifest.mpd"
    let disk = Disk()
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    let (stereo, sound) = (
      try packager.add(video("video_0")), try packager.add(audio("audio_1"))
    )
    packager.isToBeContinued = true
    try play(&packager, [stereo: pictures(90), sound: packets(141)], to: disk)
    let found = earlier(settings, on: disk)
    #expect(found.renditions == ["audio_1", "video_0"])
    let folders = found.renditions.flatMap { found.folders(of: $0).map(\.path) }
    for path in disk.files.keys where !found.lists.contains(path) {
      #expect(found.renditions.contains { found.holds(path, of: $0) }, "\(path)")
      #expect(found.renditions.contains { found.holds(path + ".tmp", of: $0) })
      #expect(folders.contains(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])))
    }
  }

  @Test("files with other names are none of it")
  func otherFiles() throws {
    let found = earlier(
      PackagerSettings(.event, target: 1), on: try disk(PackagerSettings(.event, target: 1)))
    for name in [
      "segment.m4s", "segment0.m4s", "segment00000.m4s.bak", "segment00000.mp4", "segment-0001.m4s",
      "segment00001.1.2.m4s", "segment00000000000000000000000001.m4s", "notes.txt", "init.mp4", "",
      ".tmp", "segment99999999999999999999999.m4s", "segment00000.x.m4s", "segment00000..m4s",
      "segment0000٣.m4s",
    ] {
      #expect(!found.holds("video_0/" + name, of: "video_0"), "\(name)")
    }
    #expect(!found.holds("video_0/segment00000.m4s", of: "video_1"))
    #expect(found.holds("video_0/segment00000.vtt", of: "video_0"))
    #expect(found.holds("video_0/segment00000.3.vtt", of: "video_0"))
  }

  @Test("a damaged or foreign multivariant playlist names no files of others")
  func foreignPlaylist() throws {
    let settings = PackagerSettings(.event, target: 1)
    let disk = try disk(settings)
    disk.files["main.m3u8"] = Array(
      """
      #EXTM3U
      #EXT-X-MEDIA:TYPE=AUDIO,URI="../../etc/index.m3u8"
      #EXT-X-MEDIA:TYPE=AUDIO,URI=
      #EXT-X-STREAM-INF:BANDWIDTH=1
      ../../../index.m3u8
      /etc/index.m3u8
      https://example.org/index.m3u8
      video%5F0/index.m3u8
      audio_1/index.m3u8?a
      .//index.m3u8
      audio_2/index.m3u8
      """.utf8)
    #expect(earlier(settings, on: disk).renditions == ["audio_2", "video_0"])
    disk.files["main.m3u8"] = [0xFF, 0, 0x23, 0x0A, 0xC3]
    #expect(earlier(settings, on: disk).renditions == ["video_0"])
  }
}
