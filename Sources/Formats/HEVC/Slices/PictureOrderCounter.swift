// SPDX-License-Identifier: MPL-2.0

/// Derives PicOrderCntVal of the pictures of one layer in decoding order, H.265 (8.3.1, F.8.3.1).
public struct PictureOrderCounter: Sendable {
  private var previousTID0POC = 0
  private var isFirstInSequence = true

  /// A counter at the start of a stream.
  public init() {}

  /// Whether the next IRAP picture begins a coded video sequence whatever its type: nothing, or an
  /// end of sequence NAL unit, is in front of it.
  public var isAtSequenceStart: Bool { isFirstInSequence }

  /// Says that the next picture follows an end of sequence NAL unit.
  public mutating func endSequence() { isFirstInSequence = true }

  /// PicOrderCntVal of the next picture.
  ///
  /// - Parameters:
  ///   - header: that of its slice segments.
  ///   - lsb: `slice_pic_order_cnt_lsb`; 0 where not sent.
  ///   - log2MaxLSB: its size in bits, 4 to 16.
  ///   - isReset: whether the picture begins a coded video sequence though its own type does not
  ///     say so: that of a dependent layer, where the base layer's picture begins one.
  ///   - msbCycle: `poc_msb_cycle_val`; nil where not sent.
  public mutating func next(
    _ header: NALUnitHeader, lsb: Int, log2MaxLSB: Int, isReset: Bool = false, msbCycle: Int? = nil
  ) -> Int {
    let size = 1 << log2MaxLSB
    let type = header.type
    var msb = 0
    if let msbCycle {
      msb = msbCycle &* size
    } else if !type.isIDR, !type.isBLA, !(type.isIRAP && isFirstInSequence), !isReset {
      let previousLSB = previousTID0POC & (size - 1)
      msb = previousTID0POC &- previousLSB
      if lsb < previousLSB, previousLSB - lsb >= size / 2 {
        msb &+= size
      } else if lsb > previousLSB, lsb - previousLSB > size / 2 {
        msb &-= size
      }
    }
    let poc = msb &+ lsb
    if header.temporalID == 0, !type.isRADL, !type.isRASL, !type.isSubLayerNonReference {
      previousTID0POC = poc
    }
    isFirstInSequence = false
    return poc
  }
}
