// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// The formats that a pad supports or carries: `GstCaps`.
public final class Caps: MiniObject, @unchecked Sendable, CustomStringConvertible {
  package var pointer: UnsafeMutablePointer<GstCaps> { cast(raw) }

  /// Takes over the caller's reference.
  package init(adopting pointer: UnsafeMutablePointer<GstCaps>) {
    super.init(adopting: cast(pointer))
  }

  /// Adds a reference.
  package convenience init(retaining pointer: UnsafeMutablePointer<GstCaps>) {
    self.init(adopting: gst_caps_ref(pointer))
  }

  /// Creates caps with one structure.
  public convenience init(_ mediaType: String, _ fields: Fields = [:]) {
    self.init(mediaType, Array(fields))
  }

  /// Creates caps with one structure.
  public convenience init(_ mediaType: String, _ fields: [(key: String, value: Value)]) {
    self.init(adopting: gst_caps_new_empty())
    append(mediaType, fields)
  }

  /// Parses caps in `gst-launch-1.0` syntax; nil if the text is invalid.
  public convenience init?(parsing description: String) {
    guard let pointer = gst_caps_from_string(description) else { return nil }
    self.init(adopting: pointer)
  }

  /// Caps that match nothing.
  public static var empty: Caps { Caps(adopting: gst_caps_new_empty()) }
  /// Caps that match everything.
  public static var any: Caps { Caps(adopting: gst_caps_new_any()) }

  /// Whether the caps match nothing.
  public var isEmpty: Bool { gst_caps_is_empty(pointer) != 0 }
  /// Whether the caps match everything.
  public var isAny: Bool { gst_caps_is_any(pointer) != 0 }
  /// Whether the caps have exactly one structure, all of whose fields have a single value.
  public var isFixed: Bool { gst_caps_is_fixed(pointer) != 0 }

  /// The structures, in order of preference.
  public var structures: [StructureView] {
    (0..<gst_caps_get_size(pointer)).compactMap { index in
      gst_caps_get_structure(pointer, index).map { StructureView(UnsafePointer($0), in: self) }
    }
  }

  /// The first structure; fixed caps have only this one.
  public var first: StructureView? { structures.first }

  /// The media type of the first structure, such as `video/x-raw`.
  public var mediaType: String? { first?.name }

  /// A description of a coding for users, such as "On2 VP9"; else the media type.
  public var codecDescription: String {
    guard !isEmpty, gst_caps_is_any(pointer) == 0,
      let fixed = gst_caps_fixate(gst_caps_copy(pointer))
    else { return mediaType ?? "" }
    defer { gst_caps_unref(fixed) }
    return adopt(gst_pb_utils_get_codec_description(fixed)) ?? mediaType ?? ""
  }

  /// Appends a structure. The caps must be writable.
  public func append(_ mediaType: String, _ fields: [(key: String, value: Value)]) {
    guard let structure = makeStructure(mediaType, fields) else { return }
    gst_caps_append_structure(pointer, structure)
  }

  /// Appends the structures of other caps. The caps must be writable.
  public func append(_ other: Caps) {
    gst_caps_append(pointer, other.retainedPointer())
  }

  /// Returns the caps that match both, in the order of these caps.
  public func intersection(_ other: Caps) -> Caps {
    Caps(adopting: gst_caps_intersect_full(pointer, other.pointer, GST_CAPS_INTERSECT_FIRST))
  }

  /// Whether some format matches both.
  public func canIntersect(_ other: Caps) -> Bool {
    gst_caps_can_intersect(pointer, other.pointer) != 0
  }

  /// Whether all formats that match these caps match `other` too.
  public func isSubset(of other: Caps) -> Bool { gst_caps_is_subset(pointer, other.pointer) != 0 }

  /// Whether both describe the same formats.
  public func isEqual(to other: Caps) -> Bool { gst_caps_is_equal(pointer, other.pointer) != 0 }

  /// Returns a copy with these fields set in every structure, and the fields `removed` removed.
  public func with(_ fields: Fields = [:], removing removed: [String] = []) -> Caps {
    let copy = Caps(adopting: gst_caps_copy(pointer))
    for index in 0..<gst_caps_get_size(copy.pointer) {
      guard let structure = gst_caps_get_structure(copy.pointer, index) else { continue }
      for field in removed { gst_structure_remove_field(structure, field) }
      for (field, value) in fields {
        value.withGValue { gst_structure_set_value(structure, field, $0) }
      }
    }
    return copy
  }

  /// Returns the first structure with a field fixed to the possible value nearest to `value`; a
  /// missing field is set to `value`.
  public func fixating(_ field: String, _ value: Value) -> Caps {
    guard !isEmpty, !isAny else { return self }
    let result = Caps(adopting: gst_caps_truncate(gst_caps_copy(pointer)))
    guard let structure = gst_caps_get_structure(result.pointer, 0) else { return result }
    guard gst_structure_has_field(structure, field) != 0 else { return result.with([field: value]) }
    switch value {
    case .int(let number): gst_structure_fixate_field_nearest_int(structure, field, number)
    case .fraction(let fraction):
      gst_structure_fixate_field_nearest_fraction(
        structure, field, fraction.numerator, fraction.denominator)
    case .string(let string): gst_structure_fixate_field_string(structure, field, string)
    default: break
    }
    return result
  }

  /// Returns the first structure with every range and list fixed to a single value.
  public func fixated() -> Caps {
    guard !isEmpty, !isAny else { return self }
    return Caps(adopting: gst_caps_fixate(gst_caps_copy(pointer)))
  }

  /// Returns the pointer with an additional reference, for a C function that takes it over.
  func retainedPointer() -> UnsafeMutablePointer<GstCaps> { gst_caps_ref(pointer) }

  /// The caps in `gst-launch-1.0` syntax.
  public var description: String { adopt(gst_caps_to_string(pointer)) ?? "" }
}

/// Codec configurations: `gst_codec_utils`.
extension Caps {
  /// Returns the caps with the H.265 profile, tier and level of a decoder configuration record
  /// (hvcC), or unchanged if the record is too short or the caps are not `video/x-h265`.
  public func withH265ProfileTierLevel(of record: [UInt8]) -> Caps {
    guard mediaType == "video/x-h265", record.count >= 13 else { return self }
    let result = with()
    let profileTierLevel = Array(record[1..<13])
    gst_codec_utils_h265_caps_set_level_tier_and_profile(
      result.pointer, profileTierLevel, guint(profileTierLevel.count))
    return result
  }

  /// Returns the caps with the H.264 profile and level of an SPS without its NAL unit header, or
  /// unchanged if it is too short or the caps are not `video/x-h264`.
  public func withH264ProfileLevel(of sps: some Sequence<UInt8>) -> Caps {
    let profileLevel = Array(sps.prefix(3))
    guard mediaType == "video/x-h264", profileLevel.count == 3 else { return self }
    let result = with()
    gst_codec_utils_h264_caps_set_level_and_profile(result.pointer, profileLevel, 3)
    return result
  }

  /// Returns the caps with the AAC profile and level of an AudioSpecificConfig (ISO/IEC 14496-3),
  /// or unchanged if the latter is too short.
  public func withAACProfileAndLevel(of configuration: [UInt8]) -> Caps {
    guard configuration.count >= 2 else { return self }
    let result = with()
    gst_codec_utils_aac_caps_set_level_and_profile(
      result.pointer, configuration, guint(clamping: configuration.count))
    return result
  }

  /// Returns the caps for an Opus identification header (RFC 7845 5.1); nil if it is invalid.
  public static func opus(header: [UInt8]) -> Caps? {
    let header = Buffer(header)
    return withExtendedLifetime(header) {
      gst_codec_utils_opus_create_caps_from_header($0.pointer, nil)
    }.map { Caps(adopting: $0) }
  }

  /// The Opus identification header (RFC 7845 5.1) for these caps; nil if they are not valid Opus
  /// caps.
  public var opusHeader: [UInt8]? {
    var (rate, channels, family, streams, coupled): (UInt32, UInt8, UInt8, UInt8, UInt8) =
      (0, 0, 0, 0, 0)
    var mapping = [UInt8](repeating: 0, count: 256)
    guard
      gst_codec_utils_opus_parse_caps(
        pointer, &rate, &channels, &family, &streams, &coupled, &mapping) != 0,
      let header = gst_codec_utils_opus_create_header(
        rate, channels, family, streams, coupled, mapping, 0, 0)
    else { return nil }
    return Buffer(adopting: header).bytes
  }
}

/// The contents of an AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1).
public struct AACConfiguration: Sendable {
  /// In Hz; nil if unknown.
  public let sampleRate: UInt32?
  /// Number of channels; nil if unknown.
  public let channelCount: UInt32?

  /// Parses an AudioSpecificConfig; what is invalid is unknown.
  public init(_ bytes: [UInt8]) {
    let length = guint(clamping: bytes.count)
    let rate = length >= 2 ? gst_codec_utils_aac_get_sample_rate(bytes, length) : 0
    let channels = length >= 2 ? gst_codec_utils_aac_get_channels(bytes, length) : 0
    sampleRate = rate > 0 ? rate : nil
    channelCount = channels > 0 ? channels : nil
  }
}

extension Fraction {
  /// Creates the standard frame rate nearest to an average frame duration; nil if none is close.
  public init?(guessedFromFrameDuration duration: ClockTime) {
    var (numerator, denominator): (Int32, Int32) = (0, 1)
    guard gst_video_guess_framerate(duration.cValue, &numerator, &denominator) != 0 else {
      return nil
    }
    self.init(numerator, denominator)
  }
}

/// The mastering display colour volume: `GstVideoMasteringDisplayInfo`, the caps field
/// `mastering-display-info`. SMPTE ST 2086.
public struct MasteringDisplayInfo: Equatable, Sendable {
  /// A CIE 1931 chromaticity, in units of 0.00002.
  public struct Coordinates: Equatable, Sendable {
    public var x, y: UInt16

    /// Creates a chromaticity, in units of 0.00002.
    public init(x: UInt16, y: UInt16) {
      self.x = x
      self.y = y
    }

    init(_ point: GstVideoMasteringDisplayInfoCoordinates) { self.init(x: point.x, y: point.y) }

    var cValue: GstVideoMasteringDisplayInfoCoordinates {
      GstVideoMasteringDisplayInfoCoordinates(x: x, y: y)
    }
  }

  /// Chromaticities of the primaries and the white point.
  public var red, green, blue, whitePoint: Coordinates
  /// In units of 0.0001 candela per square metre.
  public var maximumLuminance, minimumLuminance: UInt32

  /// Creates a description; luminances are in units of 0.0001 candela per square metre.
  public init(
    red: Coordinates, green: Coordinates, blue: Coordinates, whitePoint: Coordinates,
    maximumLuminance: UInt32, minimumLuminance: UInt32
  ) {
    (self.red, self.green, self.blue, self.whitePoint) = (red, green, blue, whitePoint)
    (self.maximumLuminance, self.minimumLuminance) = (maximumLuminance, minimumLuminance)
  }
}

/// The content light level in candela per square metre: `GstVideoContentLightLevel`, the caps field
/// `content-light-level`. CTA-861.3.
public struct ContentLightLevelInfo: Equatable, Sendable {
  /// Light level of the brightest pixel (MaxCLL).
  public var maximumContent: UInt16
  /// Highest average light level of a frame (MaxFALL).
  public var maximumFrameAverage: UInt16

  /// Creates a light level in candela per square metre.
  public init(maximumContent: UInt16, maximumFrameAverage: UInt16) {
    self.maximumContent = maximumContent
    self.maximumFrameAverage = maximumFrameAverage
  }
}

extension Caps {
  /// The field `mastering-display-info`; nil if it is missing or invalid.
  public var masteringDisplayInfo: MasteringDisplayInfo? {
    var info = GstVideoMasteringDisplayInfo()
    guard gst_video_mastering_display_info_from_caps(&info, pointer) != 0 else { return nil }
    let (red, green, blue) = info.display_primaries
    return MasteringDisplayInfo(
      red: .init(red), green: .init(green), blue: .init(blue), whitePoint: .init(info.white_point),
      maximumLuminance: info.max_display_mastering_luminance,
      minimumLuminance: info.min_display_mastering_luminance)
  }

  /// The field `content-light-level`; nil if it is missing or invalid.
  public var contentLightLevel: ContentLightLevelInfo? {
    var level = GstVideoContentLightLevel()
    guard gst_video_content_light_level_from_caps(&level, pointer) != 0 else { return nil }
    return ContentLightLevelInfo(
      maximumContent: level.max_content_light_level,
      maximumFrameAverage: level.max_frame_average_light_level)
  }

  /// Returns a copy with the field `mastering-display-info`.
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

  /// Returns a copy with the field `content-light-level`.
  public func with(_ lightLevel: ContentLightLevelInfo) -> Caps {
    var level = GstVideoContentLightLevel()
    level.max_content_light_level = lightLevel.maximumContent
    level.max_frame_average_light_level = lightLevel.maximumFrameAverage
    let copy = with()
    gst_video_content_light_level_add_to_caps(&level, copy.pointer)
    return copy
  }
}
