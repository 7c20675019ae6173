import CGStreamer
import GStreamer
import HEVC
import StereoVideo

/// Makes the eyes' buffers out of a layered track's samples.
struct EyeOutput {
  let baseEye: Eye
  let framing: NALUnitFraming
  private var splitter: EyeSplitter

  /// A buffer holds so many pieces of memory; more are merged by copying them.
  private static let maximumPieceCount = 16
  /// Copying less than this is cheaper than keeping references.
  private static let smallSize = 4096

  init(baseEye: Eye, framing: NALUnitFraming, splitter: EyeSplitter) {
    self.baseEye = baseEye
    self.framing = framing
    self.splitter = splitter
  }

  /// Forgets the pictures so far, for a new start at a random access point.
  mutating func reset() { splitter.reset() }

  mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try splitter.add(parameterSets: parameterSets)
  }

  /// What a sample gives for one eye.
  struct Split {
    /// In decoding order, without timestamps; only the last is to be shown.
    var buffers: [Buffer]
    /// The parameter sets from here on, where they change.
    var parameterSets: SingleLayerParameterSets?
    /// Why the dependent eye's picture is missing.
    var failure: FlattenError?
  }

  /// Splits a sample whose bytes are `bytes`, with NAL units in `nalUnits`.
  mutating func split(
    _ sample: Buffer, _ bytes: RawSpan, nalUnits: [Range<Int>], for eye: Eye
  ) throws(FlattenError) -> Split {
    let output =
      eye == baseEye
      ? try splitter.baseEye(bytes, nalUnits: nalUnits)
      : try splitter.dependentEye(bytes, nalUnits: nalUnits)
    let buffers = output.pictures.map { buffer($0, of: sample, bytes) }
    for index in buffers.indices.dropLast() { buffers[index].flags.insert(.decodeOnly) }
    if let failure = output.failure {
      // What is left is the base eye's picture, which this eye's later pictures may refer to.
      for index in buffers.indices { buffers[index].flags.insert(.decodeOnly) }
      return Split(
        buffers: buffers,
        parameterSets: output.parameterSetsChanged ? output.parameterSets : nil, failure: failure)
    }
    return Split(
      buffers: buffers, parameterSets: output.parameterSetsChanged ? output.parameterSets : nil)
  }

  /// A part of a buffer to be: bytes of the sample, or of what was written anew.
  private enum Piece {
    case sample(Range<Int>)
    case new(Range<Int>)
  }

  private func buffer(
    _ unit: SingleLayerAccessUnit, of sample: Buffer, _ bytes: RawSpan
  ) -> Buffer {
    let (pieces, written) = pieces(unit)
    if pieces.count == 1, case .sample(let range) = pieces[0],
      let part = sample.memory(offset: range.lowerBound, size: range.count)
    {
      return part
    }
    let size = unit.byteCount(framing: .lengthPrefixed(lengthSize: 4))
    if pieces.count > Self.maximumPieceCount || size <= Self.smallSize {
      return copy(unit, size, bytes)
    }
    let head = Buffer(written)
    let result = Buffer()
    for piece in pieces {
      switch piece {
      case .sample(let range):
        result.append(sample, offset: range.lowerBound, size: range.count)
      case .new(let range): result.append(head, offset: range.lowerBound, size: range.count)
      }
    }
    return result
  }

  private func pieces(_ unit: SingleLayerAccessUnit) -> (pieces: [Piece], written: [UInt8]) {
    var pieces: [Piece] = []
    var written: [UInt8] = []
    let prefixSize = framing == .lengthPrefixed(lengthSize: 4) ? 4 : 0
    for nalUnit in unit.nalUnits where nalUnit.header.type != .accessUnitDelimiter {
      var payload = nalUnit.payload
      if nalUnit.beginning.isEmpty, prefixSize == 4, payload.lowerBound >= 4 {
        payload = payload.lowerBound - 4..<payload.upperBound
        if case .sample(let last)? = pieces.last, last.upperBound == payload.lowerBound {
          pieces.removeLast()
          payload = last.lowerBound..<payload.upperBound
        }
      } else {
        let start = written.count
        let length = UInt32(clamping: nalUnit.byteCount)
        for shift in [24, 16, 8, 0] as [UInt32] {
          written.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        written += nalUnit.beginning
        pieces.append(.new(start..<written.count))
      }
      if !payload.isEmpty { pieces.append(.sample(payload)) }
    }
    return (pieces, written)
  }

  private func copy(_ unit: SingleLayerAccessUnit, _ size: Int, _ bytes: RawSpan) -> Buffer {
    guard let buffer = Buffer(size: size) else { return Buffer() }
    try? buffer.withMutableBytes {
      unit.write(framing: .lengthPrefixed(lengthSize: 4), source: bytes, into: $0)
    }
    return buffer
  }
}
