// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import HEVC
import StereoVideo
import TestElements
import TestKit
import Testing

/// Which decoder `mvhevcdec` takes, on machines with others than this one's.
@Suite(.serialized)
struct MVHEVCDecDecoderTests {
  private let description =
    MVHEVCDecRobustnessTests.coder
    + "dec.left ! queue ! fakesink name=left dec.right ! queue ! fakesink name=right"

  /// The decoders in the bin while the last pictures come, and how many pictures come.
  private func decode() async throws -> (decoders: [String], counts: [Int]) {
    let pipeline = try pipeline(description)
    let decoder = try #require(pipeline.element(named: "dec"))
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    defer { pipeline.setState(.null) }
    pipeline.setState(.playing)
    try await messages(of: pipeline)
    return (decoder.partNames, taps.map(\.buffers.count))
  }

  @Test("with the highest rank of all, the element does not take itself")
  func itself() async throws {
    try BuiltPlugin.require()
    let played = try await Ranks.with(["mvhevcdec": 1000]) { try await decode() }
    #expect(played.counts == [12, 12])
    #expect(played.decoders.contains("avdec_h265"))
  }

  @Test(
    "if the highest decoder cannot be used, the next one is",
    arguments: [OtherDecoder.device, .dead])
  func next(decoder: OtherDecoder) async throws {
    try BuiltPlugin.require()
    let played = try await decoder.asHighest { try await decode() }
    #expect(played.counts == [12, 12])
    #expect(played.decoders.contains("avdec_h265"), "\(played.decoders)")
  }

  @Test("if the decoder refuses the stream's caps, one that accepts them takes over")
  func byCaps() async throws {
    try await OtherDecoder.eightBit.asHighest {
      for (format, name) in [("I420", OtherDecoder.eightBit.rawValue), ("I420_10LE", "avdec_h265")]
      {
        let coded = try await CodedStereo.make(
          raw: "width=256,height=64,format=\(format)", preset: "medium")
        let decoder = try StereoDecoder()
        decoder.push(coded.caps, coded.accessUnits)
        #expect(decoder.decoderNames.contains(name))
        let frames = try decoder.finish()
        for eye in Eye.allCases { expectSame(frames[eye], coded.source[eye], format) }
      }
    }
  }

  @Test("a decoder with limits is told the size and profile of a stream without a parser")
  func limits() async throws {
    try await OtherDecoder.limited.asHighest {
      for (stream, name) in [
        ("interlayer-irap-only-320x192", OtherDecoder.limited.rawValue),
        ("interlayer-128x96", "avdec_h265"),
      ] {
        let decoder = try StereoDecoder()
        try push(decoder, stream)
        #expect(decoder.decoderNames.contains(name), "\(stream)")
        let frames = try decoder.finish()
        for eye in Eye.allCases {
          #expect(frames[eye].map { md5($0.pixels) } == (try md5s(eye, stream)), "\(stream)")
        }
      }
    }
  }

  @Test("if no decoder takes the stream's size, the error says which size")
  func limitsInVain() async throws {
    try await OtherDecoder.limited.asHighest(alone: true) {
      let decoder = try StereoDecoder()
      let bus = gst_bus_new()
      defer { gst_object_unref(bus) }
      gst_element_set_bus(decoder.left.element.pointer, bus)
      try push(decoder, "interlayer-128x96")
      #expect(decoder.flows.allSatisfy { $0 == .error })
      var errors: [String] = []
      while let pointer = gst_bus_pop(bus) {
        if case .error(let failure) = Message(adopting: pointer).content {
          errors.append(failure.message)
        }
      }
      #expect(errors.first?.contains("128x96, profile main") == true, "\(errors)")
    }
  }

  @Test("without any decoder, the missing one is posted to the application")
  func none() async throws {
    try BuiltPlugin.require()
    try await Ranks.with([:], othersOff: true) {
      let pipeline = try pipeline(description)
      var missing: [String] = []
      await #expect(throws: PipelineFailure.self) {
        try await pipeline.run { missing += $0.missingPlugin.map { [$0] } ?? [] }
      }
      #expect(missing.count == 1)
      #expect(missing.first?.contains("H.265") == true)
    }
  }

  // MARK: References that live longer than sixteen buffers allow

  private static let remarking = "interlayer-cra-320x192"

  private func push(_ decoder: StereoDecoder, _ stream: String = Self.remarking) throws {
    let folder = Repository.url.appending(path: "Tests/HEVCTests/Streams")
    let bytes = try [UInt8](Data(contentsOf: folder.appending(path: "\(stream).hevc")))
    var assembler = AccessUnitAssembler()
    let units = try assembler.append(bytes.span.bytes) + assembler.finish()
    decoder.push(
      Caps("video/x-h265", ["stream-format": "byte-stream", "alignment": "au"]),
      units.enumerated().map { index, unit in
        let buffer = Buffer(unit.bytes)
        buffer.pts = index * 40 * .millisecond
        return buffer
      })
  }

  private func md5s(_ eye: Eye, _ stream: String = Self.remarking) throws -> [String] {
    let file = Repository.url.appending(path: "Tests/HEVCTests/Streams/interlayer.json")
    let all = try JSONDecoder().decode(
      [String: [String: [String]]].self, from: Data(contentsOf: file))
    return try #require(all[stream]?[eye.rawValue])
  }

  @Test("for changed reference marking, a decoder that does not support it is replaced")
  func remarked() async throws {
    try BuiltPlugin.require()
    try await OtherDecoder.strict.asHighest {
      let decoder = try StereoDecoder()
      #expect(decoder.decoderNames.contains(OtherDecoder.strict.rawValue))
      try push(decoder)
      #expect(decoder.decoderNames.contains("avdec_h265"))
      let frames = try decoder.finish()
      for eye in Eye.allCases { #expect(frames[eye].map { md5($0.pixels) } == (try md5s(eye))) }
    }
  }

  @Test("if no decoder supports changed reference marking, the base eye continues alone")
  func remarkedInVain() async throws {
    try BuiltPlugin.require()
    try await OtherDecoder.strict.asHighest(alone: true) {
      let decoder = try StereoDecoder()
      let bus = gst_bus_new()
      defer { gst_object_unref(bus) }
      gst_element_set_bus(decoder.left.element.pointer, bus)
      try push(decoder)
      #expect(decoder.flows.allSatisfy { $0 == .ok })
      let frames = try decoder.finish()
      let wanted = try md5s(.left)
      #expect(frames.left.map { wanted.firstIndex(of: md5($0.pixels)) } == Array(wanted.indices))
      let gaps = decoder.events(.right).count { $0.type == GST_EVENT_GAP }
      #expect(frames.right.count + gaps >= frames.left.count)
      var warnings: [String] = []
      var missing = 0
      while let pointer = gst_bus_pop(bus) {
        let message = Message(adopting: pointer)
        if case .warning(let failure) = message.content { warnings.append(failure.message) }
        if message.missingPlugin != nil { missing += 1 }
      }
      #expect(missing == 1)
      #expect(warnings.contains { $0.contains("right eye") && $0.contains("avdec_h265") })
    }
  }

  @Test("the decoder must provide buffers for waiting pictures, and outputs no other caps")
  func allocation() async throws {
    let coded = try await CodedStereo.make(options: "key-int-max=8", preset: "medium")
    let decoder = try StereoDecoder()
    decoder.left.setSinkCaps("video/x-raw, format={I420, NV12}, multiview-mode=left")
    decoder.push(coded.caps, coded.accessUnits)
    let inner = try #require(decoder.left.element.parts.first { $0.name.hasPrefix("avdec") })
    let source = try #require(inner.staticPad("src"))
    let query = Query.allocation(try #require(source.currentCaps), needsPool: false)
    let isAnswered = source.queryPeer(query)
    let count = query.requiredBufferCount
    #expect(isAnswered)
    #expect((4...18).contains(count), "\(count)")
    let caps = source.peerCaps(filter: nil)
    #expect(!caps.canIntersect(Caps("video/x-raw", ["format": "GRAY8"])))
    #expect(caps.canIntersect(Caps("video/x-raw", ["format": "NV12"])))
    #expect(caps.structures.allSatisfy { !$0.has("multiview-mode") })
  }

  @Test("QoS events reach the elements upstream of the decoder")
  func qualityOfService() async throws {
    let coded = try await CodedStereo.make()
    let decoder = try StereoDecoder()
    decoder.push(coded.caps, Array(coded.accessUnits.prefix(10)))
    while decoder.left.tryPullUpstreamEvent() != nil {}
    let event = gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, 1_000_000, 5_000_000)
    #expect(decoder.right.pushUpstream(Event(adopting: try #require(event))))
    var types: [GstEventType] = []
    while let event = decoder.left.tryPullUpstreamEvent() { types.append(event.type) }
    #expect(types.contains(GST_EVENT_QOS))
    decoder.push(Array(coded.accessUnits.dropFirst(10)))
    let frames = try decoder.finish()
    for eye in Eye.allCases { expectSame(frames[eye], coded.source[eye]) }
  }

  @Test("tags from before the first frame are kept after a flush")
  func tags() async throws {
    let coded = try await CodedStereo.make(frames: 8)
    let decoder = try StereoDecoder()
    decoder.left.setSourceCaps("\(coded.caps)")
    let tags = TagList()
    tags.set(Tag.title, .string("kept"))
    decoder.left.push(.tags(tags))
    decoder.left.push(.flushStart)
    decoder.left.push(.flushStop())
    decoder.left.push(.segment(Segment()))
    decoder.push(coded.accessUnits)
    for eye in Eye.allCases {
      let titles = decoder.events(eye).compactMap { $0.tags?.string(Tag.title) }
      #expect(titles.contains("kept"), "\(eye)")
    }
  }

  // MARK: A second eye that cannot be decoded

  @Test("a damaged record of the second layer leaves one eye, gaps and a warning")
  func damagedRecord() async throws {
    let coded = try await CodedStereo.make(options: "key-int-max=8", preset: "medium")
    let decoder = try StereoDecoder()
    decoder.push(
      coded.caps.with(["layered_codec_data": .buffer(Buffer([1, 2, 3]))]), coded.accessUnits)
    #expect(decoder.flows.allSatisfy { $0 == .ok })
    // At once, for sinks that wait for something on each pad.
    #expect(decoder.events(.right).contains { $0.type == GST_EVENT_GAP })
    let frames = try decoder.finish()
    expectSame(frames.left, coded.source.left)
    #expect(frames.right.isEmpty)
  }

  @Test("a stream whose second layer is gone leaves one eye, and comes back at a keyframe")
  func stripped() async throws {
    let coded = try await CodedStereo.make(frames: 24, options: "key-int-max=8", preset: "medium")
    let stripped = try coded.changed { index, unit in
      (unit.count > 1 ? unit[1] >> 3 : 0) == 1 && index < 8 ? nil : unit
    }
    let decoder = try StereoDecoder()
    decoder.push(coded.caps, Array(stripped.prefix(8)))
    #expect(decoder.events(.right).contains { $0.type == GST_EVENT_GAP })
    decoder.push(Array(stripped.dropFirst(8)))
    let frames = try decoder.finish()
    expectSame(frames.left, coded.source.left)
    expectSame(frames.right, Array(coded.source.right.suffix(16)))
    #expect(frames.right.map(\.time) == frames.left.suffix(16).map(\.time))
  }

  @Test(
    "after demuxers and parsers that drop the second layer, one eye plays to the end",
    arguments: ["", "h265parse !"])
  func stockDemuxer(parser: String) async throws {
    let folder = try TemporaryFolder()
    let movie = folder.path("movie.mov")
    try await play(
      MVHEVCDecRobustnessTests.coder.replacing("mvhevcdec name=dec", with: "mux.video_0")
        + "mvhevcmux name=mux ! filesink location=\(movie)")
    let pipeline = try pipeline(
      "filesrc location=\(movie) ! qtdemux ! \(parser) mvhevcdec name=d "
        + "d.left ! queue ! fakesink name=left d.right ! queue ! fakesink name=right")
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    let warnings = try await play(pipeline).warnings
    #expect(taps[0].buffers.count == 12)
    #expect(warnings.contains { $0.contains("right eye") }, "\(warnings)")
  }
}

extension ElementFactory {
  static func nameOf(_ factory: OpaquePointer) -> String {
    guard let name = gst_object_get_name(UnsafeMutablePointer(factory)) else { return "" }
    defer { g_free(name) }
    return String(cString: name)
  }
}
