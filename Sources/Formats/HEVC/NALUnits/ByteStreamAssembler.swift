// SPDX-License-Identifier: MPL-2.0

/// Finds where access units begin in a sequence of NAL units.
package protocol AccessUnitBoundaryFinder: Sendable {
  /// Whether the header of a NAL unit is readable; a NAL unit without is dropped.
  func accepts(_ nalUnit: RawSpan) -> Bool

  /// Adds the next NAL unit.
  ///
  /// - Returns: If the NAL unit shows that an access unit is complete, the number of NAL units,
  ///   counted from the previous boundary, that belong to it; otherwise nil.
  mutating func add(_ nalUnit: RawSpan) -> Int?
}

/// An access unit exceeded a ``ByteStreamAssembler``'s limit in bytes, or
/// ``NALUnitFraming/maximumUnitCount``.
package struct AccessUnitLimitExceeded: Error {}

/// Splits an Annex B byte stream that arrives in chunks of any size into access units.
package struct ByteStreamAssembler<Boundaries: AccessUnitBoundaryFinder>: Sendable {
  /// An access unit and the position of its first byte, counted from the start of the stream.
  package typealias Cut = (unit: AccessUnit, position: Int)

  /// The rule for boundaries, with its state.
  package var boundaries: Boundaries
  /// Number of bytes appended so far.
  package var byteCount: Int { bufferStart + buffer.count }

  private let limit: Int
  private var buffer: [UInt8] = []
  /// Position of the start of `buffer` in the stream.
  private var bufferStart = 0
  /// The NAL units of the access unit being assembled.
  private var units: [Range<Int>] = []
  /// Start of the NAL unit whose end has not been found yet.
  private var unitStart: Int?
  private var scanned = 0

  /// Creates an assembler that throws when an access unit exceeds `limit` bytes.
  package init(_ boundaries: Boundaries, limit: Int) {
    self.boundaries = boundaries
    self.limit = limit
  }

  /// Appends the next chunk of the stream and returns the access units it completes.
  package mutating func append(_ chunk: RawSpan) throws(AccessUnitLimitExceeded) -> [Cut] {
    chunk.withUnsafeBytes { buffer.append(contentsOf: $0) }
    var complete: [Cut] = []
    var consumed = 0
    while let code = AnnexB.startCode(in: buffer.span.bytes, from: scanned) {
      endUnit(at: code, &complete, &consumed)
      unitStart = code + 3
      scanned = code + 3
      guard units.count <= NALUnitFraming.maximumUnitCount else { throw AccessUnitLimitExceeded() }
    }
    // The last two bytes may be the beginning of a start code.
    scanned = max(scanned, buffer.count - 2)
    if unitStart == nil, units.isEmpty { consumed = max(scanned - 1, consumed) }
    discard(consumed)
    guard buffer.count <= limit else { throw AccessUnitLimitExceeded() }
    return complete
  }

  /// Ends the current NAL unit, as the end of a chunk of whole NAL units does, and returns the
  /// access unit that this completes.
  package mutating func endNALUnit() -> [Cut] {
    var complete: [Cut] = []
    var consumed = 0
    if unitStart != nil { endUnit(at: buffer.count, &complete, &consumed) }
    scanned = buffer.count
    discard(consumed)
    return complete
  }

  /// Returns the first `count` NAL units of the access unit being assembled as a complete one.
  package mutating func take(_ count: Int) -> Cut? {
    guard count > 0, count <= units.count else { return nil }
    let end = count < units.count ? startCode(before: units[count].lowerBound) : buffer.count
    let cut = cut(Array(units.prefix(count)), from: 0, to: end)
    units.removeFirst(count)
    discard(end)
    return cut
  }

  /// Ends the stream and returns the remaining access units.
  package mutating func finish() -> [Cut] {
    var complete: [Cut] = []
    var consumed = 0
    endUnit(at: buffer.count, &complete, &consumed)
    if !units.isEmpty { complete.append(cut(units, from: consumed, to: buffer.count)) }
    removeAll()
    return complete
  }

  /// Discards everything that was appended.
  package mutating func removeAll() {
    bufferStart = byteCount
    (buffer, units, unitStart, scanned) = ([], [], nil, 0)
  }

  private mutating func endUnit(
    at end: Int, _ complete: inout [Cut], _ consumed: inout Int
  ) {
    guard let begin = unitStart else {
      if units.isEmpty { consumed = startCode(before: end + 3) }
      return
    }
    unitStart = nil
    let range = begin..<AnnexB.endOfNALUnit(in: buffer.span.bytes, begin..<end)
    // A span of the property itself would keep all of `self` from being changed.
    let bytes = buffer
    guard boundaries.accepts(bytes.span.bytes.extracting(range)) else { return }
    if let count = boundaries.add(bytes.span.bytes.extracting(range)) {
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

  private func cut(_ ranges: [Range<Int>], from begin: Int, to end: Int) -> Cut {
    (
      AccessUnit(
        bytes: Array(buffer[begin..<end]),
        nalUnits: ranges.map { $0.lowerBound - begin..<$0.upperBound - begin }),
      bufferStart + begin
    )
  }

  private mutating func discard(_ count: Int) {
    guard count > 0 else { return }
    buffer.removeFirst(count)
    bufferStart += count
    scanned -= count
    unitStart = unitStart.map { $0 - count }
    units = units.map { $0.lowerBound - count..<$0.upperBound - count }
  }
}
