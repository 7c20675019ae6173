// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// A raw byte sequence payload: the bytes of a NAL unit including its header, with emulation
/// prevention removed (H.265 7.4.2).
///
/// May cover only the beginning of a NAL unit, for reading a slice segment header.
public struct RBSP: Sendable {
  /// The bytes with emulation prevention removed; the first two are the NAL unit header.
  public let bytes: [UInt8]
  /// For each removed emulation prevention byte, the index in ``bytes`` of the byte after it.
  public let emulationPreventionIndexes: [Int]
  /// Whether the whole NAL unit was read.
  public let isComplete: Bool

  /// Reads the first `limit` bytes of the NAL unit `nalUnit`.
  public init(_ nalUnit: RawSpan, limit: Int = .max) {
    let count = min(nalUnit.byteCount, max(limit, 0))
    isComplete = count == nalUnit.byteCount
    var removed: [Int] = []
    bytes = [UInt8](unsafeUninitializedCapacity: count) { output, written in
      var zeros = 0
      for index in 0..<count {
        let byte = nalUnit.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        if zeros >= 2, byte == 3 {
          removed.append(written)
          zeros = 0
          continue
        }
        output.initializeElement(at: written, to: byte)
        written += 1
        zeros = byte == 0 ? zeros + 1 : 0
      }
    }
    emulationPreventionIndexes = removed
  }

  /// Reads a whole NAL unit.
  public init(_ nalUnit: [UInt8]) {
    self.init(nalUnit.span.bytes)
  }

  /// Returns the offset in the NAL unit of the byte at `index` in ``bytes``.
  public func offsetInNALUnit(of index: Int) -> Int {
    var offset = index
    for removed in emulationPreventionIndexes where removed <= index { offset += 1 }
    return offset
  }

  /// Returns the NAL unit with this header and payload, with emulation prevention inserted.
  public static func nalUnit(_ header: NALUnitHeader, payload: [UInt8]) -> [UInt8] {
    var unit: [UInt8] = []
    unit.reserveCapacity(payload.count + payload.count >> 6 + 4)
    unit.append(header.bytes.0)
    unit.append(header.bytes.1)
    unit.append(escaping: payload)
    return unit
  }
}

extension [UInt8] {
  /// Appends `payload` with emulation prevention inserted. The last byte before must not be zero.
  package mutating func append(escaping payload: [UInt8]) {
    var zeros = 0
    for byte in payload {
      if zeros >= 2, byte <= 3 {
        append(3)
        zeros = 0
      }
      append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
  }
}

extension BitWriter {
  /// Returns a NAL unit with `header` and the written bits as payload, with emulation prevention
  /// inserted.
  ///
  /// - Precondition: A whole number of bytes was written; ``trailingBits()`` ensures that.
  public func nalUnit(_ header: NALUnitHeader) -> [UInt8] {
    RBSP.nalUnit(header, payload: bytes)
  }
}
