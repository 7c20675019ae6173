// SPDX-License-Identifier: MPL-2.0

/// How pictures are to be looked at: one entry of `REQ-VIDEO-LAYOUT`
/// (draft-pantos-hls-rfc8216bis 4.4.6.2).
public struct VideoLayout: Equatable, Sendable {
  public enum Projection: String, Sendable, CaseIterable {
    /// On a plane.
    case rectilinear = "PROJ-RECT"
    /// 360 degrees.
    case equirectangular = "PROJ-EQUI"
    /// 180 degrees.
    case halfEquirectangular = "PROJ-HEQU"
    /// By the lens parameters of each picture.
    case parametricImmersive = "PROJ-PRIM"
  }

  public var isStereo: Bool
  public var projection: Projection

  public init(isStereo: Bool, projection: Projection = .rectilinear) {
    self.isStereo = isStereo
    self.projection = projection
  }

  /// One eye on a plane, which needs no words.
  public var isUsual: Bool { !isStereo && projection == .rectilinear }

  /// `CH-STEREO/PROJ-HEQU`; a plane is not said.
  public var text: String {
    let channels = isStereo ? "CH-STEREO" : "CH-MONO"
    return projection == .rectilinear ? channels : "\(channels)/\(projection.rawValue)"
  }
}

extension [VideoLayout] {
  /// Nothing of it needs words.
  var isUsual: Bool { allSatisfy(\.isUsual) }

  /// The value of `REQ-VIDEO-LAYOUT`: an entry for each layout that is shown by turns.
  var text: String { map(\.text).joined(separator: ",") }
}
