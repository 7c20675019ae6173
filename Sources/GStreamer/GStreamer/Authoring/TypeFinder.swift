// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A type finder: tells what some data is from a few of its bytes (`GstTypeFindFactory`).
///
/// Whatever somebody opens is shown to all type finders, by their ranks, until one is certain: so
/// it has to look at little, and to be quick with what it does not know.
public struct TypeFinder: PluginFeature {
  public let name: String
  public let rank: ElementRank
  /// File name extensions, without dots, at which this finder is asked before those without.
  public let extensions: [String]
  /// All that ``find`` may answer.
  public let caps: Caps
  /// What the data is, if the finder is certain; nil for what it does not know.
  public let find: @Sendable (TypeFindData) -> Caps?

  public init(
    _ name: String, rank: ElementRank, extensions: [String], caps: Caps,
    find: @escaping @Sendable (TypeFindData) -> Caps?
  ) {
    (self.name, self.rank, self.extensions) = (name, rank, extensions)
    (self.caps, self.find) = (caps, find)
  }

  public func register(with plugin: PluginReference) -> Bool {
    let finder = Unmanaged.passRetained(Finder(find))
    return gst_type_find_register(
      plugin.pointer, name, rank.rawValue, callFinder, extensions.joined(separator: ","),
      caps.pointer, finder.toOpaque(),
      { $0.map { Unmanaged<Finder>.fromOpaque($0).release() } }) != 0
  }

  fileprivate final class Finder: Sendable {
    let find: @Sendable (TypeFindData) -> Caps?

    init(_ find: @escaping @Sendable (TypeFindData) -> Caps?) {
      self.find = find
    }
  }
}

/// The data whose type is wanted. It is there while the finder is asked, and no longer.
public struct TypeFindData {
  fileprivate let pointer: UnsafeMutablePointer<GstTypeFind>

  /// In bytes; nil where that is not known.
  public var size: UInt64? {
    let size = UInt64(gst_type_find_get_length(pointer))
    return size > 0 ? size : nil
  }

  /// Bytes from the start of the data; nil where not all of them can be had.
  public func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
    guard let offset = Int(exactly: offset), let size = UInt32(exactly: count),
      let bytes = gst_type_find_peek(pointer, offset, size)
    else { return nil }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }
}

private func callFinder(
  _ find: UnsafeMutablePointer<GstTypeFind>?, _ data: UnsafeMutableRawPointer?
) {
  guard let find, let data else { return }
  let finder = Unmanaged<TypeFinder.Finder>.fromOpaque(data).takeUnretainedValue()
  guard let caps = finder.find(TypeFindData(pointer: find)) else { return }
  gst_type_find_suggest(find, GST_TYPE_FIND_MAXIMUM.rawValue, caps.pointer)
}
