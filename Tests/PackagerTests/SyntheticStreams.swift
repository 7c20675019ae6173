// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Packager
import TestKit
import Testing

/// In nanoseconds.
let second: Int64 = 1_000_000_000

/// What a packager wrote.
final class Disk {
  var files: [String: [UInt8]] = [:]
  var segments: [PackagedSegment] = []
  var keyframes: [Int64] = []
  var losses: [String] = []
  /// In the order in which they were written.
  var names: [String] = []
  private var rules = StreamRules()
  private var toldCount = 0

  func take(_ packager: inout Packager<[UInt8]>) throws {
    for output in packager.takeOutputs() {
      switch output {
      case .file(_, let path, let blocks):
        files[path] = blocks.flatMap { block in
          switch block {
          case .bytes(let bytes), .payload(let bytes): bytes
          }
        }
        names.append(path)
        if path.hasSuffix(".m3u8") {
          rules.reload(path, try text(path), files: { self.files[$0] })
        }
      case .removal(let path): files[path] = nil
      case .segment(let segment): segments.append(segment)
      case .keyframe(let time): keyframes.append(time)
      case .loss(let rendition): losses.append(rendition)
      case .encryptedHeaders(let rendition, let problem): Issue.record("\(rendition): \(problem)")
      }
    }
    checkRules()
  }

  /// Each playlist keeps the rules whenever it is written, the presentation when it is complete.
  private func checkRules() {
    if let main = files.keys.first(where: { $0.hasSuffix("main.m3u8") }) {
      let lists = files.filter { $0.key.hasSuffix("index.m3u8") }.values
      let end = Array("#EXT-X-ENDLIST\n".utf8)
      if lists.allSatisfy({ $0.suffix(end.count).elementsEqual(end) }) {
        rules.check(presentation: main, isComplete: true, files: { self.files[$0] })
      }
    }
    for violation in rules.violations.dropFirst(toldCount) { Issue.record("\(violation)") }
    toldCount = rules.violations.count
  }

  /// Changes a playlist, as if another run had left it.
  func edit(_ path: String, _ text: some StringProtocol) {
    files[path] = Array(text.utf8)
    rules.forget(path)
  }

  func text(_ path: String) throws -> String {
    let bytes = try #require(files[path], "\(path) is not among \(files.keys.sorted())")
    return String(decoding: bytes, as: UTF8.self)
  }

  func playlist(_ path: String) throws -> MediaPlaylist {
    try MediaPlaylist(parsing: try text(path))
  }
}

extension PackagerSettings {
  /// - Parameter target: how long segments are to be, in seconds.
  init(_ kind: MediaPlaylist.Kind, target: Int = PackagerSettings().targetDuration) {
    self.init()
    self.kind = kind
    targetDuration = target
  }
}

private let entry = VisualSampleEntry(width: 640, height: 360, hvcC: [1, 2, 3])

func video(_ name: String, isStereo: Bool = true, iFrames: Bool = false) -> Rendition {
  var video = Rendition.Video(layout: RenditionLayout(isStereo: isStereo))
  video.frameRate = FrameRate(30)
  video.hasIFramePlaylist = iFrames
  return Rendition(
    name, TrackDescription(.video(entry), timescale: 30_000), codecs: "hvc1.1.6.L63.90",
    .video(video))
}

func audio(_ name: String) -> Rendition {
  let entry = AudioSampleEntry(
    coding: .aac(audioSpecificConfig: [0x11, 0x90]), channelCount: 2, sampleRate: 48_000,
    framesPerSample: 1024)
  return Rendition(
    name, TrackDescription(.audio(entry), timescale: 48_000), codecs: "mp4a.40.2",
    .audio(.init(name: "English", language: "en", isDefault: true)))
}

/// 30 pictures a second with two that are decoded out of order, a keyframe every `gop`.
func pictures(_ count: Int, gop: Int = 30, from first: Int = 0)
  -> [PackagedSample<[UInt8]>]
{
  (first..<first + count).map { index in
    let isSync = index % gop == 0
    // Decoding order I P B P B…: pairs change places, but for those of keyframes.
    let place = index % gop
    let last = gop - 1
    let shown =
      isSync || place == last && place % 2 == 1 ? index : index + (place % 2 == 1 ? 1 : -1)
    return PackagedSample(
      [UInt8(truncatingIfNeeded: index), isSync ? 1 : 0], size: 2,
      presentationTime: Int64(shown) * second / 30,
      decodeTime: Int64(index) * second / 30 - 33_333_333, duration: 33_333_333,
      isSync: isSync)
  }
}

func packets(_ count: Int, from first: Int = 0) -> [PackagedSample<[UInt8]>] {
  (first..<first + count).map { index in
    let time = Int64(index) * 1024 * second / 48_000
    return PackagedSample(
      [7, 7, 7], size: 3, presentationTime: time, decodeTime: time, duration: 21_333_333,
      isSync: true)
  }
}

/// Feeds renditions in the order of time, as a live pipeline does, and ends them unless it is
/// stopped.
func play(
  _ packager: inout Packager<[UInt8]>, _ streams: [Int: [PackagedSample<[UInt8]>]], to disk: Disk,
  ends: Bool = true
) throws {
  let all = streams.flatMap { stream in stream.value.map { (stream.key, $0) } }
    .enumerated().sorted {
      ($0.element.1.decodeTime, $0.offset) < ($1.element.1.decodeTime, $1.offset)
    }
  for (_, (index, sample)) in all {
    try packager.append(sample, to: index)
    try disk.take(&packager)
  }
  for index in streams.keys.sorted() where ends {
    try packager.end(index)
    try disk.take(&packager)
  }
}

/// What is written of streams that are played from their beginnings to their ends.
func packaged(
  _ settings: PackagerSettings, date: Int64? = nil,
  _ streams: [(rendition: Rendition, samples: [PackagedSample<[UInt8]>])]
) throws -> Disk {
  var packager = Packager<[UInt8]>(settings)
  packager.date = date
  let disk = Disk()
  var samples: [Int: [PackagedSample<[UInt8]>]] = [:]
  for stream in streams { samples[try packager.add(stream.rendition)] = stream.samples }
  try play(&packager, samples, to: disk)
  return disk
}

/// The samples of a rendition as players read them: the initialization section and all segments.
func track(_ disk: Disk, _ name: String) throws -> (Track, [UInt8]) {
  let playlist = try disk.playlist("\(name)/index.m3u8")
  var bytes = try #require(disk.files["\(name)/init00000.mp4"])
  for segment in playlist.segments where !segment.isGap {
    bytes += try #require(disk.files["\(name)/\(segment.uri)"])
  }
  return (try track(of: bytes), bytes)
}

func track(of bytes: [UInt8]) throws -> Track {
  try #require(MovieFile(bytes: bytes).movie.tracks.first)
}
