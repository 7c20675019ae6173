// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The projection of a spherical video: the `sv3d` box (Google, Spherical Video V2).
///
/// The bytes of the box are kept, so that a box read from a file is written back unchanged.
public struct SphericalVideo: Equatable, Sendable {
  /// The box in `proj` that maps pixels to directions on the sphere.
  public enum Projection: Equatable, Sendable {
    /// `equi`: the part of the full sphere's map cropped at each edge, as 0.32 fixed-point
    /// fractions of its height (top, bottom) or width (left, right).
    case equirectangular(top: UInt32, bottom: UInt32, left: UInt32, right: UInt32)
    /// `cbmp`: the layout of the cube's faces, and the padding around each in pixels.
    case cubemap(layout: UInt32, padding: UInt32)
    /// `mshp`: a mesh, which stays unparsed in the payload.
    case mesh
  }

  /// Everything after the box's header.
  public let payload: [UInt8]
  /// The program that wrote the box (`svhd`).
  public internal(set) var metadataSource: String
  /// Yaw, pitch and roll in 16.16 fixed-point degrees (`prhd`).
  public internal(set) var pose: (yaw: Int32, pitch: Int32, roll: Int32)
  /// The projection; nil if the box has none of the known ones.
  public internal(set) var projection: Projection?

  /// Creates the box for an equirectangular picture of 360 or 180 degrees; nil for other kinds,
  /// which the box has no code for.
  public init?(_ kind: ProjectionKind, metadataSource: String) {
    let edge: UInt32
    switch kind {
    case .equirectangular: edge = 0
    case .halfEquirectangular: edge = 0x4000_0000
    default: return nil
    }
    self.init(
      .equirectangular(top: 0, bottom: 0, left: edge, right: edge), pose: (0, 0, 0),
      metadataSource: metadataSource)
  }

  /// Creates the box for any part of the sphere, or for a cubemap; a mesh is not written.
  ///
  /// - Parameters:
  ///   - projection: the part of the sphere, or the layout of the cube's faces.
  ///   - pose: yaw, pitch and roll in 16.16 fixed-point degrees.
  ///   - metadataSource: the name of the program that creates the box.
  public init(
    _ projection: Projection, pose: (yaw: Int32, pitch: Int32, roll: Int32), metadataSource: String
  ) {
    self.metadataSource = metadataSource
    self.pose = pose
    self.projection = projection
    var writer = BoxWriter()
    writer.fullBox("svhd") { $0.write(cString: metadataSource) }
    writer.box("proj") { proj in
      proj.fullBox("prhd") {
        for angle in [pose.yaw, pose.pitch, pose.roll] { $0.write(angle) }
      }
      switch projection {
      case .equirectangular(let top, let bottom, let left, let right):
        proj.fullBox("equi") {
          for bound in [top, bottom, left, right] { $0.write(bound) }
        }
      case .cubemap(let layout, let padding):
        proj.fullBox("cbmp") {
          $0.write(layout)
          $0.write(padding)
        }
      case .mesh: break
      }
    }
    payload = writer.bytes
  }

  /// Compares the bytes of the boxes.
  public static func == (left: SphericalVideo, right: SphericalVideo) -> Bool {
    left.payload == right.payload
  }

  func write(to writer: inout BoxWriter) {
    writer.box("sv3d") { $0.write(payload) }
  }
}

extension SphericalVideo {
  /// Parses the content of an `sv3d` box.
  init(_ box: BoxReader) throws(ISOBMFFError) {
    payload = box.opaque.payload
    metadataSource = ""
    pose = (0, 0, 0)
    var box = box
    while var child = try box.nextBox() {
      switch child.type {
      case "svhd":
        _ = try child.readVersion()
        metadataSource = child.readCString()
      case "proj":
        try readProjection(&child)
      default:
        break
      }
    }
  }

  private mutating func readProjection(_ box: inout BoxReader) throws(ISOBMFFError) {
    while var child = try box.nextBox() {
      switch child.type {
      case "prhd":
        _ = try child.readVersion()
        pose = (
          try child.read("pose_yaw_degrees"), try child.read("pose_pitch_degrees"),
          try child.read("pose_roll_degrees")
        )
      case "equi":
        _ = try child.readVersion()
        projection = .equirectangular(
          top: try child.read("projection_bounds_top"),
          bottom: try child.read("projection_bounds_bottom"),
          left: try child.read("projection_bounds_left"),
          right: try child.read("projection_bounds_right"))
      case "cbmp":
        _ = try child.readVersion()
        projection = .cubemap(
          layout: try child.read("layout"), padding: try child.read("padding"))
      case "mshp":
        projection = .mesh
      default:
        break
      }
    }
  }
}
