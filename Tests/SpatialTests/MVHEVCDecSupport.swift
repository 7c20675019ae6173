// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import HEVC
import StereoVideo
import TestElements
import Testing

/// A picture of one eye: when it is shown, and its visible bytes.
struct EyeFrame: Equatable {
  var time: ClockTime?
  var pixels: [UInt8]
}

/// Both eyes of a stream.
struct EyeFrames {
  var left: [EyeFrame] = []
  var right: [EyeFrame] = []

  subscript(eye: Eye) -> [EyeFrame] {
    get { eye == .left ? left : right }
    set { if eye == .left { left = newValue } else { right = newValue } }
  }
}

extension Tap {
  /// The pictures that passed, by running time.
  func frames() throws -> [EyeFrame] {
    let segment = events.last { $0.type == GST_EVENT_SEGMENT }?.segment ?? Segment()
    return try buffers.map { passed in
      EyeFrame(
        time: passed.buffer.pts.flatMap { segment.runningTime($0) }, pixels: try passed.pixels())
    }
  }
}

/// Layered access units as `mvhevcenc` made them, and the pictures they were made of, which its
/// lossless coding gives back exactly.
struct CodedStereo {
  var caps: Caps
  var accessUnits: [Buffer]
  var source: EyeFrames

  /// - Parameters:
  ///   - raw: further fields of the packed raw video's caps.
  ///   - options: properties of the encoder.
  static func make(
    frames: Int = 20, raw: String = "width=256,height=64", options: String = "",
    x265: String = "", preset: String = "ultrafast"
  ) async throws -> CodedStereo {
    let pipeline = try pipeline(
      "stereotestsrc num-buffers=\(frames) ! video/x-raw,\(raw) ! sbssplit name=s "
        + "s.left ! queue ! enc.left s.right ! queue ! enc.right "
        + "mvhevcenc name=enc speed-preset=\(preset) option-string=lossless=1\(x265) \(options) ! "
        + "fakesink name=sink")
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: "enc")?.staticPad($0))
    }
    let coded = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    try await play(pipeline)
    // What a whole run has passed has all the same caps.
    let caps = try #require(coded.buffers.first?.caps)
    return CodedStereo(
      caps: caps, accessUnits: coded.buffers.map(\.buffer),
      source: EyeFrames(left: try taps[0].frames(), right: try taps[1].frames()))
  }

  var framing: NALUnitFraming { .lengthPrefixed(lengthSize: 4) }

  /// The access units with each NAL unit as `change` gives it, and without those it gives nil for.
  ///
  /// - Parameter change: gets the number of the access unit, and the NAL unit.
  func changed(_ change: (Int, [UInt8]) throws -> [UInt8]?) throws -> [Buffer] {
    try accessUnits.enumerated().map { index, buffer in
      let bytes = buffer.bytes
      var result: [UInt8] = []
      for range in try framing.nalUnits(in: bytes.span.bytes) {
        guard let unit = try change(index, Array(bytes[range])) else { continue }
        let size = UInt32(unit.count)
        result += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + unit
      }
      return buffer.with(result)
    }
  }

  /// The stream as a byte stream that says all by itself.
  func byteStream() throws -> (caps: Caps, accessUnits: [Buffer]) {
    let records = try parameterSets()
    let units = try accessUnits.map { buffer in
      let bytes = buffer.bytes
      let isSync = !buffer.flags.contains(.deltaUnit)
      let units =
        (isSync ? records : [])
        + (try framing.nalUnits(in: bytes.span.bytes).map { Array(bytes[$0]) })
      return buffer.with(units.flatMap { [0, 0, 0, 1] + $0 })
    }
    let stream = caps.with(
      ["stream-format": "byte-stream"], removing: ["codec_data", "layered_codec_data"])
    return (stream, units)
  }

  /// The parameter sets and SEI of both records.
  func parameterSets() throws -> [[UInt8]] {
    let base = try #require(caps.first?.buffer("codec_data"))
    let layered = try #require(caps.first?.buffer("layered_codec_data"))
    return try HEVCDecoderConfigurationRecord(bytes: base.bytes).nalUnits
      + LHEVCDecoderConfigurationRecord(bytes: layered.bytes).nalUnits
  }
}

extension Buffer {
  /// Other bytes with this buffer's timestamps and flags.
  func with(_ bytes: [UInt8]) -> Buffer {
    let buffer = Buffer(bytes)
    buffer.copyHeader(from: self, metas: false)
    return buffer
  }
}

/// `mvhevcdec`, or another decoder of both eyes, between a harness's pads.
final class StereoDecoder {
  let left: Harness
  let right: Harness
  private(set) var flows: [FlowReturn] = []

  init(
    _ element: String = "mvhevcdec", view: String = "both", settings: [String: String] = [:]
  ) throws {
    try BuiltPlugin.require()
    left = try #require(Harness(element, sourcePad: "left"))
    right = try #require(Harness(sharing: left, sourcePad: "right"))
    for harness in [left, right] { harness.proposeVideoMeta() }
    // A harness starts its element at once.
    left.element.setState(.null)
    left.element.set("view", view)
    for (name, value) in settings { left.element.set(name, value) }
    left.play()
  }

  /// The factory names of the elements in the bin.
  var decoderNames: [String] { left.element.partNames }

  func push(_ caps: Caps, _ accessUnits: [Buffer]) {
    left.setSourceCaps("\(caps)")
    push(accessUnits)
  }

  func push(_ accessUnits: [Buffer]) {
    for unit in accessUnits { flows.append(left.push(unit.with(unit.bytes))) }
  }

  /// Ends the stream, or tells the decoder of a gap, and takes the pictures out; times are
  /// timestamps.
  func finish() throws -> EyeFrames {
    left.push(.endOfStream)
    return try taken()
  }

  func taken() throws -> EyeFrames {
    EyeFrames(left: try frames(left), right: try frames(right))
  }

  private func frames(_ harness: Harness) throws -> [EyeFrame] {
    var frames: [EyeFrame] = []
    while let buffer = harness.tryPull() {
      let caps = try #require(harness.sourceCaps)
      frames.append(
        EyeFrame(
          time: buffer.pts, pixels: try PassedBuffer(buffer: buffer, caps: caps).pixels()))
    }
    return frames
  }

  /// The types of the events that reached an eye's receiver since the last call.
  func events(_ eye: Eye) -> [Event] {
    let harness = eye == .left ? left : right
    var events: [Event] = []
    while let event = harness.tryPullEvent() { events.append(event) }
    return events
  }
}

/// Expects the same pictures, and says which are not.
///
/// - Parameter times: whether they also have to have the same times.
func expectSame(
  _ frames: [EyeFrame], _ wanted: [EyeFrame], times: Bool = false, _ what: String = "",
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(frames.count == wanted.count, "\(what)", sourceLocation: sourceLocation)
  if times {
    #expect(frames.map(\.time) == wanted.map(\.time), "\(what)", sourceLocation: sourceLocation)
  }
  let different = zip(frames, wanted).enumerated().filter { $1.0.pixels != $1.1.pixels }
  #expect(
    different.map(\.offset).isEmpty, "\(what): pictures differ", sourceLocation: sourceLocation)
}

extension Element {
  /// The elements of a bin.
  var parts: [Element] {
    let bin = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstBin.self)
    return sequence(first: bin.pointee.children, next: { $0?.pointee.next }).compactMap {
      $0?.pointee.data?.assumingMemoryBound(to: GstElement.self)
    }.map { Element(retaining: $0) }
  }

  /// The factory names of the elements of a bin.
  var partNames: [String] {
    parts.compactMap { gst_element_get_factory($0.pointer).map(ElementFactory.nameOf) }
  }
}
