// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

// What is known of high dynamic range, in the caps' words and in the model's.

extension MasteringDisplayColourVolume {
  /// The caps field `mastering-display-info`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    guard let info = caps.masteringDisplayInfo else { return nil }
    func point(_ point: MasteringDisplayInfo.Coordinates) -> Chromaticity {
      Chromaticity(x: point.x, y: point.y)
    }
    self.init(
      green: point(info.green), blue: point(info.blue), red: point(info.red),
      whitePoint: point(info.whitePoint), maximumLuminance: info.maximumLuminance,
      minimumLuminance: info.minimumLuminance)
  }

  /// The caps with it.
  func adding(to caps: Caps) -> Caps {
    func point(_ point: Chromaticity) -> MasteringDisplayInfo.Coordinates {
      .init(x: point.x, y: point.y)
    }
    return caps.with(
      MasteringDisplayInfo(
        red: point(red), green: point(green), blue: point(blue), whitePoint: point(whitePoint),
        maximumLuminance: maximumLuminance, minimumLuminance: minimumLuminance))
  }
}

extension ContentLightLevel {
  /// The caps field `content-light-level`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    guard let info = caps.contentLightLevel else { return nil }
    self.init(maximum: info.maximumContent, maximumFrameAverage: info.maximumFrameAverage)
  }

  /// The caps with it.
  func adding(to caps: Caps) -> Caps {
    caps.with(
      ContentLightLevelInfo(maximumContent: maximum, maximumFrameAverage: maximumFrameAverage))
  }
}
