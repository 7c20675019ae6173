// SPDX-License-Identifier: MPL-2.0

/// Writes NAL units one behind another into memory.
struct NALUnitSink {
  private let output: UnsafeMutableRawBufferPointer
  private let framing: NALUnitFraming
  private var offset = 0

  init(_ output: UnsafeMutableRawBufferPointer, _ framing: NALUnitFraming) {
    self.output = output
    self.framing = framing
  }

  /// Writes `nalUnit`, whose payload is in `source`.
  mutating func append(_ nalUnit: RewrittenNALUnit, source: RawSpan) {
    appendPrefix(nalUnit.byteCount)
    append(nalUnit.beginning.span.bytes)
    append(source.extracting(nalUnit.payload))
  }

  /// Writes `nalUnit`.
  mutating func append(_ nalUnit: [UInt8]) {
    appendPrefix(nalUnit.count)
    append(nalUnit.span.bytes)
  }

  private mutating func appendPrefix(_ size: Int) {
    let prefix: UInt32 = framing == .annexB ? 1 : UInt32(clamping: size)
    precondition(output.count - offset >= 4 + size, "the output is too small")
    output.storeBytes(of: prefix.bigEndian, toByteOffset: offset, as: UInt32.self)
    offset += 4
  }

  private mutating func append(_ bytes: RawSpan) {
    bytes.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(rebasing: output[offset...]).copyMemory(from: $0)
    }
    offset += bytes.byteCount
  }
}
