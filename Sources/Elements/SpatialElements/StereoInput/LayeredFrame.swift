// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// One access unit of both eyes, ready for output.
struct LayeredFrame {
  /// NAL units with four-byte lengths, without parameter sets.
  let buffer: Buffer
  /// Running times; the decode time may be negative.
  let presentationTime: RunningTime
  let decodeTime: RunningTime
  /// Above 0; nil if unknown.
  let duration: ClockTime?
  /// Duration of a single picture without a duration.
  static let stillDuration = ClockTime.second
  let isSync: Bool
  /// Whether other pictures refer to this one.
  let isReference: Bool
}

/// Description of a layered stream that a decoder or container needs before its first access unit.
struct LayeredConfiguration: Equatable {
  /// The records of ISO/IEC 14496-15: the base layer's and the dependent layer's.
  let hvcC: [UInt8]
  let lhvC: [UInt8]
  /// Parameter sets before each keyframe of a byte stream, in this order, as NAL units.
  let parameterSets: [[UInt8]]
  /// Size of one eye, in luma samples.
  let width: Int
  let height: Int
  let bitDepth: Int

  /// Makes the description from parameter sets.
  init(_ sets: LayeredParameterSets) throws {
    let record = try HEVCDecoderConfigurationRecord(sets)
    hvcC = record.bytes
    lhvC = try LHEVCDecoderConfigurationRecord(sets).bytes
    parameterSets = sets.nalUnits.filter { !$0.isEmpty }
    guard let first = sets.baseSequenceParameterSets.first else {
      throw ElementError(.format, "The base eye's stream has no sequence parameter set.")
    }
    let sps = try SequenceParameterSet(nalUnit: first)
    width = sps.visibleSize.width
    height = sps.visibleSize.height
    bitDepth = record.bitDepthLuma
  }
}

extension LayeredFrame {
  private static let startCode: [UInt8] = [0, 0, 0, 1]
  /// An access unit delimiter for pictures of any kind (H.265 7.3.2.5).
  private static let delimiter: [UInt8] = [0x46, 0x01, 0x50]

  /// Returns the access unit as a byte stream (H.265 annex B) that begins with a delimiter and, at
  /// random access points, contains the parameter sets of both layers.
  ///
  /// - Throws: an error if the access unit is damaged or memory is short.
  func byteStream(_ configuration: LayeredConfiguration) throws -> Buffer {
    let sets = isSync ? configuration.parameterSets : []
    let stream = try buffer.withBytes { bytes -> Buffer? in
      let span = RawSpan(_unsafeBytes: bytes)
      let units = try NALUnitFraming.lengthPrefixed(lengthSize: 4).nalUnits(in: span).filter {
        NALUnitHeader(span.extracting($0))?.type != .accessUnitDelimiter
      }
      let front = ([Self.delimiter] + sets).flatMap { Self.startCode + $0 }
      let size = units.reduce(front.count) { $0 + Self.startCode.count + $1.count }
      let stream = Buffer(size: size)
      try stream?.withMutableBytes { output in
        var rest = output[...]
        func append(_ bytes: UnsafeRawBufferPointer) {
          UnsafeMutableRawBufferPointer(rebasing: rest).copyMemory(from: bytes)
          rest = rest.dropFirst(bytes.count)
        }
        front.withUnsafeBytes(append)
        for unit in units {
          Self.startCode.withUnsafeBytes(append)
          append(UnsafeRawBufferPointer(rebasing: bytes[unit]))
        }
      }
      return stream
    }
    guard let stream else { throw FlowReturn.error }
    stream.copyMetas(from: buffer)
    return stream
  }
}

/// Weaves the access units of two coded streams.
final class LayeredFrameWeaver: LayeredFrameMaker {
  private static let framing = NALUnitFraming.lengthPrefixed(lengthSize: 4)

  private let left: EyeStreamCaps.CodedVideo
  private let right: EyeStreamCaps.CodedVideo
  private var weaver: Weaver
  private(set) var configuration: LayeredConfiguration?

  init(left: EyeStreamCaps.CodedVideo, right: EyeStreamCaps.CodedVideo, baseEye: Eye) throws {
    self.left = left
    self.right = right
    weaver = Weaver(baseEye: baseEye)
    try weaver.add(parameterSets: left.parameterSets, of: .left)
    try weaver.add(parameterSets: right.parameterSets, of: .right)
  }

  func make(_ pair: FramePair) throws -> [LayeredFrame] {
    let (buffer, woven) = try pair.left.withBytes { left in
      try pair.right.withBytes { right in try weave(left.bytes, right.bytes) }
    }
    if woven.parameterSetsChanged { try setConfiguration(woven.parameterSets) }
    return [
      LayeredFrame(
        buffer: buffer, presentationTime: pair.presentationTime, decodeTime: pair.decodeTime,
        duration: pair.duration == 0 ? nil : pair.duration, isSync: woven.isRandomAccess,
        isReference: woven.isReference)
    ]
  }

  func drain() throws -> [LayeredFrame]? { nil }

  private func weave(_ leftBytes: RawSpan, _ rightBytes: RawSpan) throws -> (
    Buffer, WovenAccessUnit
  ) {
    let woven = try weaver.weave(
      left: leftBytes, leftNALUnits: left.framing.nalUnits(in: leftBytes),
      right: rightBytes, rightNALUnits: right.framing.nalUnits(in: rightBytes))
    guard let buffer = Buffer(size: woven.byteCount(framing: Self.framing)) else {
      throw FlowReturn.error
    }
    try buffer.withMutableBytes {
      woven.write(framing: Self.framing, left: leftBytes, right: rightBytes, into: $0)
    }
    return (buffer, woven)
  }

  private func setConfiguration(_ sets: LayeredParameterSets) throws {
    let made = try LayeredConfiguration(sets)
    if let configuration, configuration != made {
      throw ElementError(
        .format, "The eyes' parameter sets changed mid-stream; a movie has only one set.")
    }
    configuration = made
  }
}

/// Maps the input's stream time (the position in the movie) to an output whose timestamps are
/// running times.
struct StreamTime {
  /// Start of the output's segments: with B frames, the first decode times are before the first
  /// presentation times, and timestamps cannot be negative. GstVideoEncoder uses the same offset.
  private static let room = ClockTime.second * 3600 * 1000

  /// Input segments of frames not output yet, with the running times at which they begin.
  private var segments: [(start: RunningTime, segment: Segment)] = []
  private var latest: Segment?

  /// Notes the segment of the next frame. Returns whether it differs from the previous one.
  mutating func enter(_ segment: Segment, at runningTime: RunningTime) -> Bool {
    if let latest, latest.covers(segment) { return false }
    latest = segment
    segments.append((runningTime, segment))
    return true
  }

  /// Returns the output segment that begins with the frame of this running time, which is output
  /// next; nil if the previous segment continues.
  mutating func segment(at runningTime: RunningTime) -> Segment? {
    guard let index = segments.lastIndex(where: { $0.start <= runningTime }) else { return nil }
    let input = segments[index].segment
    segments.removeSubrange(...index)
    return Self.output(input)
  }

  private static func output(_ input: Segment) -> Segment {
    var output = Segment()
    output.base = input.base
    output.start = room + input.base
    output.position = output.start
    let first = input.rate > 0 ? input.start : input.stop ?? input.start
    output.time = input.streamTime(first) ?? input.time
    // Frames arrive at the speed at which they are to be shown, so the rate has been applied.
    output.appliedRate = input.rate * input.appliedRate
    return output
  }

  /// Converts a running time to a timestamp.
  static func timestamp(_ runningTime: RunningTime) -> ClockTime {
    ClockTime(clamping: runningTime + room)
  }
}
