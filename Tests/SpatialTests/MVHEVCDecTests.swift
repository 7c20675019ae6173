// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import StereoVideo
import TestKit
import Testing

/// `mvhevcdec` on streams of `mvhevcenc`: what went into the one comes out of the other.
struct MVHEVCDecTests {
  /// What the encoder is set to.
  struct Coding: CustomTestStringConvertible, Sendable {
    var raw = "width=256,height=64"
    var options = ""
    var x265 = ""
    var preset = "ultrafast"
    var frames = 20

    /// From a scene through the encoder `enc` and the decoder to the sinks `left` and `right`.
    var line: String {
      "stereotestsrc num-buffers=\(frames) ! video/x-raw,\(raw) ! sbssplit name=s "
        + "s.left ! queue ! enc.left s.right ! queue ! enc.right "
        + "mvhevcenc name=enc speed-preset=\(preset) \(options) "
        + "option-string=lossless=1\(x265) ! mvhevcdec name=dec "
        + "dec.left ! queue ! fakesink name=left dec.right ! queue ! fakesink name=right"
    }

    var testDescription: String { [raw, options, x265, preset].joined(separator: " ") }
  }

  /// Watches each eye before the encoder and after the decoder.
  private func watch<Watch>(
    _ pipeline: Pipeline, _ make: (Pad?) throws -> Watch
  ) rethrows -> (before: [Watch], after: [Watch]) {
    let before = try Eye.allCases.map {
      try make(pipeline.element(named: "enc")?.staticPad($0.rawValue))
    }
    let after = try Eye.allCases.map {
      try make(pipeline.element(named: $0.rawValue)?.staticPad("sink"))
    }
    return (before, after)
  }

  @Test(
    "both eyes are output unchanged, at their times",
    arguments: [
      Coding(preset: "medium", frames: 24),
      Coding(raw: "width=256,height=64,format=I420_10LE", preset: "medium"),
      Coding(raw: "width=164,height=50"),
      Coding(options: "hero-eye=right"),
      Coding(options: "key-int-max=1"),
      Coding(options: "key-int-max=7", x265: ":bframes=4"),
      Coding(options: "tune=zerolatency"),
      Coding(options: "inter-view-prediction=keyframes key-int-max=7", x265: ":bframes=4"),
      Coding(options: "inter-view-prediction=keyframes key-int-max=1 hero-eye=right"),
      Coding(
        raw: "width=256,height=64,format=I420_10LE",
        options: "inter-view-prediction=keyframes key-int-max=9 tune=zerolatency"),
      Coding(raw: "width=256,height=192", x265: ":slices=3:bframes=4:ref=5:rc-lookahead=10"),
    ].filter { X265.takes($0.x265) })
  func exact(coding: Coding) async throws {
    let pipeline = try pipeline(coding.line)
    let (before, after) = try watch(pipeline) { try Tap($0) }
    let warnings = try await play(pipeline).warnings
    #expect(warnings.isEmpty)
    for (index, eye) in Eye.allCases.enumerated() {
      expectSame(
        try after[index].frames(), try before[index].frames(), times: true, eye.rawValue)
      #expect(try before[index].frames().count == coding.frames)
      #expect(after[index].buffers.allSatisfy { $0.buffer.duration != nil })
      let caps = try #require(after[index].buffers.first?.caps.first)
      #expect(caps.string("multiview-mode") == eye.rawValue)
      #expect(!caps.has("views"))
    }
  }

  @Test("each view outputs its pictures, and the pad of an eye without pictures ends at once")
  func views() async throws {
    let coded = try await CodedStereo.make(options: "hero-eye=right")
    for (view, eyes) in [
      ("left", [Eye.left]), ("right", [.right]), ("base", [.right]), ("both", [.left, .right]),
    ] {
      let decoder = try StereoDecoder(view: view)
      decoder.push(coded.caps, coded.accessUnits)
      #expect(decoder.flows.allSatisfy { $0 == .ok })
      let ends = Eye.allCases.filter { eye in
        decoder.events(eye).contains { $0.type == GST_EVENT_EOS }
      }
      #expect(ends == Eye.allCases.filter { !eyes.contains($0) }, "\(view)")
      let frames = try decoder.finish()
      for eye in Eye.allCases {
        expectSame(frames[eye], eyes.contains(eye) ? coded.source[eye] : [], view)
      }
    }
  }

  @Test("the base view needs nothing of layer 1")
  func baseOnly() async throws {
    let coded = try await CodedStereo.make()
    let decoder = try StereoDecoder(view: "base")
    let base = try coded.changed { _, unit in unit[1] >> 3 == 0 && unit[0] & 1 == 0 ? unit : nil }
    decoder.push(coded.caps.with(removing: ["layered_codec_data"]), base)
    let frames = try decoder.finish()
    expectSame(frames.left, coded.source.left)
    #expect(frames.right.isEmpty)
  }

  @Test("a layered byte stream decodes as the same stream with records does")
  func byteStream() async throws {
    let coded = try await CodedStereo.make(options: "key-int-max=8", preset: "medium")
    let (caps, units) = try coded.byteStream()
    let decoder = try StereoDecoder()
    decoder.push(caps, units)
    let frames = try decoder.finish()
    for eye in Eye.allCases {
      expectSame(frames[eye], coded.source[eye])
      #expect(frames[eye].map(\.time) == units.map(\.pts).sorted { ($0 ?? 0) < ($1 ?? 0) })
    }
  }

  @Test("without timestamps, pictures come in output order")
  func noTimestamps() async throws {
    let coded = try await CodedStereo.make(options: "key-int-max=12", preset: "medium")
    let (caps, units) = try coded.byteStream()
    for unit in units {
      unit.pts = nil
      unit.dts = nil
    }
    let decoder = try StereoDecoder()
    decoder.push(caps, units)
    let frames = try decoder.finish()
    for eye in Eye.allCases { expectSame(frames[eye], coded.source[eye]) }
  }

  @Test("hvc1 without layered_codec_data plays, with in-band parameter sets of layer 1")
  func inBandSets() async throws {
    let coded = try await CodedStereo.make()
    let sets = try coded.parameterSets().filter { $0[1] >> 3 == 1 }
    #expect(sets.count >= 2)
    let units = coded.accessUnits.enumerated().map { index, buffer in
      let prefix = sets.flatMap { unit in
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: unit.count >> $0) } + unit
      }
      return buffer.with((index == 0 ? prefix : []) + buffer.bytes)
    }
    let decoder = try StereoDecoder()
    decoder.push(coded.caps.with(removing: ["layered_codec_data"]), units)
    let frames = try decoder.finish()
    for eye in Eye.allCases { expectSame(frames[eye], coded.source[eye]) }
  }

  @Test("hvc1 whose layer 1 has no parameter sets anywhere gives the base eye, and a warning")
  func noSets() async throws {
    let coded = try await CodedStereo.make()
    let decoder = try StereoDecoder()
    decoder.push(coded.caps.with(removing: ["layered_codec_data"]), coded.accessUnits)
    let frames = try decoder.finish()
    expectSame(frames.left, coded.source.left)
    #expect(frames.right.isEmpty)
  }

  @Test("a long stretch without IDR pictures stays exact", .tags(.exhaustive))
  func long() async throws {
    let coding = Coding(
      raw: "width=64,height=32", options: "key-int-max=20000 scene-cuts=false",
      x265: ":me=dia:ref=1:ctu=16", frames: 16_500)
    let pipeline = try pipeline(coding.line)
    let (before, after) = try watch(pipeline) { try Hashes($0) }
    try await play(pipeline)
    for index in 0..<2 {
      #expect(before[index].values.count == coding.frames)
      #expect(after[index].values == before[index].values)
    }
  }
}

/// Keeps of each picture that passes a pad a hash alone.
final class Hashes: Sendable {
  private let hashes = Locked<[Int]>([])

  init(_ pad: Pad?) throws {
    guard let pad else { throw Failure("There is no such pad.") }
    pad.onEachBuffer { [hashes] pad, buffer in
      let caps = pad.currentCaps ?? .empty
      let pixels = try? PassedBuffer(buffer: buffer, caps: caps).pixels()
      hashes.withLock { $0.append((pixels ?? []).hashValue) }
      return .passes
    }
  }

  var values: [Int] { hashes.withLock { $0 } }
}
