/// How bright a movie gets: the `clli` box (ISO/IEC 14496-12 12.1.6), with the fields of H.265
/// (D.2.35), in candela per square metre; 0 is not known.
public struct ContentLightLevel: Equatable, Sendable {
  /// The largest light level of any pixel (MaxCLL).
  public var maximumContentLightLevel: UInt16
  /// The largest average light level of any frame (MaxFALL).
  public var maximumFrameAverageLightLevel: UInt16

  public init(maximumContentLightLevel: UInt16, maximumFrameAverageLightLevel: UInt16) {
    self.maximumContentLightLevel = maximumContentLightLevel
    self.maximumFrameAverageLightLevel = maximumFrameAverageLightLevel
  }

  func write(to writer: inout BoxWriter) {
    writer.box("clli") {
      $0.write(maximumContentLightLevel)
      $0.write(maximumFrameAverageLightLevel)
    }
  }
}
