/// `mastering_display_colour_volume()`, H.265 (D.2.28): the display that the movie was graded on.
public struct MasteringDisplayColourVolume: Hashable, Sendable {
  /// A chromaticity in steps of 0.00002.
  public struct Chromaticity: Hashable, Sendable {
    /// x, 0 to 50000.
    public var x: UInt16
    /// y, 0 to 50000.
    public var y: UInt16

    /// A chromaticity of these values.
    public init(x: UInt16, y: UInt16) {
      self.x = x
      self.y = y
    }
  }

  /// Green, blue and red primary, in this order.
  public var primaries: [Chromaticity]
  /// White point.
  public var whitePoint: Chromaticity
  /// Maximum luminance in 0.0001 candela a square metre.
  public var maximumLuminance: UInt32
  /// Minimum luminance in 0.0001 candela a square metre.
  public var minimumLuminance: UInt32

  /// A volume of these values; `primaries` are green, blue, red.
  public init(
    green: Chromaticity, blue: Chromaticity, red: Chromaticity, whitePoint: Chromaticity,
    maximumLuminance: UInt32, minimumLuminance: UInt32
  ) {
    primaries = [green, blue, red]
    self.whitePoint = whitePoint
    self.maximumLuminance = maximumLuminance
    self.minimumLuminance = minimumLuminance
  }

  /// Reads the SEI payload `payload`.
  public init(payload: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(payload, structure: "mastering_display_colour_volume")
    primaries = []
    for _ in 0..<3 { primaries.append(try Chromaticity(&reader, "display_primaries")) }
    whitePoint = try Chromaticity(&reader, "white_point")
    maximumLuminance = UInt32(
      truncatingIfNeeded: try reader.u(32, "max_display_mastering_luminance"))
    minimumLuminance = UInt32(
      truncatingIfNeeded: try reader.u(32, "min_display_mastering_luminance"))
  }

  /// The SEI payload.
  public var payload: [UInt8] {
    var writer = BitWriter()
    for point in primaries + [whitePoint] {
      writer.u(Int(point.x), 16)
      writer.u(Int(point.y), 16)
    }
    writer.u(Int(maximumLuminance), 32)
    writer.u(Int(minimumLuminance), 32)
    return writer.bytes
  }
}

extension MasteringDisplayColourVolume.Chromaticity {
  init(_ reader: inout BitReader, _ element: StaticString) throws(SyntaxError) {
    x = UInt16(truncatingIfNeeded: try reader.u(16, element))
    y = UInt16(truncatingIfNeeded: try reader.u(16, element))
  }
}

/// `content_light_level_info()`, H.265 (D.2.35).
public struct ContentLightLevel: Hashable, Sendable {
  /// `max_content_light_level` in candela a square metre; 0 is unknown.
  public var maximum: UInt16
  /// `max_pic_average_light_level` in candela a square metre; 0 is unknown.
  public var maximumPictureAverage: UInt16

  /// Levels of these values.
  public init(maximum: UInt16, maximumPictureAverage: UInt16) {
    self.maximum = maximum
    self.maximumPictureAverage = maximumPictureAverage
  }

  /// Reads the SEI payload `payload`.
  public init(payload: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(payload, structure: "content_light_level_info")
    maximum = UInt16(truncatingIfNeeded: try reader.u(16, "max_content_light_level"))
    maximumPictureAverage = UInt16(
      truncatingIfNeeded: try reader.u(16, "max_pic_average_light_level"))
  }

  /// The SEI payload.
  public var payload: [UInt8] {
    var writer = BitWriter()
    writer.u(Int(maximum), 16)
    writer.u(Int(maximumPictureAverage), 16)
    return writer.bytes
  }
}
