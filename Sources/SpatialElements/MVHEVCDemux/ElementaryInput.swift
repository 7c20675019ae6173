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
  var segment: Segment? { didSet { needsSegment = true } }
  /// The streams have to be told the segment.
  var needsSegment = true
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
  /// Says when frames are shown of a stream without timestamps.
  private var clock = PictureClock()
  private var frameCount: UInt64 = 0

  init(framing: NALUnitFraming, parameterSets: [[UInt8]] = [], caps: Caps? = nil) {
    self.framing = framing
    self.parameterSets = parameterSets
    self.caps = caps
    clock.add(parameterSets: parameterSets)
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
    needsSegment = true
    assembler = AccessUnitAssembler()
    times = []
    received = 0
    consumed = 0
    eyes?.reset()
    clock = PictureClock()
    clock.add(parameterSets: parameterSets)
    frameCount = 0
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
    }
    consumed += unit.bytes.count
    let isSync = unit.nalUnits.contains { range in
      NALUnitHeader(unit.bytes.span.bytes.extracting(range))
        .map { $0.layerID == 0 && $0.type.isIRAP } ?? false
    }
    if !isSync { buffer.flags.insert(.deltaUnit) }
    return buffer
  }

  /// What a stream without timestamps plays at a constant rate; nil where it has timestamps, or no
  /// rate.
  private var rate: (frames: UInt64, seconds: UInt64)? {
    guard segment == nil, let rate = description.frameRate,
      let frames = UInt64(exactly: rate.numerator), let seconds = UInt64(exactly: rate.denominator),
      frames > 0, seconds > 0
    else { return nil }
    return (frames, seconds)
  }

  private func time(_ frame: Int, _ rate: (frames: UInt64, seconds: UInt64)) -> ClockTime {
    scale(UInt64(clamping: frame), rate.seconds * .second, rate.frames)
  }

  /// Gives an access unit of a stream without timestamps those that its place in the stream says.
  func number(_ unit: Buffer) {
    guard let rate, unit.pts == nil, unit.dts == nil else { return }
    let frame = try? unit.withBytes { bytes in
      let span = RawSpan(_unsafeBytes: bytes)
      return clock.frame(span, nalUnits: try framing.nalUnits(in: span))
    }
    let index = Int(clamping: frameCount)
    frameCount += 1
    unit.dts = time(index, rate)
    unit.duration = time(1, rate)
    guard let frame = frame ?? nil else { return }
    let (shown, overflow) = frame.number.addingReportingOverflow(frame.reordering)
    unit.pts = time(overflow ? index : max(index, shown), rate)
  }

  /// The segment of a stream without timestamps that begins with an access unit: its running time
  /// begins with what is shown first.
  func segment(from first: Buffer) -> Segment {
    var own = Segment()
    guard let segment else {
      own.start = first.pts ?? 0
      return own
    }
    return segment
  }
}
