// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

import struct FuzzTargets.SplitMix

/// `mvhevcdec` on streams that are damaged, jump, change or stop.
struct MVHEVCDecRobustnessTests {
  /// nuh_layer_id
  private func layer(_ unit: [UInt8]) -> UInt8 { unit.count > 1 ? unit[1] >> 3 : 0 }

  private func isSlice(_ unit: [UInt8]) -> Bool { unit.first.map { $0 >> 1 < 32 } ?? false }

  // MARK: Lost and damaged pictures

  @Test(
    "lost dependent pictures leave the base eye intact, and gaps in their place",
    arguments: ["", "hero-eye=right"])
  func lost(options: String) async throws {
    let coded = try await CodedStereo.make(options: "key-int-max=8 \(options)", preset: "medium")
    let base: Eye = options.isEmpty ? .left : .right
    let damaged = try coded.changed { index, unit in
      layer(unit) == 1 && isSlice(unit) && 3...5 ~= index ? nil : unit
    }
    let decoder = try StereoDecoder()
    decoder.push(coded.caps, damaged)
    #expect(decoder.flows.allSatisfy { $0 == .ok })
    let frames = try decoder.finish()
    expectSame(frames[base], coded.source[base])
    // From the next keyframe on, both are whole again.
    #expect(frames[base.other].count >= 12)
    expectSame(frames[base.other].suffix(12), coded.source[base.other].suffix(12))
    let gaps = decoder.events(base.other).filter { $0.type == GST_EVENT_GAP }
    #expect(gaps.count == 20 - frames[base.other].count)
    #expect(gaps.count >= 3)
  }

  @Test("dependent pictures that come back after a long time are decoded again")
  func lostLong() async throws {
    let coded = try await CodedStereo.make(frames: 220, options: "key-int-max=220")
    // Longer than slice_pic_order_cnt_lsb counts.
    let damaged = try coded.changed { index, unit in
      layer(unit) == 1 && isSlice(unit) && 3..<170 ~= index ? nil : unit
    }
    let decoder = try StereoDecoder()
    decoder.push(coded.caps, damaged)
    let frames = try decoder.finish()
    expectSame(frames.left, coded.source.left)
    #expect(frames.right.count > 40)
    #expect(frames.right.suffix(10).map(\.time) == frames.left.suffix(10).map(\.time))
  }

  @Test("a dependent layer that ends mid-stream leaves the base eye intact")
  func ended() async throws {
    let coded = try await CodedStereo.make(frames: 60, options: "key-int-max=60")
    let damaged = try coded.changed { index, unit in
      layer(unit) == 1 && index >= 5 ? nil : unit
    }
    let decoder = try StereoDecoder()
    decoder.push(coded.caps, damaged)
    let frames = try decoder.finish()
    expectSame(frames.left, coded.source.left)
    expectSame(frames.right, Array(coded.source.right.prefix(frames.right.count)))
    #expect(frames.right.count <= 5)
  }

  @Test("dependent pictures with any wrong header byte leave the base eye intact")
  func damagedHeaders() async throws {
    let coded = try await CodedStereo.make(frames: 8)
    for byte in 0..<12 {
      for mask: UInt8 in [0xFF, 0x55, 0x01] {
        let damaged = try coded.changed { index, unit in
          guard layer(unit) == 1, isSlice(unit), index == 3, byte + 2 < unit.count else {
            return unit
          }
          var unit = unit
          unit[2 + byte] ^= mask
          return unit
        }
        let decoder = try StereoDecoder()
        decoder.push(coded.caps, damaged)
        let frames = try decoder.finish()
        expectSame(frames.left, coded.source.left, "byte \(byte), mask \(mask)")
      }
    }
  }

  @Test("access units cut short or with bytes wrong never stop the process, nor the stream")
  func corrupted() async throws {
    let coded = try await CodedStereo.make(frames: 24, options: "key-int-max=4")
    var generator = SplitMix(state: 7)
    for round in 0..<20 {
      let units = coded.accessUnits.enumerated().map { index, buffer in
        var bytes = buffer.bytes
        guard index > 0, index < 20, !bytes.isEmpty else { return buffer }
        switch round % 4 {
        case 0: bytes = Array(bytes.prefix(Int(generator.next() % UInt64(bytes.count))))
        case 1: bytes[Int(generator.next() % UInt64(bytes.count))] ^= 0xFF
        case 2:
          for _ in 0..<20 {
            bytes[Int(generator.next() % UInt64(min(bytes.count, 64)))] = UInt8(
              truncatingIfNeeded: generator.next())
          }
        default: bytes = (0..<60).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        }
        return buffer.with(bytes)
      }
      let decoder = try StereoDecoder()
      decoder.push(coded.caps, units)
      #expect(decoder.flows.allSatisfy { $0 == .ok })
      let frames = try decoder.finish()
      // The last group of pictures is intact, unless parameter sets were made up.
      if round % 4 == 0 {
        for eye in Eye.allCases {
          expectSame(frames[eye].suffix(4), coded.source[eye].suffix(4), "round \(round)")
        }
      }
    }
  }

  @Test("a stream that cannot be read from its start on is an error")
  func unreadable() async throws {
    let coded = try await CodedStereo.make(frames: 3)
    for caps in [
      coded.caps.with(removing: ["codec_data"]),
      coded.caps.with(["codec_data": .buffer(Buffer([1, 2, 3]))]),
    ] {
      let decoder = try StereoDecoder()
      decoder.push(caps, coded.accessUnits)
      #expect(decoder.flows.allSatisfy { $0 != .ok })
    }
    let decoder = try StereoDecoder()
    decoder.push(coded.caps, coded.accessUnits.map { $0.with([0, 0, 0, 9, 1]) })
    #expect(decoder.flows.first == .error)
  }

  // MARK: Jumps and changes

  @Test("after a flush, only pictures of the new position follow")
  func flush() async throws {
    let coded = try await CodedStereo.make(frames: 32, options: "key-int-max=8", preset: "medium")
    let decoder = try StereoDecoder()
    decoder.push(coded.caps, Array(coded.accessUnits.prefix(13)))
    _ = try decoder.taken()
    #expect(decoder.left.push(.flushStart))
    #expect(decoder.left.push(.flushStop()))
    _ = try decoder.taken()
    decoder.left.push(.segment(Segment()))
    decoder.push(Array(coded.accessUnits.suffix(16)))
    let frames = try decoder.finish()
    for eye in Eye.allCases { expectSame(frames[eye], coded.source[eye].suffix(16)) }
  }

  @Test("a jump without a flush loses no picture before or after it")
  func discontinuity() async throws {
    let coded = try await CodedStereo.make(frames: 32, options: "key-int-max=8", preset: "medium")
    let decoder = try StereoDecoder()
    let start = coded.accessUnits[8]
    let jump = start.with(start.bytes)
    jump.flags.insert(.discont)
    decoder.push(
      coded.caps,
      Array(coded.accessUnits.suffix(16)) + [jump] + Array(coded.accessUnits[9..<16]))
    let frames = try decoder.finish()
    for eye in Eye.allCases {
      expectSame(frames[eye], coded.source[eye].suffix(16) + coded.source[eye][8..<16])
    }
  }

  @Test("of both eyes, exactly the pictures inside the segment come out")
  func segment() async throws {
    let coded = try await CodedStereo.make(preset: "medium")
    let decoder = try StereoDecoder()
    decoder.left.setSourceCaps("\(coded.caps)")
    var segment = Segment()
    segment.start = try #require(coded.accessUnits.compactMap(\.pts).min()) + 300_000_000
    segment.stop = segment.start + 99_000_000
    segment.time = 5_000_000_000
    decoder.left.push(.segment(segment))
    decoder.push(coded.accessUnits)
    let frames = try decoder.finish()
    for eye in Eye.allCases {
      expectSame(frames[eye], Array(coded.source[eye][9..<12]))
      let said = decoder.events(eye).last { $0.type == GST_EVENT_SEGMENT }?.segment
      #expect(said?.start == segment.start)
      #expect(said?.stop == segment.stop)
      #expect(said?.time == segment.time)
    }
  }

  @Test("played backwards, pairs come last first")
  func backwards() async throws {
    let coded = try await CodedStereo.make(frames: 24, options: "key-int-max=8", preset: "medium")
    let decoder = try StereoDecoder()
    decoder.left.setSourceCaps("\(coded.caps)")
    var segment = Segment()
    segment.segment.rate = -1
    segment.stop = 4_000_000_000_000_000
    decoder.left.push(.segment(segment))
    for start in [16, 8, 0] {
      let units = coded.accessUnits[start..<start + 8].map { $0.with($0.bytes) }
      units[0].flags.insert(.discont)
      for unit in units { #expect(decoder.left.push(unit) == .ok) }
    }
    let frames = try decoder.finish()
    for eye in Eye.allCases { expectSame(frames[eye], coded.source[eye].reversed()) }
  }

  @Test("new caps mid-stream: another size, then the first again")
  func newCaps() async throws {
    let first = try await CodedStereo.make(frames: 9, preset: "medium")
    let second = try await CodedStereo.make(frames: 7, raw: "width=384,height=80")
    let decoder = try StereoDecoder()
    var wanted = EyeFrames()
    for coded in [first, second, first] {
      decoder.push(coded.caps, coded.accessUnits)
      for eye in Eye.allCases { wanted[eye] += coded.source[eye] }
    }
    #expect(decoder.flows.allSatisfy { $0 == .ok })
    decoder.left.push(.endOfStream)
    for (eye, harness) in [(Eye.left, decoder.left), (.right, decoder.right)] {
      var sizes: [Int] = []
      while let buffer = harness.tryPull() { sizes.append(buffer.videoLayout?.width ?? 0) }
      #expect(
        sizes
          == Array(repeating: 128, count: 9) + Array(repeating: 192, count: 7)
          + Array(repeating: 128, count: 9), "\(eye)")
    }
  }

  @Test("repeated caps change nothing")
  func sameCaps() async throws {
    let coded = try await CodedStereo.make(preset: "medium")
    let decoder = try StereoDecoder()
    decoder.push(coded.caps, Array(coded.accessUnits.prefix(9)))
    decoder.push(
      coded.caps.with(["framerate": .fraction(Fraction(25, 1))]),
      Array(coded.accessUnits.suffix(11)))
    let frames = try decoder.finish()
    for eye in Eye.allCases { expectSame(frames[eye], coded.source[eye]) }
  }

  // MARK: Pads and states

  static let coder =
    "stereotestsrc num-buffers=12 ! video/x-raw,width=128,height=64 ! sbssplit name=s "
    + "s.left ! queue ! enc.left s.right ! queue ! enc.right "
    + "mvhevcenc name=enc speed-preset=ultrafast ! mvhevcdec name=dec "

  @Test("with one pad unlinked, the other outputs all pictures", arguments: Eye.allCases)
  func unlinked(eye: Eye) async throws {
    let frames = try await record(Self.coder + "dec.\(eye.rawValue) ! fakesink name=sink")
    #expect(frames[0].count == 12)
  }

  @Test("with no pad linked, the stream ends with an error that says so")
  func allUnlinked() async throws {
    let failure = try await failure(
      of: Self.coder.replacing("num-buffers=12", with: "num-buffers=-1"))
    #expect("\(failure)".contains("not-linked"))
  }

  @Test("the element decodes again after NULL, and another view then", .tags(.process))
  func twice() async throws {
    let pipeline = try pipeline(
      Self.coder + "dec.left ! queue ! fakesink name=left dec.right ! queue ! fakesink name=right")
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    for round in 1...2 {
      try await play(pipeline)
      #expect(taps.map(\.buffers.count) == [12 * round, 12 * round])
    }
    pipeline.element(named: "dec")?.set("view", "right")
    try await play(pipeline)
    #expect(taps.map(\.buffers.count) == [24, 36])
  }

  @Test(
    "nothing leaks, and nothing is critical", .tags(.process),
    arguments: [
      coder + "dec.left ! queue ! fakesink dec.right ! queue ! fakesink",
      coder + "view=left dec.left ! queue ! fakesink dec.right ! queue ! fakesink",
      coder + "view=right dec.left ! queue ! fakesink dec.right ! queue ! fakesink",
      coder + "dec.right ! queue ! fakesink",
      coder.replacing("! mvhevcdec", with: "! identity drop-probability=0.5 ! mvhevcdec")
        + "dec.left ! queue ! fakesink dec.right ! queue ! fakesink",
      coder.replacing("! mvhevcdec", with: "! identity error-after=3 ! mvhevcdec")
        + "dec.left ! queue ! fakesink dec.right ! queue ! fakesink",
      "fakesrc num-buffers=5 sizetype=fixed sizemax=100 filltype=random ! "
        + "video/x-h265,stream-format=byte-stream,alignment=au ! mvhevcdec name=dec "
        + "dec.left ! fakesink",
      "fakesrc num-buffers=5 ! video/x-h265,stream-format=hvc1,alignment=au ! mvhevcdec name=dec "
        + "dec.left ! fakesink",
    ])
  func leaks(description: String) throws {
    try BuiltPlugin.require()
    // An error while sinks preroll can leave gst-launch 1.22 waiting for ever.
    try runExpectingNoLeaks(description.replacing("fakesink", with: "fakesink async=false"))
  }

  @Test("without any decoder, the error names the package that has one", .tags(.process))
  func noDecoder() throws {
    try BuiltPlugin.require()
    let ended = try Program.run(
      ["gst-launch-1.0"] + Self.coder.words
        + ["dec.left", "!", "fakesink", "async=false"],
      environment: [
        "GST_PLUGIN_FEATURE_RANK": "avdec_h265:NONE,libde265dec:NONE,vah265dec:NONE,"
          + "vaapih265dec:NONE,nvh265dec:NONE,v4l2slh265dec:NONE,v4l2h265dec:NONE",
        "G_DEBUG": "fatal-criticals",
      ])
    #expect(ended.status != 0)
    #expect(ended.output.contains("gstreamer1.0-libav"), "\(ended.output)")
  }

  static let installedDecoders: [String] = {
    initialize()
    return ["avdec_h265", "libde265dec"].filter {
      guard let factory = gst_element_factory_find($0) else { return false }
      gst_object_unref(UnsafeMutableRawPointer(factory))
      return true
    }
  }()

  @Test(
    "every decoder for H.265 that is installed keeps the metas", .tags(.process),
    arguments: installedDecoders)
  func decoders(name: String) throws {
    let folder = try TemporaryFolder()
    let others = Self.installedDecoders.filter { $0 != name }.map { "\($0):NONE" }
    let path = folder.path("eyes")
    let ended = try Program.run(
      ["gst-launch-1.0", "-q"] + Self.coder.words
        + [
          "dec.left", "!", "queue", "!", "filesink", "location=\(path)-left",
          "dec.right", "!", "queue", "!", "filesink", "location=\(path)-right",
        ],
      environment: [
        "GST_PLUGIN_FEATURE_RANK": (others + ["\(name):PRIMARY"]).joined(separator: ","),
        "G_DEBUG": "fatal-criticals",
      ])
    #expect(ended.status == 0, "\(ended.output)")
    for eye in Eye.allCases {
      let size = try FileManager.default.attributesOfItem(atPath: "\(path)-\(eye.rawValue)")[.size]
      #expect(size as? Int == 12 * 64 * 64 * 3 / 2, "\(eye)")
    }
  }
}
