// SPDX-License-Identifier: MPL-2.0

internal import HEVC

/// Finds access unit boundaries in a stream of both views, or of one, H.264 (7.4.1.2.3, 7.4.1.2.4).
///
/// A new access unit begins with the first slice of a picture of the stream's first view, together
/// with the delimiters, parameter sets, SEI and prefix NAL units between it and the last slice (of
/// any view) before it. Discs and cameras place delimiters and parameter sets of the dependent view
/// after the base picture, so the rule for a single view would split the access unit there.
struct AccessUnitBoundaries: AccessUnitBoundaryFinder {
  /// The view whose pictures begin access units.
  private let view: MVCView
  private var sets = ParameterSetStore()
  private var count = 0
  /// Number of the first NAL unit that may belong to the next access unit.
  private var start: Int?
  /// The last slice of the first view; nil at the start and after a slice that is unreadable.
  private var last: (identity: PictureIdentity?, firstMB: Int)?
  private var hasPicture = false
  private var hasDependentPicture = false

  /// Creates a boundary finder for the elementary stream that begins with `view`.
  init(_ view: MVCView) { self.view = view }

  func accepts(_ nalUnit: RawSpan) -> Bool { NALUnitHeader(nalUnit) != nil }

  mutating func add(_ nalUnit: RawSpan) -> Int? {
    guard let header = NALUnitHeader(nalUnit) else { return nil }
    defer { count += 1 }
    let isFirstView = view == .base ? header.type.isBaseSlice : header.type == .sliceExtension
    guard isFirstView || header.type == .sliceExtension else {
      if header.type.isParameterSet { try? sets.add(nalUnit) }
      if header.type.beginsAccessUnit, start == nil { start = count }
      return nil
    }
    let begin = start ?? count
    start = nil
    guard isFirstView else {
      hasDependentPicture = true
      return nil
    }
    let isNew = beginsPicture(nalUnit)
    // A dependent picture before the first base picture belongs to no access unit.
    guard isNew, hasPicture || hasDependentPicture else {
      hasPicture = true
      return nil
    }
    (hasPicture, hasDependentPicture) = (true, false)
    count -= begin
    return begin
  }

  /// Number of NAL units of a complete access unit, if both views' pictures have come and the input
  /// is known to be at an end of an access unit; otherwise nil. A prefix NAL unit at the end
  /// belongs to the next access unit.
  mutating func completed() -> Int? {
    guard hasPicture, hasDependentPicture else { return nil }
    let end = start ?? count
    count -= end
    start = start.map { _ in 0 }
    (hasPicture, hasDependentPicture, last) = (false, false, nil)
    return end
  }

  /// Forgets the slices before a discontinuity, but not the parameter sets.
  mutating func reset() {
    var fresh = Self(view)
    fresh.sets = sets
    self = fresh
  }

  /// Adds a parameter set from outside the stream.
  mutating func add(parameterSet nalUnit: RawSpan) { try? sets.add(nalUnit) }

  /// Whether this slice is the first one of a picture.
  private mutating func beginsPicture(_ nalUnit: RawSpan) -> Bool {
    let before = last
    guard let slice = try? SliceHeader(nalUnit: nalUnit, store: &sets) else {
      // Without its parameter sets, only first_mb_in_slice is readable: 0 is written as a 1 bit.
      let size = NALUnitHeader(nalUnit)?.byteCount ?? 1
      let isFirst =
        nalUnit.byteCount > size
        && nalUnit.unsafeLoad(fromByteOffset: size, as: UInt8.self) & 0x80 != 0
      last = (nil, 0)
      return before == nil || isFirst
    }
    if slice.isRedundant { return false }
    last = (slice.identity, slice.firstMB)
    guard let before, let identity = before.identity else {
      return before == nil || slice.firstMB == 0
    }
    return identity != slice.identity || slice.firstMB <= before.firstMB
  }
}
