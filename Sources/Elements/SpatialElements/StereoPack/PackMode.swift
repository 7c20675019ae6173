// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// How `stereopack` puts two eyes together, as a property.
enum PackMode: Int32, EnumType {
  case sideBySide = 0
  case topBottom = 1
  case rowInterleaved = 2
  case frameByFrame = 3
  case left = 4
  case right = 5
  case anaglyph = 6

  static let typeName = "GstStereoPackMode"

  var names: (nick: String, description: String) {
    switch self {
    case .sideBySide: ("side-by-side", "The eyes beside each other")
    case .topBottom: ("top-bottom", "The eyes above each other")
    case .rowInterleaved: ("row-interleaved", "The eyes' rows in turn")
    case .frameByFrame: ("frame-by-frame", "The eyes' frames in turn, at twice the rate")
    case .left: ("left", "The left eye alone")
    case .right: ("right", "The right eye alone")
    case .anaglyph: ("anaglyph", "Both eyes in one picture, for glasses with two colours")
    }
  }

  /// nil for modes that do not put both eyes' pixels into one frame as they are.
  func packing(half: Bool) -> PlanePacking? {
    switch self {
    case .sideBySide: .sideBySide(half: half)
    case .topBottom: .topBottom(half: half)
    case .rowInterleaved: .rowInterleaved(half: half)
    case .frameByFrame, .left, .right, .anaglyph: nil
    }
  }

  /// The caps field `multiview-mode` of the output.
  var multiviewMode: MultiviewMode {
    switch self {
    case .sideBySide: .sideBySide
    case .topBottom: .topBottom
    case .rowInterleaved: .rowInterleaved
    case .frameByFrame: .frameByFrame
    case .left, .right, .anaglyph: .mono
    }
  }
}

/// The colours of an anaglyph, as a property.
enum AnaglyphChoice: Int32, EnumType {
  case redCyanDubois = 0
  case greenMagentaDubois = 1
  case amberBlueDubois = 2
  case redCyanColor = 3
  case redCyanHalfColor = 4
  case redCyanGray = 5

  static let typeName = "GstStereoPackAnaglyph"

  var method: Anaglyph.Method {
    switch self {
    case .redCyanDubois: .redCyanDubois
    case .greenMagentaDubois: .greenMagentaDubois
    case .amberBlueDubois: .amberBlueDubois
    case .redCyanColor: .redCyanColor
    case .redCyanHalfColor: .redCyanHalfColor
    case .redCyanGray: .redCyanGray
    }
  }

  var names: (nick: String, description: String) {
    let description =
      switch self {
      case .redCyanDubois: "Red and cyan, least squares (Dubois)"
      case .greenMagentaDubois: "Green and magenta, least squares (Dubois)"
      case .amberBlueDubois: "Amber and blue, least squares (Dubois)"
      case .redCyanColor: "Red of the left eye, green and blue of the right one"
      case .redCyanHalfColor: "The left eye in grey, the right one in its colours"
      case .redCyanGray: "Both eyes in grey"
      }
    return (method.rawValue, description)
  }
}
