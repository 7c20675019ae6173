// SPDX-License-Identifier: MPL-2.0

import TransportStream

/// Demuxes a transport stream in chunks of two sizes, with a seek in between, and finds places in
/// it by time.
func demuxTransportStream(_ input: [UInt8]) {
  let bytes = mended(input)
  var demuxer = MVCTransportDemuxer(budget: 1 << 18)
  for chunk in [997, 1 << 16] {
    for start in stride(from: 0, to: bytes.count, by: chunk) {
      let end = min(start + chunk, bytes.count)
      guard (try? demuxer.push(bytes.span.bytes.extracting(start..<end))) != nil else { break }
    }
    _ = try? demuxer.end()
    _ = demuxer.failure?.description
    demuxer.flush(near: 90000)
  }
  let span = TransportStreamSpan(byteCount: bytes.count) { Array(bytes[$0]) }
  guard let span else { return }
  for time in [span.start, span.start &+ span.duration / 2, span.end] {
    _ = span.place(of: time) { Array(bytes[$0]) }
  }
}

/// Returns the stream with a right CRC in each section that is alone in a packet, since fuzzing
/// would never find one.
private func mended(_ input: [UInt8]) -> [UInt8] {
  var bytes = input
  var start = 0
  while start + 188 <= bytes.count {
    guard bytes[start] == 0x47 else {
      start += 1
      continue
    }
    let hasField = bytes[start + 3] & 0x20 != 0
    let section = start + 5 + (hasField ? 1 + Int(bytes[start + 4]) : 0)
    if bytes[start + 1] & 0x40 != 0, section + 12 <= start + 188, bytes[section] & 0xFD == 0 {
      let length = Int(bytes[section + 1] & 0xF) << 8 | Int(bytes[section + 2])
      let end = section + 3 + length - 4
      if length >= 9, end + 4 <= start + 188 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes[section..<end] {
          crc ^= UInt32(byte) << 24
          for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1 }
        }
        for index in 0..<4 {
          bytes[end + index] = UInt8(truncatingIfNeeded: crc >> UInt32(24 - 8 * index))
        }
      }
    }
    start += 188
  }
  return bytes
}
