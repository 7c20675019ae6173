/// One of the two eyes a stereo picture is made for.
public enum Eye: String, Sendable, CaseIterable, Codable {
  case left
  case right

  /// The other eye of the pair.
  public var other: Eye { self == .left ? .right : .left }
}
