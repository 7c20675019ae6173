// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import StereoVideo
import TestKit

/// An element as the table of hostile acts needs it: how it is fed, and where its pictures come
/// out.
struct HostileActor: Sendable {
  /// The input of a sink pad: a number of pictures of one format, and of another for a change of
  /// caps.
  struct Input: Sendable {
    let pad: String
    var format = Format.time
    let caps: Caps
    let contents: [Content]
    /// The same number of pictures under other caps.
    let changed: (caps: Caps, contents: [Content])
  }

  /// A buffer's bytes and time; buffers themselves may be changed by who gets them.
  struct Content: Sendable {
    let bytes: [UInt8]
    var pts: ClockTime?
    var dts: ClockTime?
    var duration: ClockTime?
    var flags: BufferFlags = []

    func buffer() -> Buffer {
      let buffer = Buffer(bytes)
      (buffer.pts, buffer.dts, buffer.duration) = (pts, dts, duration)
      buffer.flags = flags
      return buffer
    }
  }

  static let pictures = 6
  static let frameDuration: ClockTime = 33_333_333

  let factory: String
  var properties: KeyValuePairs<String, String> = [:]
  var inputs: [Input] = []
  /// The elements after its source pad.
  var sink = "fakesink"
  /// Where a sink of files writes.
  let file: String

  /// The elements of the table, by name.
  static func make(_ factory: String, _ folder: TemporaryFolder) async throws -> HostileActor {
    let file = folder.path("\(UUID().uuidString).mov")
    func actor(
      _ inputs: [Input], _ properties: KeyValuePairs<String, String> = [:],
      sink: String = "fakesink"
    ) -> HostileActor {
      HostileActor(
        factory: factory, properties: properties, inputs: inputs, sink: sink, file: file)
    }
    switch factory {
    case "stereotestsrc": return actor([])
    case "sbssplit": return actor([raw("sink", 128, "multiview-mode=side-by-side")])
    case "stereotagger": return actor([raw("sink", 64)], ["eye": "left", "baseline": "64"])
    case "picturerange": return actor([raw("sink", 64)])
    case "sphericalview": return actor([raw("sink", 128)], ["projection": "equirectangular"])
    case "sphericalconvert":
      return actor(
        [raw("sink", 128)],
        ["projection": "equirectangular", "output-projection": "half-equirectangular"])
    case "stereopack": return actor([raw("left", 64), raw("right", 64)])
    case "mvhevcenc":
      return actor([raw("left", 64), raw("right", 64)], ["speed-preset": "ultrafast"])
    case "mvhevcsbsenc":
      return actor(
        [raw("sink", 128, "multiview-mode=side-by-side")], ["speed-preset": "ultrafast"])
    case "mvhevcmux":
      return actor(
        [raw("left", 64), raw("right", 64), audio("audio_0")], ["speed-preset": "ultrafast"],
        sink: "filesink")
    case "mvhevchlssink":
      let place = folder.path(UUID().uuidString)
      return actor(
        [try await coded("video_0")],
        [
          "location": "\(place)/%s-%d.m4s", "init-location": "\(place)/%s-%d.mp4",
          "playlist-location": "\(place)/%s.m3u8",
          "multivariant-playlist-location": "\(place)/main.m3u8",
        ])
    case "mvhevcdec": return actor([try await coded("sink")])
    case "mvcdec", "mvcflatten": return actor([try await multiview("sink")])
    case "mvcautodec":
      return actor([try await multiview("sink", ["profile": "stereo-high"])])
    case "mvctsdemux": return actor([try await disc("sink", "video/mpegts,systemstream=true")])
    case "mvctsautodemux":
      return actor([try await disc("sink", "video/mpegts,systemstream=true,views=2")])
    case "mvhevcdemux": return actor([try await movie("sink", folder)])
    case "mvhevcautodemux":
      return actor([try await movie("sink", folder, caps: "video/quicktime,layers=2")])
    default: throw Failure("\(factory) has no row in HostileActor.make that says how it is fed.")
    }
  }

  private static func time(_ index: Int) -> ClockTime { index * frameDuration }

  private static func raw(
    _ pad: String, _ width: Int, _ more: String = "interlace-mode=progressive"
  ) -> Input {
    func frames(_ width: Int) -> (caps: Caps, contents: [Content]) {
      let height = 64
      let caps = Caps(
        parsing: "video/x-raw,format=I420,width=\(width),height=\(height),framerate=30/1,\(more)")
      let contents = (0..<pictures).map { index in
        Content(
          bytes: (0..<width * height * 3 / 2).map { UInt8(truncatingIfNeeded: $0 &+ index &* 7) },
          pts: time(index), duration: frameDuration)
      }
      return (caps ?? .empty, contents)
    }
    let (caps, contents) = frames(width)
    return Input(pad: pad, caps: caps, contents: contents, changed: frames(width * 2))
  }

  private static func audio(_ pad: String) -> Input {
    func samples(_ channels: Int) -> (caps: Caps, contents: [Content]) {
      let caps = Caps(
        parsing: "audio/x-raw,format=S16LE,rate=48000,channels=\(channels),layout=interleaved")
      let contents = (0..<pictures).map { index in
        Content(
          bytes: [UInt8](repeating: UInt8(index), count: 1600 * 2 * channels), pts: time(index),
          duration: frameDuration)
      }
      return (caps ?? .empty, contents)
    }
    let (caps, contents) = samples(1)
    return Input(pad: pad, caps: caps, contents: contents, changed: samples(2))
  }

  private static func coded(_ pad: String) async throws -> Input {
    func stream(_ width: Int) async throws -> (caps: Caps, contents: [Content]) {
      let coded = try await CodedStereo.make(
        frames: pictures, raw: "width=\(width),height=64,framerate=30/1")
      let contents = coded.accessUnits.map {
        Content(bytes: $0.bytes, pts: $0.pts, dts: $0.dts, duration: $0.duration, flags: $0.flags)
      }
      return (coded.caps, contents)
    }
    let (caps, contents) = try await stream(256)
    return Input(pad: pad, caps: caps, contents: contents, changed: try await stream(320))
  }

  /// H.264 MVC, an access unit a buffer.
  private static func multiview(_ pad: String, _ more: Fields = [:]) async throws -> Input {
    func stream(_ width: Int) async throws -> (caps: Caps, contents: [Content]) {
      let coded = try await MVCStream.make(
        frames: pictures, caps: "width=\(width),height=64,framerate=30/1")
      let start = coded.units.map(\.dts).min() ?? 0
      let contents = zip(coded.units, coded.accessUnits).map { unit, bytes in
        Content(
          bytes: bytes, pts: unit.pts - start, dts: unit.dts - start, duration: frameDuration,
          flags: unit.isKeyframe ? [] : .deltaUnit)
      }
      let caps = Caps(
        "video/x-h264",
        [
          "stream-format": "byte-stream", "alignment": "au", "framerate": .fraction(.init(30, 1)),
          "width": .int(Int32(width / 2)), "height": 64,
        ])
      return (caps.with(more), contents)
    }
    let (caps, contents) = try await stream(256)
    return Input(pad: pad, caps: caps, contents: contents, changed: try await stream(320))
  }

  /// A transport stream of H.264 MVC in chunks of half a kilobyte.
  private static func disc(_ pad: String, _ description: String) async throws -> Input {
    let bytes = try await MVCStream.make(
      frames: pictures, caps: "width=256,height=64,framerate=30/1"
    ).discBytes
    let contents = stride(from: 0, to: bytes.count, by: 512).map {
      Content(bytes: Array(bytes[$0..<min(bytes.count, $0 + 512)]))
    }
    let caps = Caps(parsing: description) ?? .empty
    return Input(
      pad: pad, format: .bytes, caps: caps, contents: contents,
      changed: (Caps(parsing: "\(description),variant=iso") ?? caps, contents))
  }

  /// A movie in chunks of half a kilobyte, its index first.
  private static func movie(
    _ pad: String, _ folder: TemporaryFolder, caps description: String = "video/quicktime"
  ) async throws -> Input {
    let path = folder.path("input.mov")
    try await OwnMovie.make(path, frames: pictures, mux: "fragment-duration=1000000000")
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let contents = stride(from: 0, to: bytes.count, by: 512).map {
      Content(bytes: Array(bytes[$0..<min(bytes.count, $0 + 512)]))
    }
    let caps = Caps(parsing: description) ?? .empty
    return Input(
      pad: pad, format: .bytes, caps: caps, contents: contents,
      changed: (Caps(parsing: "\(description),variant=iso") ?? caps, contents))
  }
}
