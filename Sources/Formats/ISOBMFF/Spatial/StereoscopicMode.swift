// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// How two eyes share a frame: the `st3d` box (Google, Spherical Video V2).
public struct StereoscopicMode: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// One eye's picture for both.
  public static let monoscopic = StereoscopicMode(rawValue: 0)
  /// The left eye above the right one.
  public static let topBottom = StereoscopicMode(rawValue: 1)
  /// The left eye in the left half.
  public static let leftRight = StereoscopicMode(rawValue: 2)
  /// The projection's mesh says where each eye lies.
  public static let custom = StereoscopicMode(rawValue: 3)
  /// The right eye in the left half.
  public static let rightLeft = StereoscopicMode(rawValue: 4)

  /// The mode of a layout; nil where `st3d` has none (frame by frame, right eye on top).
  public init?(_ layout: PackingLayout) {
    switch (layout.arrangement, layout.rightViewFirst) {
    case (.sideBySide, false): self = .leftRight
    case (.sideBySide, true): self = .rightLeft
    case (.topBottom, false): self = .topBottom
    default: return nil
    }
  }

  /// The layout of the mode; nil for monoscopic, custom and unknown ones.
  public var packing: PackingLayout? {
    switch self {
    case .topBottom: PackingLayout(.topBottom)
    case .leftRight: PackingLayout(.sideBySide)
    case .rightLeft: PackingLayout(.sideBySide, rightViewFirst: true)
    default: nil
    }
  }

  func write(to writer: inout BoxWriter) {
    writer.fullBox("st3d") { $0.write(rawValue) }
  }
}
