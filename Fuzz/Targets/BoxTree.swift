// SPDX-License-Identifier: MPL-2.0

/// A box and its content, which can be changed and written again with matching sizes.
public struct BoxTree: Sendable {
  /// Four Latin-1 characters.
  public var type: String
  /// The bytes before the children; the whole content of a box without children.
  public var content: [UInt8]
  /// The nested boxes.
  public var children: [BoxTree]
  /// The zeros that QuickTime sometimes writes after the last child.
  public var terminator: [UInt8] = []

  /// Creates a box.
  public init(_ type: String, _ content: [UInt8] = [], _ children: [BoxTree] = []) {
    self.type = type
    self.content = content
    self.children = children
  }

  /// Reads the boxes of a file or a part of one; returns none if the boxes do not exactly fill it.
  public static func read(_ bytes: ArraySlice<UInt8>) -> [BoxTree] {
    places(in: bytes).map { place in
      let content = bytes[place.content..<place.end]
      let inner = content.dropFirst(place.prefix)
      let children = read(inner)
      guard !children.isEmpty else { return BoxTree(place.type, Array(content)) }
      var box = BoxTree(place.type, Array(content.prefix(place.prefix)), children)
      let size = children.reduce(0) { $0 + $1.bytes.count }
      if inner.count == size + 4 { box.terminator = Array(inner.suffix(4)) }
      return box
    }
  }

  /// Reads the boxes of a file.
  public static func read(_ bytes: [UInt8]) -> [BoxTree] { read(bytes[...]) }

  /// Returns the offsets at which boxes and their contents begin and end, including nested boxes.
  public static func boundaries(_ bytes: ArraySlice<UInt8>) -> Set<Int> {
    places(in: bytes).reduce(into: []) { all, place in
      let inner = bytes[place.content..<place.end].dropFirst(place.prefix)
      all.formUnion([place.start, place.content, inner.startIndex, place.end])
      all.formUnion(boundaries(inner))
    }
  }

  /// The box with its header, children and terminator.
  public var bytes: [UInt8] {
    let inside = content + children.flatMap(\.bytes) + terminator
    return big(UInt32(clamping: inside.count + 8))
      + type.unicodeScalars.map { UInt8(clamping: $0.value) }
      + inside
  }

  /// The first box at a path below this one, such as `mdia/minf`; nil if there is none.
  public subscript(_ path: String) -> BoxTree? {
    get {
      let parts = path.split(separator: "/", maxSplits: 1).map(String.init)
      guard let first = parts.first, let child = children.first(where: { $0.type == first }) else {
        return nil
      }
      return parts.count > 1 ? child[parts[1]] : child
    }
    set {
      let parts = path.split(separator: "/", maxSplits: 1).map(String.init)
      guard let first = parts.first, let index = children.firstIndex(where: { $0.type == first })
      else { return }
      if parts.count > 1 {
        children[index][parts[1]] = newValue
      } else if let newValue {
        children[index] = newValue
      } else {
        children.remove(at: index)
      }
    }
  }

  // MARK: Walking

  private struct Place {
    var type: String
    var start: Int
    var content: Int
    var end: Int
    /// Number of content bytes before the children; all bytes if there are no children.
    var prefix: Int
  }

  /// Returns the boxes of a range if they fill it, else none.
  private static func places(in bytes: ArraySlice<UInt8>) -> [Place] {
    var places: [Place] = []
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let rest = bytes[start...]
      if rest.count == 4, rest.allSatisfy({ $0 == 0 }) { break }
      guard rest.count >= 8 else { return [] }
      var size = number(bytes[start..<start + 4])
      var header = 8
      if size == 1, bytes.endIndex - start >= 16 {
        size = number(bytes[start + 8..<start + 16])
        header = 16
      }
      guard size >= header, size <= bytes.endIndex - start else { return [] }
      let type = String(
        String.UnicodeScalarView(bytes[start + 4..<start + 8].map { Unicode.Scalar($0) }))
      let content = bytes[start + header..<start + size]
      places.append(
        Place(
          type: type, start: start, content: content.startIndex, end: content.endIndex,
          prefix: min(prefix(of: type, content), content.count)))
      start += size
    }
    return places
  }

  private static let containers: Set<String> = [
    "moov", "trak", "edts", "mdia", "minf", "dinf", "stbl", "tapt", "udta", "vexu", "eyes", "cams",
    "cmfy", "proj", "pack", "wave", "ilst", "mvex", "moof", "traf", "mfra", "sv3d",
  ]

  private static func prefix(of type: String, _ content: ArraySlice<UInt8>) -> Int {
    switch type {
    case _ where containers.contains(type): 0
    case "stsd", "dref": 8
    case "hvc1", "hev1": 78
    case "mp4a", "lpcm", "sowt", "twos":
      [28, 44, 64][min(number(content.dropFirst(8).prefix(2)), 2)]
    // Only QuickTime's own form begins with a box.
    case "meta": content.dropFirst(4).prefix(4).elementsEqual("hdlr".utf8) ? 0 : 4
    default: content.count
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { Int(truncatingIfNeeded: UInt64(truncatingIfNeeded: $0) << 8 | UInt64($1)) }
  }
}

/// Returns the bytes of `value`, most significant byte first.
public func big<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
  withUnsafeBytes(of: value.bigEndian) { Array($0) }
}
