// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC

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
