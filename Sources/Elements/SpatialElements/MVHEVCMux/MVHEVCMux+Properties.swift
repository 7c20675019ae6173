// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// Which kind of file is written, as a property.
enum ContainerChoice: Int32, EnumType {
  case quickTime = 0
  case mp4 = 1
  case cmaf = 2

  static let typeName = "GstMVHEVCMuxContainer"

  var names: (nick: String, description: String) {
    switch self {
    case .quickTime: ("mov", "QuickTime")
    case .mp4: ("mp4", "MP4")
    case .cmaf: ("cmaf", "CMAF: fragments of one track, for HLS and DASH")
    }
  }

  var container: MovieContainer { self == .quickTime ? .quickTime : .mp4 }

  /// What the source pad says of the file.
  var caps: Caps {
    self == .quickTime
      ? Caps("video/quicktime", ["variant": "apple"])
      : Caps("video/quicktime", ["variant": "iso"])
  }
}

extension MVHEVCMux {
  /// What the movie says; the encoder's properties come from `EncoderSettings`.
  static var movieProperties: [Property<MVHEVCMux>] {
    [
      .choice(
        "container", nick: "Container", blurb: "The kind of file to write", default: .quickTime,
        at: \.container),
      .choice(
        "hero-eye", nick: "Hero eye",
        blurb: "The eye in the base layer, which players for one eye show "
          + "(none = by tag stereo-hero-eye, else left)",
        default: .none, at: \.spatial.heroEye),
      .double(
        "horizontal-field-of-view", nick: "Horizontal field of view",
        blurb: "What one eye's picture covers horizontally, in degrees "
          + "(0 = by tag stereo-horizontal-field-of-view, else what the projection has, or 63.4)",
        in: 0...360, default: 0, at: \.spatial.horizontalFieldOfView),
      .double(
        "baseline", nick: "Baseline",
        blurb: "The distance between the two lenses' centres, in millimetres "
          + "(0 = by tag stereo-baseline, else 63.5 for flat pictures)",
        in: 0...100_000, default: 0, at: \.spatial.baseline),
      .double(
        "disparity-adjustment", nick: "Disparity adjustment",
        blurb: "The shift of the two pictures against each other, in picture widths "
          + "(not set = by tag stereo-disparity-adjustment, else 0 for flat pictures)",
        in: -1...1, default: 0, at: \.spatial.disparityAdjustment),
      .choice(
        "projection", nick: "Projection",
        blurb: "How the picture maps onto the viewer's surroundings "
          + "(none = by tag stereo-projection, else rectilinear)",
        default: .none, at: \.spatial.projection),
    ]
  }
}
