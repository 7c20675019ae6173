// SPDX-License-Identifier: MPL-2.0

internal import AVC
internal import TransportStream

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Finds out whether a file without an index has both views of H.264 MVC.
enum MultiviewProbe {
  /// Number of bytes of a byte stream that have its parameter sets.
  private static let startLimit = 1 << 20
  /// Number of bytes of a transport stream that are read at most.
  private static let limit = 8 << 20
  private static let chunk = 1 << 18
  /// Number of access units of one view after which no second one is expected.
  private static let patience = 30

  /// Returns whether a file of a format has both views; false if it cannot be read.
  static func isMultiview(_ path: String, _ format: CopiedFormat) -> Bool {
    guard format != .matroska else { return false }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return false }
    defer { close(file) }
    return format == .transportStream ? isTransportStream(file) : isByteStream(file)
  }

  /// Returns whether a byte stream is one of H.264; false if it cannot be read.
  static func isH264(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return false }
    defer { close(file) }
    return description(ofByteStream: file) != nil
  }

  /// Whether a byte stream begins with H.264 and has a subset SPS.
  private static func isByteStream(_ file: CInt) -> Bool {
    description(ofByteStream: file)?.records.mvcC != nil
  }

  /// Reads the description of H.264 from the start of a byte stream; nil for H.265, which has no
  /// SPS of H.264: its first byte would be that of a reserved type.
  private static func description(ofByteStream file: CInt) -> MVCDescription? {
    var bytes = [UInt8](repeating: 0, count: startLimit)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return MVCDescription(accessUnit: bytes.span.bytes.extracting(0..<count))
  }

  private static func isTransportStream(_ file: CInt) -> Bool {
    var demuxer = MVCTransportDemuxer(hasAudio: false)
    var bytes = [UInt8](repeating: 0, count: chunk)
    var unitCount = 0
    for _ in 0..<limit / chunk where unitCount < patience {
      let count = read(file, &bytes, bytes.count)
      guard count > 0,
        let events = try? demuxer.push(bytes.span.bytes.extracting(0..<count))
      else { break }
      if demuxer.program?.dependent != nil { return true }
      for case .accessUnit(let unit) in events {
        if unit.isPaired { return true }
        unitCount += 1
      }
    }
    guard let events = try? demuxer.end() else { return false }
    return events.contains { if case .accessUnit(let unit) = $0 { unit.isPaired } else { false } }
  }
}
