// SPDX-License-Identifier: MPL-2.0

/// The NAL units of one access unit, and the bytes that they are in.
public struct AccessUnit: Hashable, Sendable {
  /// The bytes, framing included.
  public var bytes: [UInt8]
  /// The NAL units, as ranges of ``bytes`` without framing.
  public var nalUnits: [Range<Int>]

  /// An access unit of these parts.
  public init(bytes: [UInt8], nalUnits: [Range<Int>]) {
    self.bytes = bytes
    self.nalUnits = nalUnits
  }
}

/// Finds where access units begin in a row of NAL units, of any number of layers.
///
/// A new access unit begins with the first slice segment of a base picture, and with those
/// delimiters, parameter sets and prefix SEI that lie between the last slice segment before it, of
/// whatever layer, and it. Encoders put prefix SEI of layer 0, and parameter sets, between the two
/// layers of one access unit; a rule for one layer would cut there.
public struct AccessUnitBoundaries: Sendable {
  private var count = 0
  private var hasPicture = false
  private var start: Int?

  /// Boundaries of a stream at its beginning.
  public init() {}

  /// Takes the next NAL unit.
  ///
  /// - Parameters:
  ///   - header: that of the NAL unit.
  ///   - isFirstInPicture: `first_slice_segment_in_pic_flag`.
  /// - Returns: where the NAL unit shows that an access unit is complete, how many of the NAL
  ///   units given since the last one belong to it; else nil.
  public mutating func add(_ header: NALUnitHeader, isFirstInPicture: Bool) -> Int? {
    defer { count += 1 }
    guard header.type.isVCL else {
      if header.type.beginsAccessUnit, start == nil { start = count }
      return nil
    }
    let begin = start ?? count
    start = nil
    guard hasPicture, header.layerID == 0, isFirstInPicture else {
      hasPicture = true
      return nil
    }
    count -= begin
    return begin
  }
}
