// SPDX-License-Identifier: MPL-2.0

/// The NAL units of one access unit and the bytes that contain them.
public struct AccessUnit: Hashable, Sendable {
  /// The bytes, including start codes or length prefixes.
  public var bytes: [UInt8]
  /// The NAL units as ranges of ``bytes``, without start codes or length prefixes.
  public var nalUnits: [Range<Int>]

  /// Creates an access unit from its parts.
  public init(bytes: [UInt8], nalUnits: [Range<Int>]) {
    self.bytes = bytes
    self.nalUnits = nalUnits
  }
}

/// Finds access unit boundaries in a sequence of NAL units with any number of layers.
///
/// A new access unit begins with the first slice segment of a base layer picture, together with the
/// delimiters, parameter sets and prefix SEI between it and the last slice segment (of any layer)
/// before it. Encoders place prefix SEI of layer 0 and parameter sets between the two layers of one
/// access unit, so the boundary rule for a single layer would split it there.
public struct AccessUnitBoundaries: Sendable {
  private var count = 0
  private var hasPicture = false
  private var start: Int?

  /// Creates a boundary finder at the start of a stream.
  public init() {}

  /// Adds the next NAL unit.
  ///
  /// - Parameters:
  ///   - header: header of the NAL unit.
  ///   - isFirstInPicture: `first_slice_segment_in_pic_flag`.
  /// - Returns: If the NAL unit shows that an access unit is complete, the number of NAL units,
  ///   counted from the previous boundary, that belong to it; otherwise nil.
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

/// Splits an Annex B byte stream that arrives in chunks of any size into access units with any
/// number of layers.
public struct AccessUnitAssembler: Sendable {
  /// An access unit exceeded the limit: the data is damaged or not H.265.
  public struct TooLarge: Error, Hashable, Sendable, CustomStringConvertible {
    /// The limit in bytes.
    public var limit: Int

    /// Message with the exceeded limits.
    public var description: String {
      "byte stream: no access unit ends within \(limit) bytes or "
        + "\(NALUnitFraming.maximumUnitCount) NAL units; is this an H.265 byte stream?"
    }
  }

  private let limit: Int
  private var assembler: ByteStreamAssembler<AccessUnitBoundaries>

  /// Creates an assembler that throws when an access unit exceeds `limit` bytes.
  public init(limit: Int = 1 << 28) {
    self.limit = limit
    assembler = ByteStreamAssembler(AccessUnitBoundaries(), limit: limit)
  }

  /// Appends the next chunk of the stream and returns the access units it completes.
  public mutating func append(_ chunk: RawSpan) throws(TooLarge) -> [AccessUnit] {
    do throws(AccessUnitLimitExceeded) {
      return try assembler.append(chunk).map(\.unit)
    } catch {
      throw TooLarge(limit: limit)
    }
  }

  /// Ends the stream and returns the remaining access units.
  public mutating func finish() -> [AccessUnit] {
    defer { self = AccessUnitAssembler(limit: limit) }
    return assembler.finish().map(\.unit)
  }
}

extension AccessUnitBoundaries: AccessUnitBoundaryFinder {
  package func accepts(_ nalUnit: RawSpan) -> Bool { NALUnitHeader(nalUnit) != nil }

  package mutating func add(_ nalUnit: RawSpan) -> Int? {
    guard let header = NALUnitHeader(nalUnit) else { return nil }
    let isFirst =
      nalUnit.byteCount > 2 && nalUnit.unsafeLoad(fromByteOffset: 2, as: UInt8.self) & 0x80 != 0
    return add(header, isFirstInPicture: isFirst)
  }
}
