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
}
