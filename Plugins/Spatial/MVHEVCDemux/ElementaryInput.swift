import CGStreamer
import GStreamer
import HEVC
import StereoVideo

/// Layered H.265 without a container, as an encoder or a transport stream gives it.
final class ElementaryInput {
  /// How the input tells NAL units apart.
  let framing: NALUnitFraming
  /// What came beside the stream, in its caps.
  let parameterSets: [[UInt8]]
  let caps: Caps?
  /// Upstream's segment of time; nil where it has none.
  var segment: Segment?
  /// How the eyes are had; nil before the first access unit, and where there are no two.
  var eyes: EyeOutput?
  var description = DemuxVideoCaps.Description()
  var hasBegun = false
  /// Where to pull next.
  var offset: UInt64 = 0

  private var assembler = AccessUnitAssembler()
  /// Timestamps by the place in the stream from which on they hold.
  private var times: [(position: Int, pts: ClockTime?, dts: ClockTime?)] = []
  private var received = 0
  private var consumed = 0
  private var frameCount: UInt64 = 0

  init(framing: NALUnitFraming, parameterSets: [[UInt8]] = [], caps: Caps? = nil) {
    self.framing = framing
    self.parameterSets = parameterSets
    self.caps = caps
  }

  /// Whether a stream that begins with these bytes is H.265 in start codes.
  static func isByteStream(_ start: [UInt8]) -> Bool {
    start.starts(with: [0, 0, 0, 1]) || start.starts(with: [0, 0, 1])
  }

  /// Whether the caps alone say that a stream has one layer only.
  static func isPlain(_ caps: Caps) -> Bool {
    guard let structure = caps.first, let data = structure.buffer("codec_data"),
      structure.buffer(LayeredCaps.layeredCodecData) == nil,
      let record = try? HEVCDecoderConfigurationRecord(bytes: data.bytes)
    else { return false }
    let sequences = record.nalUnits.filter {
      NALUnitHeader($0.span.bytes)?.type == .videoParameterSet
    }
    return !sequences.isEmpty
      && sequences.allSatisfy { (try? VideoParameterSet(nalUnit: $0))?.maxLayersMinus1 == 0 }
  }

  /// Forgets what is under way, as after a flush.
  func reset() {
    assembler = AccessUnitAssembler()
    times = []
    received = 0
    consumed = 0
    eyes?.reset()
  }

  /// The access units that a piece of a byte stream completes, with their timestamps.
  func append(_ buffer: Buffer) throws -> [Buffer] {
    if buffer.pts != nil || buffer.dts != nil {
      times.append((received, buffer.pts, buffer.dts))
    }
    received += buffer.size
    let units = try buffer.withBytes { try assembler.append(RawSpan(_unsafeBytes: $0)) }
    return units.map { stamped($0) }
  }

  /// The access units that are left at the end.
  func finish() -> [Buffer] { assembler.finish().map { stamped($0) } }

  private func stamped(_ unit: AccessUnit) -> Buffer {
    let buffer = Buffer(unit.bytes)
    let next = times.firstIndex { $0.position > consumed } ?? times.count
    if next > 0 {
      (buffer.pts, buffer.dts) = (times[next - 1].pts, times[next - 1].dts)
      // A time holds for the first access unit that begins with it.
      times.removeFirst(next)
    } else if received == 0 || times.isEmpty, let rate = description.frameRate,
      let numerator = UInt64(exactly: rate.numerator),
      let denominator = UInt64(exactly: rate.denominator), buffer.pts == nil, segment == nil
    {
      buffer.dts = scale(frameCount, denominator * .second, numerator)
    }
    frameCount += 1
    consumed += unit.bytes.count
    let isSync = unit.nalUnits.contains { range in
      NALUnitHeader(unit.bytes.span.bytes.extracting(range))
        .map { $0.layerID == 0 && $0.type.isIRAP } ?? false
    }
    if !isSync { buffer.flags.insert(.deltaUnit) }
    return buffer
  }
}
