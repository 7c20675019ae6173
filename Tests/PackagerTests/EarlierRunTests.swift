// SPDX-License-Identifier: MPL-2.0

import Foundation
import Packager
import Testing

/// A run that continues the playlists of a previous one.
struct EarlierRunTests {
  private func settings(_ kind: MediaPlaylist.Kind = .event, parts: UInt64 = 0) -> PackagerSettings
  {
    var settings = PackagerSettings(kind, target: 1)
    settings.partDuration = parts
    settings.names.manifest = "manifest.mpd"
    return settings
  }

  /// What is on the disk of a rendition.
  private func earlier(
    _ name: String, on disk: Disk, _ settings: PackagerSettings, iFrames: Bool = false
  ) throws -> EarlierRun {
    let playlist = try disk.playlist("\(name)/index.m3u8")
    let paths = settings.names.openPartPaths(of: video(name), in: playlist)
    return EarlierRun(
      playlist,
      iFrames: iFrames && disk.files["\(name)/iframe.m3u8"] != nil
        ? try disk.playlist("\(name)/iframe.m3u8") : nil,
      openParts: paths.compactMap { disk.files[$0] })
  }

  /// Packages `seconds` of two renditions.
  private func run(
    _ seconds: Double, _ settings: PackagerSettings, to disk: Disk, continuing: Bool = false,
    ends: Bool = true
  ) throws {
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    let stereo = try packager.add(
      video("v", iFrames: true),
      continuing: continuing ? try earlier("v", on: disk, settings, iFrames: true) : nil)
    let audio = try packager.add(
      audio("a"), continuing: continuing ? try earlier("a", on: disk, settings) : nil)
    try disk.take(&packager)
    try play(
      &packager, [stereo: pictures(Int(30 * seconds)), audio: packets(Int(47 * seconds))], to: disk,
      ends: ends)
  }

  @Test(
    "a rendition that is silent after a restart: its gaps stay as they are while the window moves")
  func silentAtFirst() throws {
    var settings = settings(.live)
    settings.playlistLength = 4
    let disk = Disk()
    try run(6, settings, to: disk, ends: false)
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    let stereo = try packager.add(
      video("v", iFrames: true), continuing: try earlier("v", on: disk, settings, iFrames: true))
    let silent = try packager.add(audio("a"), continuing: try earlier("a", on: disk, settings))
    try packager.passOver(silent)
    // The rules look at each playlist: no segment may change while it is listed.
    for sample in pictures(300) {
      try packager.append(sample, to: stereo)
      try disk.take(&packager)
    }
    let list = try disk.playlist("a/index.m3u8")
    #expect(list.segments.count >= 4 && list.segments.allSatisfy(\.isGap), "\(list.text)")
    #expect(list.segments.allSatisfy { $0.map?.uri == "init00000.mp4" }, "\(list.text)")
  }

  @Test("all listed segments stay, a discontinuity follows, and numbers continue")
  func event() throws {
    let (disk, settings) = (Disk(), settings())
    try run(3, settings, to: disk)
    let first = ["v", "a"].map { try? disk.playlist("\($0)/index.m3u8") }
    let files = disk.files
    try run(4, settings, to: disk, continuing: true)
    for (name, before) in zip(["v", "a"], first) {
      let before = try #require(before)
      let playlist = try disk.playlist("\(name)/index.m3u8")
      let count = before.segments.count
      #expect(count >= 3 && playlist.segments.count >= count + 4)
      #expect(Array(playlist.segments.prefix(count)) == before.segments)
      #expect(
        playlist.segments.indices.filter { playlist.segments[$0].startsDiscontinuity } == [count])
      #expect(playlist.mediaSequence == 0 && playlist.hasEnded)
      // What was there is as it was, the initialization section too.
      for (path, bytes) in files where path.hasSuffix(".m4s") || path.hasSuffix(".mp4") {
        #expect(disk.files[path] == bytes, "\(path)")
      }
      #expect(Set(playlist.segments.map { $0.map?.uri }).count == 2)
      #expect(Set(playlist.segments.map(\.uri)).count == playlist.segments.count)
    }
    let frames = try disk.playlist("v/iframe.m3u8")
    #expect(frames.segments.count == 7 && frames.segments[3].startsDiscontinuity)
    // The manifest is of this run alone, and begins with it.
    let manifest = try disk.text("manifest.mpd")
    #expect(manifest.contains("startNumber=\"3\"") && manifest.contains("start=\"PT0S\""))
    #expect(manifest.contains("presentationTimeOffset"))
  }

  @Test("the window slides over the earlier segments, and their files are removed late")
  func live() throws {
    var settings = settings(.live)
    settings.playlistLength = 4
    let disk = Disk()
    try run(6, settings, to: disk)
    let before = try disk.playlist("v/index.m3u8")
    #expect(before.mediaSequence == 2)
    try run(20, settings, to: disk, continuing: true)
    let after = try disk.playlist("v/index.m3u8")
    #expect(after.mediaSequence == 22 && after.discontinuitySequence == 1)
    #expect(!after.segments.contains { $0.startsDiscontinuity })
    let kept = disk.files.keys.filter { $0.hasPrefix("v/segment") }
    // The two that had left the first run's window belong to neither run.
    #expect((8...13).contains(kept.count), "\(kept.sorted())")
    #expect(!kept.contains("v/segment00003.m4s"))
  }

  @Test("the parts of an open segment are kept as one")
  func openParts() throws {
    let (disk, settings) = (Disk(), settings(parts: 250_000_000))
    try run(3, settings, to: disk, ends: false)
    let before = try disk.playlist("v/index.m3u8")
    try #require(!before.openParts.isEmpty)
    let bytes = settings.names.openPartPaths(of: video("v"), in: before)
      .flatMap { disk.files[$0] ?? [] }
    let number = before.segments.count
    try run(2, settings, to: disk, continuing: true)
    let playlist = try disk.playlist("v/index.m3u8")
    #expect(playlist.segments[number].uri == "segment0000\(number).m4s")
    #expect(!playlist.segments[number].isGap && !playlist.segments[number].startsDiscontinuity)
    #expect(disk.files["v/segment0000\(number).m4s"] == bytes && !bytes.isEmpty)
    let duration = before.openParts.reduce(0) { $0 + $1.duration }
    #expect(playlist.segments[number].duration == duration)
  }

  @Test(
    "a run that ended in its first segment is kept, and the next run's parts have their offsets"
  )
  func firstSegment() throws {
    let (disk, settings) = (Disk(), settings(parts: 250_000_000))
    try run(0.7, settings, to: disk, ends: false)
    let before = try disk.playlist("v/index.m3u8")
    try #require(before.segments.isEmpty && before.openParts.count > 1)
    #expect(before.openSegment?.map?.uri == "init00000.mp4")
    #expect(before.openSegment?.startsDiscontinuity == false)
    try run(0.7, settings, to: disk, continuing: true, ends: false)
    let playlist = try disk.playlist("v/index.m3u8")
    try #require(playlist.segments.count == 1 && playlist.openParts.count > 1)
    #expect(playlist.segments[0].map == before.openSegment?.map && !playlist.segments[0].isGap)
    #expect(playlist.segments[0].programDateTime == before.openSegment?.programDateTime)
    #expect(playlist.openSegment?.startsDiscontinuity == true)
    #expect(playlist.openSegment?.map?.uri == "init00001.mp4")
  }

  @Test("renditions that were stopped at different segments continue together")
  func after() throws {
    let (disk, settings) = (Disk(), settings())
    try run(3, settings, to: disk)
    let text = try disk.text("a/index.m3u8")
    // As if the process had ended before the last segment of the sound was listed.
    let cut = try #require(text.range(of: "#EXTINF", options: .backwards))
    disk.edit("a/index.m3u8", text[..<cut.lowerBound])
    let (pictures, audio) = (
      try disk.playlist("v/index.m3u8").nextSequence, try disk.playlist("a/index.m3u8").nextSequence
    )
    try #require(pictures == audio + 1 || pictures == audio)
    try run(2, settings, to: disk, continuing: true)
    let (v, a) = (try disk.playlist("v/index.m3u8"), try disk.playlist("a/index.m3u8"))
    let start = try #require(v.segments.firstIndex { $0.startsDiscontinuity })
    #expect(a.segments.firstIndex { $0.startsDiscontinuity } == start)
    #expect(a.segments.filter(\.isGap).count == Int(pictures - audio))
  }

  @Test("playlists that are far apart are not of one run")
  func apart() throws {
    let (disk, settings) = (Disk(), settings())
    try run(2, settings, to: disk)
    let far = try disk.text("v/index.m3u8")
      .replacing("#EXT-X-TARGETDURATION", with: "#EXT-X-MEDIA-SEQUENCE:900\n#EXT-X-TARGETDURATION")
      .replacing("#EXT-X-MEDIA-SEQUENCE:0\n", with: "")
    disk.edit("v/index.m3u8", far)
    #expect(throws: PackagerError.apart(rendition: "a", sequence: 2, other: 902)) {
      try run(2, settings, to: disk, continuing: true)
    }
  }

  @Test(
    "a rendition that an earlier run lacks has the discontinuity sequence of the others",
    arguments: [true, false])
  func joining(isListed: Bool) throws {
    let disk = Disk()
    var settings = settings(.live)
    settings.playlistLength = 3
    try run(5.5, settings, to: disk, ends: false)
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    var old = try earlier("v", on: disk, settings)
    old.isListed = isListed
    let streams = [
      try packager.add(video("v"), continuing: old), try packager.add(audio("new")),
    ]
    try play(
      &packager, [streams[0]: pictures(60), streams[1]: packets(94)], to: disk, ends: false)
    let (known, new) = (try disk.playlist("v/index.m3u8"), try disk.playlist("new/index.m3u8"))
    let index = try #require(
      known.segments.indices.first { known.mediaSequence + UInt64($0) == new.mediaSequence })
    let number =
      known.discontinuitySequence
      + UInt64(known.segments[...index].count(where: \.startsDiscontinuity))
    #expect(number > 0)
    #expect(
      new.discontinuitySequence + (new.segments[0].startsDiscontinuity ? 1 : 0) == number)
  }

  @Test("a run that replaces another has higher numbers, and the old files go after a while")
  func replaced() throws {
    let disk = Disk()
    var settings = settings(.live, parts: 250_000_000)
    settings.playlistLength = 3
    try run(5.5, settings, to: disk, ends: false)
    let names = ["v/index.m3u8", "a/index.m3u8", "v/iframe.m3u8"]
    let before = try names.map { try disk.playlist($0) }
    let files = Set(disk.files.keys.filter { !$0.contains("m3u8") && $0.contains("/") })
    #expect(files.contains("v/init00000.mp4") && before[0].openSegment != nil)
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    let streams = try ["v", "a"].map { name in
      var old = try earlier(name, on: disk, settings, iFrames: true)
      old.isListed = false
      return try packager.add(name == "v" ? video("v", iFrames: true) : audio("a"), continuing: old)
    }
    try play(
      &packager, [streams[0]: pictures(60), streams[1]: packets(94)], to: disk, ends: false)
    // Players may still have the old playlist.
    #expect(files.isSubset(of: disk.files.keys))
    for (name, old) in zip(names, before) {
      let new = try disk.playlist(name)
      #expect(new.mediaSequence >= old.nextSequence, "\(name)")
      #expect(new.discontinuitySequence > old.discontinuitySequence)
      #expect(
        !new.segments.isEmpty
          && Set(new.segments.map(\.uri)).isDisjoint(with: old.segments.map(\.uri)))
    }
    try play(
      &packager, [streams[0]: pictures(360, from: 60), streams[1]: packets(564, from: 94)],
      to: disk)
    let listed = files.filter { path in
      before.contains { list in
        list.segments.contains { path.hasSuffix($0.uri) && list.mediaSequence > 0 }
      }
    }
    #expect(!listed.isEmpty && Set(disk.files.keys).isDisjoint(with: listed), "\(listed)")
    #expect(disk.files["v/init00000.mp4"] == nil)
  }
}
