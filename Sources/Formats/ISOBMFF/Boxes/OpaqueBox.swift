// SPDX-License-Identifier: MPL-2.0

/// A box kept as it is: its type, and everything behind its header.
public struct OpaqueBox: Equatable, Sendable {
  /// `uuid` for an extended type, which is then the first 16 bytes of the payload.
  public var type: FourCC
  /// The content: version and flags too, where the box has them; the user type of a `uuid` box.
  public var payload: [UInt8]

  public init(_ type: FourCC, payload: [UInt8]) {
    self.type = type
    self.payload = payload
  }

  /// The box with its header; empty where it would be larger than 4 GiB.
  public var bytes: [UInt8] {
    var writer = BoxWriter()
    writer.box(self)
    return writer.oversizedBox == nil ? writer.bytes : []
  }

  /// The boxes that lie one behind the other in `bytes`, as far as they are whole.
  public static func all(in bytes: [UInt8]) -> [OpaqueBox] {
    var reader = BoxReader(bytes, type: "free", path: "")
    var boxes: [OpaqueBox] = []
    while let box = try? reader.nextBox() { boxes.append(box.opaque) }
    return boxes
  }
}
