// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// How a picture covers the sphere, as text: the `uuid` box of Google's Spherical Video V1, which
/// stands in `trak`, and the `SPHERICAL-VIDEO` tag of Matroska.
///
/// The text is kept as it is, so that one read from a file is written back unchanged.
public struct SphericalVideoV1: Equatable, Sendable {
  /// ffcc8263-f855-4a93-8814-587a02521fdd.
  public static let userType: [UInt8] = [
    0xFF, 0xCC, 0x82, 0x63, 0xF8, 0x55, 0x4A, 0x93, 0x88, 0x14, 0x58, 0x7A, 0x02, 0x52, 0x1F, 0xDD,
  ]

  /// The text, with whatever stands behind it.
  public let text: [UInt8]
  /// What its elements say, by their names without `GSpherical:`; of elements that come twice, the
  /// first.
  public let values: [String: String]

  /// More than any writer's text.
  private static let most = 1 << 20

  /// Reads the text; nil where it does not say that the picture is a sphere's.
  public init?(text: [UInt8]) {
    guard text.count <= Self.most else { return nil }
    self.text = text
    values = Self.elements(text)
    guard values["Spherical"]?.lowercased() == "true" || values["ProjectionType"] != nil else {
      return nil
    }
  }

  /// The first box of this kind.
  public init?(_ boxes: [OpaqueBox]) {
    for box in boxes where box.type == "uuid" && box.payload.starts(with: Self.userType) {
      guard let found = Self(text: Array(box.payload.dropFirst(16))) else { continue }
      self = found
      return
    }
    return nil
  }

  public var box: OpaqueBox { OpaqueBox("uuid", payload: Self.userType + text) }

  /// The contents of `<GSpherical:Name>...</` up to the end or the first zero, without white space
  /// around them. Nothing nests in these elements, and entities stay as they are.
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

  /// Which part of one eye's sphere is there; the whole where the text does not say or says what
  /// cannot be.
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

  /// `StereoMode`; nil for `mono` and for what is not known.
  public var packing: PackingLayout? {
    switch values["StereoMode"]?.lowercased() {
    case "left-right": PackingLayout(.sideBySide)
    case "top-bottom": PackingLayout(.topBottom)
    default: nil
    }
  }

  /// What the text says; nil where the projection is no equirectangular one.
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

  /// The text for an immersive movie, and what it has no place for; none where it has no name for
  /// the projection.
  ///
  /// - Parameters:
  ///   - immersive: how the picture surrounds the viewer.
  ///   - width: of one eye's picture, in pixels.
  ///   - height: of one eye's picture, in pixels.
  ///   - software: the program that says so.
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
