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
  private var buffer: [UInt8] = []
  private var boundaries = AccessUnitBoundaries()
  /// The NAL units of the access unit being assembled.
  private var units: [Range<Int>] = []
  /// Start of the NAL unit whose end has not been found yet.
  private var unitStart: Int?
  private var scanned = 0

  /// Creates an assembler that throws when an access unit exceeds `limit` bytes.
  public init(limit: Int = 1 << 28) { self.limit = limit }

  /// Appends the next chunk of the stream and returns the access units it completes.
  public mutating func append(_ chunk: RawSpan) throws(TooLarge) -> [AccessUnit] {
    chunk.withUnsafeBytes { buffer.append(contentsOf: $0) }
    var complete: [AccessUnit] = []
    var consumed = 0
    while let code = AnnexB.startCode(in: buffer.span.bytes, from: scanned) {
      endUnit(at: code, &complete, &consumed)
      unitStart = code + 3
      scanned = code + 3
      guard units.count <= NALUnitFraming.maximumUnitCount else { throw TooLarge(limit: limit) }
    }
    // The last two bytes may be the beginning of a start code.
    scanned = max(scanned, buffer.count - 2)
    if unitStart == nil { consumed = max(scanned - 1, 0) }
    discard(consumed)
    guard buffer.count <= limit else { throw TooLarge(limit: limit) }
    return complete
  }

  /// Ends the stream and returns the remaining access units.
  public mutating func finish() -> [AccessUnit] {
    var complete: [AccessUnit] = []
    var consumed = 0
    endUnit(at: buffer.count, &complete, &consumed)
    if !units.isEmpty { complete.append(cut(units, from: consumed, to: buffer.count)) }
    self = AccessUnitAssembler(limit: limit)
    return complete
  }

  private mutating func endUnit(
    at end: Int, _ complete: inout [AccessUnit], _ consumed: inout Int
  ) {
    guard let begin = unitStart else {
      consumed = startCode(before: end + 3)
      return
    }
    unitStart = nil
    let range = begin..<AnnexB.endOfNALUnit(in: buffer.span.bytes, begin..<end)
    guard let header = NALUnitHeader(buffer.span.bytes.extracting(range)) else { return }
    let isFirst = range.count > 2 && buffer[begin + 2] & 0x80 != 0
    if let count = boundaries.add(header, isFirstInPicture: isFirst) {
      let next = count < units.count ? units[count] : range
      let boundary = startCode(before: next.lowerBound)
      complete.append(cut(Array(units.prefix(count)), from: consumed, to: boundary))
      consumed = boundary
      units.removeFirst(min(count, units.count))
    }
    units.append(range)
  }

  /// Offset of the start code, including `zero_byte`, of the NAL unit at `unit`.
  private func startCode(before unit: Int) -> Int {
    unit >= 4 && unit - 4 < buffer.count && buffer[unit - 4] == 0 ? unit - 4 : unit - 3
  }

  private func cut(_ ranges: [Range<Int>], from begin: Int, to end: Int) -> AccessUnit {
    AccessUnit(
      bytes: Array(buffer[begin..<end]),
      nalUnits: ranges.map { $0.lowerBound - begin..<$0.upperBound - begin })
  }

  private mutating func discard(_ count: Int) {
    guard count > 0 else { return }
    buffer.removeFirst(count)
    scanned -= count
    unitStart = unitStart.map { $0 - count }
    units = units.map { $0.lowerBound - count..<$0.upperBound - count }
  }
}
