// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

extension PackingLayout {
  /// The layout that the caps fields `multiview-mode` and `multiview-flags` name; nil where they
  /// name none that holds two eyes in a frame.
  init?(multiviewCaps caps: Caps) {
    guard let structure = caps.first else { return nil }
    let flags = structure.flagNames("multiview-flags")
    let arrangement: Arrangement
    switch structure.string("multiview-mode") {
    case "side-by-side": arrangement = .sideBySide
    case "top-bottom": arrangement = .topBottom
    default: return nil
    }
    self.init(
      arrangement, rightViewFirst: flags.contains("right-view-first"),
      halfAspect: flags.contains("half-aspect"))
  }
}

extension PackingLayout {
  /// The caps with `multiview-mode` and `multiview-flags` that say this layout.
  func adding(to caps: Caps) -> Caps {
    var flags = MultiviewFlags()
    if rightViewFirst { flags.insert(.rightViewFirst) }
    if halfAspect { flags.insert(.halfAspect) }
    let mode: MultiviewMode =
      switch arrangement {
      case .sideBySide: .sideBySide
      case .topBottom: .topBottom
      case .frameByFrame: .frameByFrame
      }
    return caps.withMultiview(mode, flags)
  }
}
