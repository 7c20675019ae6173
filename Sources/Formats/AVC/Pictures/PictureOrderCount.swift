// SPDX-License-Identifier: MPL-2.0

/// The picture order counts of one view, H.264 (8.2.1).
///
/// Arithmetic wraps, and counts are cut to 32 bits, which is the range that the standard allows.
struct PictureOrderCounter: Sendable {
  /// prevPicOrderCntMsb and prevPicOrderCntLsb
  private var previous = (msb: 0, lsb: 0)
  /// prevFrameNum and prevFrameNumOffset
  private var previousFrame = (number: 0, offset: 0)
  private var msb = 0
  private var offset = 0

  /// Prepares for a stream that begins with a picture that is no IDR picture.
  mutating func start(_ slice: SliceHeader) {
    previous = (0, slice.identity.orderCountLSB)
    previousFrame = (slice.frameNum, 0)
  }

  /// Returns TopFieldOrderCnt and BottomFieldOrderCnt of the picture with this slice; for a field,
  /// both are its own.
  mutating func counts(_ slice: SliceHeader) -> FieldPair<Int> {
    let counts =
      switch slice.sets.sps.orderCount {
      case .sent(let bits): sent(slice, size: 1 << bits)
      case .cycle(let cycle): expected(slice, cycle)
      case .decodingOrder: inDecodingOrder(slice)
      }
    func cut(_ count: Int) -> Int { Int(Int32(truncatingIfNeeded: count)) }
    return FieldPair(cut(counts.top), cut(counts.bottom))
  }

  /// Ends the picture.
  ///
  /// - Parameter resetTop: if operation 5 removed all references, TopFieldOrderCnt afterwards, or 0
  ///   for a bottom field.
  mutating func finish(_ slice: SliceHeader, resetTop: Int?) {
    if let resetTop {
      previous = (0, resetTop)
      previousFrame = (0, 0)
      return
    }
    if slice.isReference { previous = (msb, slice.identity.orderCountLSB) }
    previousFrame = (slice.frameNum, offset)
  }

  /// 8.2.1.1
  private mutating func sent(_ slice: SliceHeader, size: Int) -> FieldPair<Int> {
    if slice.isIDR { previous = (0, 0) }
    let lsb = slice.identity.orderCountLSB
    msb = previous.msb
    if lsb < previous.lsb, previous.lsb - lsb >= size / 2 {
      msb &+= size
    } else if lsb > previous.lsb, lsb - previous.lsb > size / 2 {
      msb &-= size
    }
    let top = msb &+ lsb
    return FieldPair(top, top &+ slice.identity.deltaBottom)
  }

  /// Determines FrameNumOffset.
  private mutating func advance(_ slice: SliceHeader) {
    if slice.isIDR {
      offset = 0
    } else {
      let hasWrapped = previousFrame.number > slice.frameNum
      offset = previousFrame.offset &+ (hasWrapped ? 1 << slice.sets.sps.log2MaxFrameNum : 0)
    }
  }

  /// 8.2.1.2
  private mutating func expected(
    _ slice: SliceHeader, _ cycle: PictureOrderCountSyntax.Cycle
  ) -> FieldPair<Int> {
    advance(slice)
    var frame = cycle.offsets.isEmpty ? 0 : offset &+ slice.frameNum
    if !slice.isReference, frame > 0 { frame -= 1 }
    var count = 0
    if frame > 0 {
      let (rounds, position) = (frame - 1).quotientAndRemainder(dividingBy: cycle.offsets.count)
      count = rounds &* cycle.offsets.reduce(0, &+)
      count &+= cycle.offsets.prefix(position + 1).reduce(0, &+)
    }
    if !slice.isReference { count &+= cycle.offsetForNonReference }
    let top = count &+ slice.identity.delta0
    let bottom = top &+ cycle.offsetTopToBottom
    return FieldPair(top, slice.structure.isField ? bottom : bottom &+ slice.identity.delta1)
  }

  /// 8.2.1.3
  private mutating func inDecodingOrder(_ slice: SliceHeader) -> FieldPair<Int> {
    advance(slice)
    if slice.isIDR { return FieldPair(0, 0) }
    let count = 2 &* (offset &+ slice.frameNum) &- (slice.isReference ? 0 : 1)
    return FieldPair(count, count)
  }
}
