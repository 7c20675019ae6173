// SPDX-License-Identifier: MPL-2.0

internal import HEVC

/// How the buffers of an elementary stream are cut.
public enum MVCAlignment: Sendable {
  /// Anywhere; only byte streams can be.
  case none
  /// Each buffer has whole NAL units, GStreamer's `alignment=nal`.
  case nalUnit
  /// Each buffer has whole access units, or the part of one view, GStreamer's `alignment=au`. The
  /// delimiters before a picture may be in the buffer before it.
  case accessUnit
}

/// Assembles the access units of one elementary stream from buffers of any alignment, each with the
/// stamp of the buffer in which it begins.
struct StreamAssembler<Stamp: Sendable>: Sendable {
  /// An access unit with its stamp.
  struct StampedUnit: Sendable {
    var unit: AccessUnit
    var stamp: Stamp
    /// Whether it is the first access unit that begins in its buffer, which the times of the buffer
    /// belong to.
    var isFirst: Bool
  }

  private let framing: NALUnitFraming
  private let limit: Int
  private var assembler: ByteStreamAssembler<AccessUnitBoundaries>
  /// The stamps of the buffers whose bytes may begin an access unit, by the position of their first
  /// byte.
  private var stamps: [(position: Int, stamp: Stamp, isUsed: Bool)] = []

  /// Creates an assembler for the elementary stream that begins with `view`.
  ///
  /// - Parameter limit: maximum size of an access unit in bytes.
  init(_ view: MVCView, framing: NALUnitFraming, limit: Int) {
    self.framing = framing
    self.limit = limit
    assembler = ByteStreamAssembler(AccessUnitBoundaries(view), limit: limit)
  }

  /// Adds a parameter set from outside the stream.
  mutating func add(parameterSet: [UInt8]) {
    assembler.boundaries.add(parameterSet: parameterSet.span.bytes)
  }

  /// Appends a buffer and returns the access units it completes.
  ///
  /// - Parameters:
  ///   - bytes: bytes of the stream.
  ///   - alignment: how they are cut.
  /// - Throws: ``MVCError/budgetExceeded(limit:)`` or ``MVCError/lengths(_:)``; the access unit
  ///   being assembled is lost.
  mutating func append(
    _ bytes: RawSpan, _ alignment: MVCAlignment, stamp: Stamp
  ) throws(MVCError) -> [StampedUnit] {
    if stamps.last?.position == assembler.byteCount { stamps.removeLast() }
    stamps.append((assembler.byteCount, stamp, false))
    var cuts: [ByteStreamAssembler<AccessUnitBoundaries>.Cut]
    if framing == .annexB {
      cuts = try append(bytes)
    } else {
      let stream = try byteStream(bytes)
      cuts = try append(stream.span.bytes)
    }
    if alignment != .none || framing != .annexB { cuts += assembler.endNALUnit() }
    if alignment == .accessUnit, let count = assembler.boundaries.completed(),
      let cut = assembler.take(count)
    {
      cuts.append(cut)
    }
    return stamped(cuts)
  }

  /// Ends the stream and returns the remaining access units.
  mutating func finish() -> [StampedUnit] {
    let units = stamped(assembler.finish())
    reset()
    return units
  }

  /// Discards what has been appended, but not the parameter sets.
  mutating func reset() {
    assembler.removeAll()
    assembler.boundaries.reset()
    stamps = []
  }

  private mutating func append(
    _ bytes: RawSpan
  ) throws(MVCError) -> [ByteStreamAssembler<AccessUnitBoundaries>.Cut] {
    do throws(AccessUnitLimitExceeded) {
      return try assembler.append(bytes)
    } catch {
      reset()
      throw .budgetExceeded(limit: limit)
    }
  }

  /// Returns NAL units with length prefixes as a byte stream.
  private func byteStream(_ bytes: RawSpan) throws(MVCError) -> [UInt8] {
    let ranges: [Range<Int>]
    do throws(LengthPrefixed.Malformed) {
      ranges = try framing.nalUnits(in: bytes)
    } catch {
      throw .lengths("\(error)")
    }
    var stream: [UInt8] = []
    stream.reserveCapacity(bytes.byteCount + 4 * ranges.count)
    for range in ranges {
      stream += [0, 0, 0, 1]
      bytes.extracting(range).withUnsafeBytes { stream.append(contentsOf: $0) }
    }
    return stream
  }

  /// Returns the access units with the stamps of the buffers in which their first slices begin,
  /// since delimiters may end the buffer before, and drops older stamps.
  private mutating func stamped(
    _ cuts: [ByteStreamAssembler<AccessUnitBoundaries>.Cut]
  ) -> [StampedUnit] {
    cuts.map { unit, position in
      let first = position + (firstSlice(unit) ?? 0)
      let index = stamps.lastIndex { $0.position <= first } ?? 0
      stamps.removeFirst(index)
      defer { stamps[0].isUsed = true }
      return StampedUnit(unit: unit, stamp: stamps[0].stamp, isFirst: !stamps[0].isUsed)
    }
  }

  private func firstSlice(_ unit: AccessUnit) -> Int? {
    unit.nalUnits.first { range in
      guard let header = NALUnitHeader(unit.bytes.span.bytes.extracting(range)) else {
        return false
      }
      return header.type.isBaseSlice || header.type == .sliceExtension
    }?.lowerBound
  }
}
