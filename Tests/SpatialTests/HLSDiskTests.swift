// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import TestKit
import Testing

/// `mvhevchlssink` where files cannot be written, or only slowly: it is told once, and what is
/// listed plays.
@Suite(.checkedStreams)
struct HLSDiskTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder("disk")
  }

  @Test("an unwritable location is reported once, by its name")
  func unwritable() async throws {
    let told = try await failure(
      of: folder.video(30, "") + "mvhevchlssink name=h location=/proc/nowhere/%s-%d.m4s "
        + "init-location=/proc/nowhere/%s.mp4 playlist-location=/proc/nowhere/%s.m3u8")
    #expect(told.message.contains("'/proc/nowhere/video_0.mp4' could not be written"), "\(told)")
  }

  @Test("a second run to the same playlists is refused, and a killed one leaves no lock")
  func owned() async throws {
    let pictures = try await HLSFolder.pictures(2, "tune=zerolatency")
    // As a program that was killed leaves it.
    try FileManager.default.createDirectory(
      atPath: folder.place, withIntermediateDirectories: true)
    _ = try folder.temporaryFolder.write("", to: "disk/main.m3u8.lock")
    // The first one gives nothing while the second one tries.
    let first = try pipeline(folder.sink("target-duration=1 pad-timeout=0"))
    defer { first.setState(.null) }
    let video = try TestSource(feeding: first.element(named: "h"), "video_0")
    first.setState(.playing)
    video.begin(pictures[0].caps)
    for picture in pictures.prefix(45) { video.push(picture.buffer.copied()) }
    let list = try folder.text("video_0/index.m3u8")
    let told = try await failure(
      of: folder.video(60, "key-int-max=30") + folder.sink("target-duration=1"))
    #expect(told.message.contains("Another run is writing"), "\(told)")
    #expect(try folder.text("video_0/index.m3u8") == list)
    first.setState(.null)
    #expect(!folder.holds("main.m3u8.lock"))
  }

  @Test(
    "a finished stream, or one that keeps all segments, is only replaced with overwrite, and wholly"
  )
  func finished() async throws {
    let first =
      folder.video(60, "key-int-max=30") + folder.audio(94).replacing("audio_0", with: "audio_1")
    try await play(first + folder.sink("playlist-type=vod target-duration=1"))
    _ = try folder.temporaryFolder.write("", to: "disk/video_0/notes.txt")
    let files = try folder.files().sorted()
    let list = try folder.text("video_0/index.m3u8")
    for properties in ["playlist-type=vod", "playlist-type=event", "playlist-type=unspecified"] {
      let told = try await failure(
        of: folder.video(30, "") + folder.sink("target-duration=1 \(properties)"))
      #expect(
        told.message.contains("main.m3u8' is there already, of a finished stream")
          && told.message.contains("overwrite=true"), "\(told)")
      #expect(try folder.files().sorted() == files)
      #expect(try folder.text("video_0/index.m3u8") == list)
    }
    try await play(
      folder.video(30, "")
        + folder.sink("playlist-type=vod target-duration=1 mono-rendition=false overwrite=true"))
    #expect(
      try folder.files().sorted() == [
        "main.m3u8", "video_0", "video_0/iframe.m3u8", "video_0/index.m3u8",
        "video_0/init00000.mp4", "video_0/notes.txt", "video_0/segment00000.m4s",
      ])
  }

  @Test(
    "names that would be given twice are refused",
    arguments: [
      ("location=%s/all.m4s", "needs %05d"), ("location=%05d.m4s", "needs %s"),
      ("playlist-location=index.m3u8", "needs %s"), ("init-location=init%05d.mp4", "needs %s"),
    ])
  func sameNames(property: String, said: String) async throws {
    let told = try await failure(of: folder.video(30, "") + folder.sink(property))
    #expect(told.message.contains(said), "\(told)")
    #expect(!folder.holds("main.m3u8"))
  }

  @Test("a removed folder is reported once, and not created again")
  func vanishedFolder() async throws {
    let pictures = try await HLSFolder.pictures(4, "tune=zerolatency")
    let pipeline = try pipeline(folder.sink("target-duration=1 part-duration=200000000"))
    defer { pipeline.setState(.null) }
    let video = try TestSource(feeding: pipeline.element(named: "h"), "video_0")
    pipeline.setState(.playing)
    video.begin(pictures[0].caps)
    for picture in pictures.prefix(45) { video.push(picture.buffer.copied()) }
    try FileManager.default.removeItem(atPath: folder.path("video_0"))
    for picture in pictures.dropFirst(45) { video.push(picture.buffer.copied()) }
    let failure = try await failure(of: pipeline)
    #expect(failure.element == "h" && failure.message.contains("could not be written"))
    #expect(!folder.holds("video_0"))
    // What it names is gone, which breaks the rules that are checked at the end.
    try FileManager.default.removeItem(atPath: folder.path("main.m3u8"))
  }

  @Test(
    "a segment that cannot be written is not listed, and all listed ones exist",
    .tags(.process))
  func failedWrite() async throws {
    // A file cannot take the name of a folder.
    try FileManager.default.createDirectory(
      atPath: folder.path("video_0/segment00002.m4s"), withIntermediateDirectories: true)
    let told = try await failure(
      of: folder.video(150, "key-int-max=30") + folder.audio(235)
        + folder.sink("target-duration=1 playlist-type=event part-duration=250000000"))
    #expect(told.element == "h" && told.message.contains("segment00002.m4s"), "\(told)")
    for (rendition, most) in [("video_0", 2), ("video_0_mono", 3), ("audio_0", 3)] {
      let list = try folder.text("\(rendition)/index.m3u8")
      let segments = list.split(separator: "\n").filter { $0.hasSuffix(".m4s") }
      #expect(!segments.isEmpty && segments.count <= most, "\(list)")
    }
    try folder.expectWhole(["video_0", "video_0_mono", "audio_0"])
  }

  @Test(
    "a full disk is reported once; the data that fits plays, and a later run continues it",
    .tags(.judge),
    .enabled(if: SmallDisk.isAllowed, "only root may mount one"), Judge.isThere)
  func fullDisk() async throws {
    let disk = try SmallDisk(kibibytes: 5000, at: folder.place)
    try Data(count: 3 << 20).write(to: URL(filePath: folder.path("other")))
    let settings = "target-duration=1 playlist-type=event part-duration=250000000 append=true"
    let pipeline = try pipeline(
      folder.video(900, "key-int-max=30 quality=1") + folder.audio(1400) + folder.sink(settings))
    let errors = Awaited([PipelineFailure]())
    pipeline.bus.watch { message in
      // The elements before it have each to say that they were stopped.
      guard case .error(let failure) = message.content, failure.element == "h" else { return }
      errors.change { $0.append(failure) }
    }
    #expect(pipeline.play())
    try await errors.wait(for: "an error") { !$0.isEmpty }
    pipeline.setState(.null)
    let told = errors.current
    #expect(told.count == 1 && told[0].message.contains("space"), "\(told)")
    try folder.expectWhole(["video_0", "video_0_mono", "audio_0"])
    // It has no end: players would wait for more.
    let list = try folder.text("video_0/index.m3u8") + "#EXT-X-ENDLIST\n"
    try Data(list.utf8).write(to: URL(filePath: folder.path("other")))
    try FileManager.default.moveItem(
      atPath: folder.path("other"), toPath: folder.path("video_0/kept.m3u8"))
    let kept = try folder.frames("video_0/kept.m3u8")
    #expect(kept.count > 60 && kept.count.isMultiple(of: 2))
    try await play(folder.video(15, "quality=1") + folder.audio(24) + folder.sink(settings))
    try folder.expectWhole(["video_0", "video_0_mono", "audio_0"])
    // The parts that had no segment yet have one now.
    let whole = try folder.text("video_0/index.m3u8")
    let seconds = whole.matches(of: /#EXTINF:([0-9.]+)/).compactMap { Double($0.output.1) }
      .reduce(0, +)
    let all = try folder.frames("video_0/index.m3u8")
    #expect(all.count == Int((seconds * 60).rounded()), "\(whole)")
    #expect(all.count >= kept.count + 30, "\(list) became \(whole)")
    withExtendedLifetime(disk) {}
  }
}
