// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Detects whether a file is a movie with multilayer H.265: one with an `lhvC` box in a sample
/// entry (ISO/IEC 14496-15 9.6.3).
///
/// It reads only box headers, so it is cheap enough to run on every file when detecting file types.
/// A positive result does not guarantee that the movie can be read.
public struct LayeredMovieProbe {
  /// Limit for the headers read on the way to the sample entries; a file with more is not detected.
  private static let maximumHeaderCount = 1024
  /// Box types that a movie may begin with.
  private static let firstTypes: Set<FourCC> = [
    "ftyp", "styp", "moov", "mdat", "free", "skip", "wide", "pnot", "uuid",
  ]
  private static let codecs: Set<FourCC> = ["hvc1", "hev1"]

  private struct Header {
    let type: FourCC
    let content: Range<UInt64>
  }

  /// Returns bytes of the file, by offset and count; nil if they are not available.
  private let peek: (UInt64, Int) -> [UInt8]?
  private var headerCount = 0

  private init(_ peek: @escaping (UInt64, Int) -> [UInt8]?) {
    self.peek = peek
  }

  /// Returns whether the file is a movie with multilayer H.265.
  ///
  /// - Parameters:
  ///   - fileSize: size of the file in bytes; nil if unknown.
  ///   - peek: returns bytes of the file, by offset and count; nil if they are not available. It is
  ///     called for eight bytes at a time.
  public static func isLayered(
    fileSize: UInt64?, peek: @escaping (_ offset: UInt64, _ count: Int) -> [UInt8]?
  ) -> Bool {
    var probe = LayeredMovieProbe(peek)
    return probe.search(fileSize ?? .max)
  }

  private mutating func search(_ end: UInt64) -> Bool {
    guard let first = header(at: 0, end: end), Self.firstTypes.contains(first.type),
      let movie = child(["moov"], of: 0..<end)
    else { return false }
    var position = movie.lowerBound
    while let box = header(at: position, end: movie.upperBound) {
      if box.type == "trak", hasLayers(box.content) { return true }
      position = box.content.upperBound
    }
    return false
  }

  private mutating func hasLayers(_ track: Range<UInt64>) -> Bool {
    var content = track
    for type: FourCC in ["mdia", "minf", "stbl", "stsd"] {
      guard let found = child([type], of: content) else { return false }
      content = found
    }
    // Version, flags and entry count; then the entries, each with 78 bytes before its boxes.
    guard let entries = part(content, from: 8), let entry = child(Self.codecs, of: entries),
      let boxes = part(entry, from: 78)
    else { return false }
    return child(["lhvC"], of: boxes) != nil
  }

  private func part(_ range: Range<UInt64>, from count: UInt64) -> Range<UInt64>? {
    range.upperBound - range.lowerBound >= count
      ? range.lowerBound + count..<range.upperBound : nil
  }

  /// Returns the content of the first box of one of these types.
  private mutating func child(_ types: Set<FourCC>, of range: Range<UInt64>) -> Range<UInt64>? {
    var position = range.lowerBound
    while let box = header(at: position, end: range.upperBound) {
      if types.contains(box.type) { return box.content }
      position = box.content.upperBound
    }
    return nil
  }

  /// Returns the box that begins at `start`, truncated to `end`.
  private mutating func header(at start: UInt64, end: UInt64) -> Header? {
    guard start < end, end - start >= 8, headerCount < Self.maximumHeaderCount,
      let bytes = peek(start, 8), bytes.count == 8
    else { return nil }
    headerCount += 1
    let type = FourCC(rawValue: bytes.bigEndian(at: 4) ?? 0)
    var (size, contentStart) = (UInt64(bytes.bigEndian(at: 0, as: UInt32.self) ?? 0), start + 8)
    switch size {
    case 0: size = end - start
    case 1:
      guard end - start >= 16, let large = peek(contentStart, 8)?.bigEndian(at: 0, as: UInt64.self)
      else { return nil }
      (size, contentStart) = (large, start + 16)
    default: break
    }
    guard size >= contentStart - start else { return nil }
    return Header(type: type, content: contentStart..<(size < end - start ? start + size : end))
  }
}
