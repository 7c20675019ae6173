// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Finds out whether a file is a movie with H.265 of several layers: with an `lhvC` box in a sample
/// entry (ISO/IEC 14496-15 9.6.3).
///
/// It reads no more than headers of boxes, so that whoever asks what some file is can ask this of
/// every file. What is found says nothing of whether the movie can be read.
public struct LayeredMovieProbe {
  /// A file of more headers on the way to its sample entries is taken for another.
  private static let maximumHeaderCount = 1024
  /// What may stand first in a movie.
  private static let firstTypes: Set<FourCC> = [
    "ftyp", "styp", "moov", "mdat", "free", "skip", "wide", "pnot", "uuid",
  ]
  private static let codecs: Set<FourCC> = ["hvc1", "hev1"]

  private struct Header {
    let type: FourCC
    let content: Range<UInt64>
  }

  /// Gives bytes of the file, by offset and count; nil where they are not there.
  private let peek: (UInt64, Int) -> [UInt8]?
  private var headerCount = 0

  private init(_ peek: @escaping (UInt64, Int) -> [UInt8]?) {
    self.peek = peek
  }

  /// - Parameters:
  ///   - fileSize: in bytes; nil where it is not known.
  ///   - peek: gives bytes of the file, by offset and count; nil where they are not there. It is
  ///     asked for eight bytes at a time.
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
    // Version, flags and the count of entries; then those, each with 78 bytes before its boxes.
    guard let entries = part(content, from: 8), let entry = child(Self.codecs, of: entries),
      let boxes = part(entry, from: 78)
    else { return false }
    return child(["lhvC"], of: boxes) != nil
  }

  private func part(_ range: Range<UInt64>, from count: UInt64) -> Range<UInt64>? {
    range.upperBound - range.lowerBound >= count
      ? range.lowerBound + count..<range.upperBound : nil
  }

  /// The content of the first box of one of these types.
  private mutating func child(_ types: Set<FourCC>, of range: Range<UInt64>) -> Range<UInt64>? {
    var position = range.lowerBound
    while let box = header(at: position, end: range.upperBound) {
      if types.contains(box.type) { return box.content }
      position = box.content.upperBound
    }
    return nil
  }

  /// The box that begins at `start`, as far as it lies in front of `end`.
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
