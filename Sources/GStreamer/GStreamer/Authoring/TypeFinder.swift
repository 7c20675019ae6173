// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A type finder, which recognises the type of data from some of its bytes (`GstTypeFindFactory`).
///
/// Any data to be opened is passed to all type finders, by rank, until one is certain; so a finder
/// must inspect few bytes and reject unknown data quickly.
public struct TypeFinder: PluginFeature {
  /// The name, usually a media type.
  public let name: String
  /// Finders with a higher rank are called first.
  public let rank: ElementRank
  /// File name extensions, without dots, for which this finder is called before others.
  public let extensions: [String]
  /// All caps that ``find`` may return.
  public let caps: Caps
  /// Returns the type of the data if it is certain; nil otherwise.
  public let find: @Sendable (TypeFindData) -> Caps?

  /// Declares a type finder.
  public init(
    _ name: String, rank: ElementRank, extensions: [String], caps: Caps,
    find: @escaping @Sendable (TypeFindData) -> Caps?
  ) {
    (self.name, self.rank, self.extensions) = (name, rank, extensions)
    (self.caps, self.find) = (caps, find)
  }

  /// Registers the type finder; returns false if GStreamer refuses it.
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

/// The data to be recognised. Valid only during the call of the finder.
public struct TypeFindData {
  fileprivate let pointer: UnsafeMutablePointer<GstTypeFind>

  /// In bytes; nil if unknown.
  public var size: UInt64? {
    let size = UInt64(gst_type_find_get_length(pointer))
    return size > 0 ? size : nil
  }

  /// Returns bytes of the data; nil if not all of them are available.
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
