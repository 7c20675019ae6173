// SPDX-License-Identifier: MPL-2.0

/// How a picture maps onto the viewer's surroundings: the `projection_kind` of a `prji` box.
public enum ProjectionKind: String, Sendable, CaseIterable {
  /// `rect`: an ordinary flat picture.
  case rectilinear
  /// `equi`: 360 degrees, equirectangular.
  case equirectangular
  /// `hequ`: the front 180 degrees, equirectangular.
  case halfEquirectangular = "half-equirectangular"
  /// `fish`: a circular fisheye picture.
  case fisheye
  /// `prim`: described by lens parameters (Apple Projected Media Profile).
  case parametric

  /// The four characters that stand for the kind in `vexu/proj/prji`.
  public var fourCC: String {
    switch self {
    case .rectilinear: "rect"
    case .equirectangular: "equi"
    case .halfEquirectangular: "hequ"
    case .fisheye: "fish"
    case .parametric: "prim"
    }
  }

  /// The kind with these four characters, or nil if there is none.
  public init?(fourCC: String) {
    guard let kind = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
    self = kind
  }
}
