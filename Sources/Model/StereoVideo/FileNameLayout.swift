// SPDX-License-Identifier: MPL-2.0

/// The layout in a file's name, as movie libraries for headsets use it: `concert_180_LR.mp4`,
/// `dive_360_TB.mp4`, `walk_FISHEYE190_SBS.mp4`.
package struct FileNameLayout: Equatable {
  package enum Projection: Equatable {
    case kind(ProjectionKind)
    /// Fisheye circles with this field of view in degrees.
    case fisheye(Double)
    case equiAngularCubemap
  }

  package var packing: PackingLayout?
  package var projection: Projection?

  /// Reads the layout from the last component of `path`.
  ///
  /// - Parameter path: a file path; words between separators are matched regardless of case.
  package init(path: String) {
    let name = path.split(separator: "/").last ?? ""
    let stem = name.dropFirst().lastIndex(of: ".").map { name[..<$0] } ?? name
    for word in stem.lowercased().split(whereSeparator: { "_-. ()[]".contains($0) }) {
      packing = packing ?? Self.packings[String(word)]
      projection = projection ?? Self.projection(String(word))
    }
  }

  private static let packings: [String: PackingLayout] = {
    let beside = ["lr", "sbs", "3dh", "fsbs"].map { ($0, PackingLayout(.sideBySide)) }
    let above = ["tb", "ou", "3dv", "overunder"].map { ($0, PackingLayout(.topBottom)) }
    let half = ["hsbs", "halfsbs"].map { ($0, PackingLayout(.sideBySide, halfAspect: true)) }
    let others = [
      ("rl", PackingLayout(.sideBySide, rightViewFirst: true)),
      ("bt", PackingLayout(.topBottom, rightViewFirst: true)),
      ("hou", PackingLayout(.topBottom, halfAspect: true)),
    ]
    return Dictionary(beside + above + half + others) { first, _ in first }
  }()

  private static func projection(_ word: String) -> Projection? {
    switch word {
    case "180", "180x180", "vr180", "dome": return .kind(.halfEquirectangular)
    case "360", "360x180", "mono360": return .kind(.equirectangular)
    case "eac", "eac360": return .equiAngularCubemap
    case "f180", "fisheye": return .fisheye(180)
    // Camera lenses that file names refer to.
    case "rf52": return .fisheye(190)
    case "mkx200": return .fisheye(200)
    case "mkx220", "vrca220": return .fisheye(220)
    default:
      guard word.hasPrefix("fisheye"), let degrees = Double(word.dropFirst(7)),
        (90...360).contains(degrees)
      else { return nil }
      return .fisheye(degrees)
    }
  }
}
