// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension NamedLayout {
  /// What the name says, for people.
  var sentence: String {
    let shape: String? =
      switch projection {
      case .kind(.equirectangular): "360 degrees"
      case .kind: "180 degrees"
      case .fisheye(let degrees): "fisheye pictures of \(Quantities.decimal(degrees, 0)) degrees"
      case .equiAngularCubemap: "an equi-angular cube map"
      case nil: nil
      }
    let eyes = packing.map { layout in
      let first = layout.rightViewFirst ? "the right eye first" : "the left eye first"
      return (layout.arrangement == .topBottom ? "top and bottom, " : "side by side, ") + first
    }
    return [shape, eyes].compactMap { $0 }.joined(separator: ", ")
  }
}
