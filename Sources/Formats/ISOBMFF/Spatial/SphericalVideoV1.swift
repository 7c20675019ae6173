// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Projection metadata as XML text: the `uuid` box in `trak` of Google's Spherical Video V1, and
/// the `SPHERICAL-VIDEO` tag of Matroska.
///
/// The text is kept, so that one read from a file is written back unchanged.
public struct SphericalVideoV1: Equatable, Sendable {
  /// ffcc8263-f855-4a93-8814-587a02521fdd.
  public static let userType: [UInt8] = [
    0xFF, 0xCC, 0x82, 0x63, 0xF8, 0x55, 0x4A, 0x93, 0x88, 0x14, 0x58, 0x7A, 0x02, 0x52, 0x1F, 0xDD,
  ]

  /// The text, including anything after its end.
  public let text: [UInt8]
  /// The contents of its elements, by name without `GSpherical:`; of duplicate elements, the first.
  public let values: [String: String]

  /// Larger than the text of any writer.
  private static let most = 1 << 20

  /// Parses the text; nil if it does not describe a spherical video.
  public init?(text: [UInt8]) {
    guard text.count <= Self.most else { return nil }
    self.text = text
    values = Self.elements(text)
    guard values["Spherical"]?.lowercased() == "true" || values["ProjectionType"] != nil else {
      return nil
    }
  }

  /// Parses the first box of this kind.
  public init?(_ boxes: [OpaqueBox]) {
    for box in boxes where box.type == "uuid" && box.payload.starts(with: Self.userType) {
      guard let found = Self(text: Array(box.payload.dropFirst(16))) else { continue }
      self = found
      return
    }
    return nil
  }

  /// The `uuid` box with the text.
  public var box: OpaqueBox { OpaqueBox("uuid", payload: Self.userType + text) }

  /// Returns the contents of all `<GSpherical:Name>...</` up to the first zero byte or the end,
  /// without surrounding white space. The elements do not nest, and entities are not resolved.
  private static func elements(_ text: [UInt8]) -> [String: String] {
    let prefix = Array("GSpherical:".utf8)
    let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    var values: [String: String] = [:]
    var rest = text.prefix { $0 != 0 }
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[(start + 1)...]
      guard rest.starts(with: prefix), let end = rest.firstIndex(of: UInt8(ascii: ">")) else {
        continue
      }
      let name = rest[..<end].dropFirst(prefix.count).prefix { !space.contains($0) }
      rest = rest[(end + 1)...]
      guard name.count <= 64, name.last != UInt8(ascii: "/") else { continue }
      var value = rest.prefix { $0 != UInt8(ascii: "<") }.drop { space.contains($0) }
      while let last = value.last, space.contains(last) { value = value.dropLast() }
      let key = String(decoding: name, as: UTF8.self)
      if values[key] == nil { values[key] = String(decoding: value, as: UTF8.self) }
    }
    return values
  }
}

extension SphericalVideoV1 {
  private func number(_ name: String) -> Double? {
    values[name].flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
  }

  /// The part of the sphere that one eye's picture covers; the whole sphere if the text states none
  /// or an impossible one.
  public var bounds: SphereBounds {
    guard let width = number("FullPanoWidthPixels"), let height = number("FullPanoHeightPixels"),
      let columns = number("CroppedAreaImageWidthPixels"),
      let rows = number("CroppedAreaImageHeightPixels"), let left = number("CroppedAreaLeftPixels"),
      let top = number("CroppedAreaTopPixels"), width > 0, height > 0, columns > 0, rows > 0
    else { return .full }
    return SphereBounds(
      topPart: top / height, bottomPart: (height - top - rows) / height, leftPart: left / width,
      rightPart: (width - left - columns) / width) ?? .full
  }

  /// Frame packing according to `StereoMode`; nil for `mono` and unknown modes.
  public var packing: PackingLayout? {
    switch values["StereoMode"]?.lowercased() {
    case "left-right": PackingLayout(.sideBySide)
    case "top-bottom": PackingLayout(.topBottom)
    default: nil
    }
  }

  /// The metadata in the text; nil if the projection is not equirectangular.
  public var immersiveMetadata: ImmersiveMetadata? {
    guard (values["ProjectionType"]?.lowercased() ?? "equirectangular") == "equirectangular" else {
      return nil
    }
    return ImmersiveMetadata(
      .known(.equirectangular(bounds)),
      initialView: SphereOrientation(
        yaw: number("InitialViewHeadingDegrees") ?? 0,
        pitch: number("InitialViewPitchDegrees") ?? 0,
        roll: number("InitialViewRollDegrees") ?? 0),
      packing: packing)
  }

  /// Returns the text for immersive video, and the metadata that it cannot hold; no text if it has
  /// no name for the projection.
  ///
  /// - Parameters:
  ///   - immersive: the projection and packing.
  ///   - width: width of one eye's picture in pixels.
  ///   - height: height of one eye's picture in pixels.
  ///   - software: the name of the program that creates the text.
  public static func make(
    _ immersive: ImmersiveMetadata, width: Int, height: Int, software: String
  ) -> (box: SphericalVideoV1?, losses: [ImmersiveLoss]) {
    var losses: [ImmersiveLoss] = []
    if immersive.pose != .front { losses.append(.pose(immersive.pose)) }
    guard case .known(.equirectangular(let bounds)) = immersive.projection, width > 0, height > 0
    else { return (nil, losses + [.projection(immersive.projection)]) }
    var elements = [
      ("Spherical", "true"), ("Stitched", "true"), ("StitchingSoftware", escaped(software)),
      ("ProjectionType", "equirectangular"),
    ]
    switch (immersive.packing?.arrangement, immersive.packing?.rightViewFirst) {
    case (nil, _): break
    case (.sideBySide, false): elements.append(("StereoMode", "left-right"))
    case (.topBottom, false): elements.append(("StereoMode", "top-bottom"))
    default: if let packing = immersive.packing { losses.append(.packing(packing)) }
    }
    let view = immersive.initialView
    if view != .front {
      let angles = [
        ("InitialViewHeadingDegrees", view.yaw), ("InitialViewPitchDegrees", view.pitch),
        ("InitialViewRollDegrees", view.roll),
      ]
      for (name, angle) in angles {
        guard let whole = Int(exactly: angle.rounded()) else { continue }
        elements.append((name, "\(whole)"))
        if angle != angle.rounded(), !losses.contains(.initialViewFraction(view)) {
          losses.append(.initialViewFraction(view))
        }
      }
    }
    if bounds != .full {
      let columns = (Double(width) / (1 - bounds.leftPart - bounds.rightPart)).rounded()
      let rows = (Double(height) / (1 - bounds.topPart - bounds.bottomPart)).rounded()
      guard let fullWidth = Int(exactly: columns), let fullHeight = Int(exactly: rows),
        fullWidth < 1 << 31, fullHeight < 1 << 31
      else { return (nil, losses + [.bounds(bounds)]) }
      elements += [
        ("FullPanoWidthPixels", "\(fullWidth)"), ("FullPanoHeightPixels", "\(fullHeight)"),
        ("CroppedAreaImageWidthPixels", "\(width)"), ("CroppedAreaImageHeightPixels", "\(height)"),
        ("CroppedAreaLeftPixels", "\(Int((columns * bounds.leftPart).rounded()))"),
        ("CroppedAreaTopPixels", "\(Int((rows * bounds.topPart).rounded()))"),
      ]
    }
    let text =
      "<?xml version=\"1.0\"?>"
      + "<rdf:SphericalVideo\nxmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"\n"
      + "xmlns:GSpherical=\"http://ns.google.com/videos/1.0/spherical/\">"
      + elements.map { "<GSpherical:\($0)>\($1)</GSpherical:\($0)>" }.joined()
      + "</rdf:SphericalVideo>"
    return (SphericalVideoV1(text: Array(text.utf8)), losses)
  }

  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\0": break
      default: escaped.unicodeScalars.append(scalar)
      }
    }
  }
}
