// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The display that a video was graded on: `GstVideoMasteringDisplayInfo`, the caps field
/// `mastering-display-info`. SMPTE ST 2086.
public struct MasteringDisplayInfo: Equatable, Sendable {
  /// A CIE 1931 chromaticity, in units of 0.00002.
  public struct Coordinates: Equatable, Sendable {
    public var x, y: UInt16

    public init(x: UInt16, y: UInt16) {
      self.x = x
      self.y = y
    }

    init(_ point: GstVideoMasteringDisplayInfoCoordinates) { self.init(x: point.x, y: point.y) }

    var cValue: GstVideoMasteringDisplayInfoCoordinates {
      GstVideoMasteringDisplayInfoCoordinates(x: x, y: y)
    }
  }

  public var red, green, blue, whitePoint: Coordinates
  /// In units of 0.0001 candela per square metre.
  public var maximumLuminance, minimumLuminance: UInt32

  public init(
    red: Coordinates, green: Coordinates, blue: Coordinates, whitePoint: Coordinates,
    maximumLuminance: UInt32, minimumLuminance: UInt32
  ) {
    (self.red, self.green, self.blue, self.whitePoint) = (red, green, blue, whitePoint)
    (self.maximumLuminance, self.minimumLuminance) = (maximumLuminance, minimumLuminance)
  }
}

/// How bright a video gets, in candela per square metre: `GstVideoContentLightLevel`, the caps field
/// `content-light-level`. CTA-861.3.
public struct ContentLightLevelInfo: Equatable, Sendable {
  /// Of any pixel (MaxCLL).
  public var maximumContent: UInt16
  /// Of any frame on average (MaxFALL).
  public var maximumFrameAverage: UInt16

  public init(maximumContent: UInt16, maximumFrameAverage: UInt16) {
    self.maximumContent = maximumContent
    self.maximumFrameAverage = maximumFrameAverage
  }
}

extension Caps {
  /// The field `mastering-display-info`; nil where it is missing or no such thing.
  public var masteringDisplayInfo: MasteringDisplayInfo? {
    var info = GstVideoMasteringDisplayInfo()
    guard gst_video_mastering_display_info_from_caps(&info, pointer) != 0 else { return nil }
    let (red, green, blue) = info.display_primaries
    return MasteringDisplayInfo(
      red: .init(red), green: .init(green), blue: .init(blue), whitePoint: .init(info.white_point),
      maximumLuminance: info.max_display_mastering_luminance,
      minimumLuminance: info.min_display_mastering_luminance)
  }

  /// The field `content-light-level`; nil where it is missing or no such thing.
  public var contentLightLevel: ContentLightLevelInfo? {
    var level = GstVideoContentLightLevel()
    guard gst_video_content_light_level_from_caps(&level, pointer) != 0 else { return nil }
    return ContentLightLevelInfo(
      maximumContent: level.max_content_light_level,
      maximumFrameAverage: level.max_frame_average_light_level)
  }

  /// A copy with the field `mastering-display-info`.
  public func with(_ display: MasteringDisplayInfo) -> Caps {
    var info = GstVideoMasteringDisplayInfo()
    info.display_primaries = (display.red.cValue, display.green.cValue, display.blue.cValue)
    info.white_point = display.whitePoint.cValue
    info.max_display_mastering_luminance = display.maximumLuminance
    info.min_display_mastering_luminance = display.minimumLuminance
    let copy = with()
    gst_video_mastering_display_info_add_to_caps(&info, copy.pointer)
    return copy
  }

  /// A copy with the field `content-light-level`.
  public func with(_ lightLevel: ContentLightLevelInfo) -> Caps {
    var level = GstVideoContentLightLevel()
    level.max_content_light_level = lightLevel.maximumContent
    level.max_frame_average_light_level = lightLevel.maximumFrameAverage
    let copy = with()
    gst_video_content_light_level_add_to_caps(&level, copy.pointer)
    return copy
  }
}
