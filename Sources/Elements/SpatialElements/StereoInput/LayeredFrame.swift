// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// One access unit of both eyes, ready for a pad or a movie.
struct LayeredFrame {
  /// NAL units with four-byte lengths, parameter sets left out.
  let buffer: Buffer
  /// Running times in nanoseconds; the decode time may be negative.
  let presentationTime: Int64
  let decodeTime: Int64
  /// 0 where it is not known.
  let duration: ClockTime
  /// How long a picture is shown that is the only one and does not say how long it lasts.
  static let stillDuration = ClockTime.second
  let isSync: Bool
  /// Whether other pictures need this one.
  let isReference: Bool
}

/// What a decoder or a container has to know of a layered stream before its first access unit.
struct LayeredConfiguration: Equatable {
  /// The records of ISO/IEC 14496-15: the base layer's and the dependent layer's.
  let hvcC: [UInt8]
  let lhvC: [UInt8]
  /// What a byte stream has in front of its keyframes, in this order.
  let parameterSets: [[UInt8]]
  /// Of one eye.
  let width: Int
  let height: Int
  let bitDepth: Int

  /// What these parameter sets say.
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

  /// The access unit as a byte stream (H.265 annex B), which begins with a delimiter and, where
  /// decoding can start, has the parameter sets of both layers in it.
  ///
  /// - Throws: where the access unit is damaged, or memory is short.
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
        duration: pair.duration ?? 0, isSync: woven.isRandomAccess, isReference: woven.isReference)
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
        .format, "The eyes' parameter sets changed in mid stream; a movie has one set of them.")
    }
    configuration = made
  }
}

/// Carries the input's stream time, the position in the movie that it is of, over to an output whose
/// timestamps are running times.
struct StreamTime {
  /// Where the output's segments start: with B frames, the first decode times lie before the first
  /// presentation times, and a timestamp cannot be negative. GstVideoEncoder's elements leave
  /// themselves the same room.
  private static let room = ClockTime.second * 3600 * 1000

  /// The input's segments that frames not yet given lie in, and the running times that they hold
  /// from.
  private var segments: [(start: Int64, segment: Segment)] = []
  private var latest: Segment?

  /// Looks at the segment of the frame that comes next. Returns whether it is another than before.
  mutating func enter(_ segment: Segment, at runningTime: Int64) -> Bool {
    if let latest, latest.covers(segment) { return false }
    latest = segment
    segments.append((runningTime, segment))
    return true
  }

  /// The segment of the output that begins with the frame of this running time, which is given next;
  /// nil where the one before goes on.
  mutating func segment(at runningTime: Int64) -> Segment? {
    guard let index = segments.lastIndex(where: { $0.start <= runningTime }) else { return nil }
    let input = segments[index].segment
    segments.removeSubrange(...index)
    return Self.output(input)
  }

  private static func output(_ input: Segment) -> Segment {
    var output = Segment()
    output.base = input.base
    output.start = saturatingSum(room, input.base)
    output.position = output.start
    let first = input.rate > 0 ? input.start : input.stop ?? input.start
    output.time = input.streamTime(first) ?? input.time
    // Frames come at the speed at which they are to be shown, so that it is applied already.
    output.appliedRate = input.rate * input.appliedRate
    return output
  }

  /// The timestamp of a running time.
  static func timestamp(_ runningTime: Int64) -> ClockTime {
    let (sum, overflow) = Int64(room).addingReportingOverflow(runningTime)
    return overflow || sum < 0 ? 0 : ClockTime(sum)
  }
}
