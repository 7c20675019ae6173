// SPDX-License-Identifier: MPL-2.0

/// Derives PicOrderCntVal for the pictures of one layer, in decoding order, H.265 (8.3.1, F.8.3.1).
public struct PictureOrderCounter: Sendable {
  private var previousTID0POC = 0
  private var isFirstInSequence = true

  /// Creates a counter at the start of a stream.
  public init() {}

  /// Whether the next IRAP picture begins a coded video sequence regardless of its type: no picture
  /// precedes it, or an end of sequence NAL unit does.
  public var isAtSequenceStart: Bool { isFirstInSequence }

  /// Notes that the next picture follows an end of sequence NAL unit.
  public mutating func endSequence() { isFirstInSequence = true }

  /// Returns PicOrderCntVal of the next picture.
  ///
  /// - Parameters:
  ///   - header: NAL unit header of its slice segments.
  ///   - lsb: `slice_pic_order_cnt_lsb`; 0 if not sent.
  ///   - log2MaxLSB: number of bits of `slice_pic_order_cnt_lsb`, 4 to 16.
  ///   - isReset: whether the picture begins a coded video sequence although its own type does not
  ///     say so, as in a dependent layer when the base layer's picture begins one.
  ///   - msbCycle: `poc_msb_cycle_val`; nil if not sent.
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

/// Numbers the frames of a stream without timestamps in output order, from their picture order
/// counts.
///
/// Each step of the picture order count is taken as one frame, which is how encoders of progressive
/// video number pictures.
public struct OutputOrderCounter: Sendable {
  /// The place of a picture in output order.
  public struct Frame: Hashable, Sendable {
    /// Position in output order. The first picture of the stream, a random access point, is 0;
    /// pictures decoded after it but output before it have negative numbers.
    public var number: Int
    /// `sps_max_num_reorder_pics`: the n-th picture in decoding order has at least position n minus
    /// this value in output order.
    public var reordering: Int
  }

  private var sets = ParameterSetStore()
  private var counter = PictureOrderCounter()
  /// The number of the frame with a picture order count of 0.
  private var origin = 0
  private var highest = -1

  /// Creates a clock at the start of a stream.
  public init() {}

  /// Adds parameter sets from outside the stream. Unreadable ones are ignored.
  public mutating func add(parameterSets: [[UInt8]]) {
    for unit in parameterSets { add(unit.span.bytes) }
  }

  /// Reads the next access unit, given as ranges of NAL units in `bytes`, and returns the position
  /// of its base layer picture, or nil if that picture is missing or unreadable.
  public mutating func frame(_ bytes: RawSpan, nalUnits: [Range<Int>]) -> Frame? {
    var result: Frame?
    for range in nalUnits where range.lowerBound >= 0 && range.upperBound <= bytes.byteCount {
      let unit = bytes.extracting(range)
      guard let header = NALUnitHeader(unit), header.layerID == 0 else { continue }
      if header.type.isParameterSet {
        add(unit)
      } else if header.type.isSliceSegment, result == nil {
        result = picture(header, unit)
      } else if header.type == .endOfSequence {
        counter.endSequence()
      }
    }
    return result
  }

  private mutating func picture(_ header: NALUnitHeader, _ unit: RawSpan) -> Frame? {
    guard let slice = try? SliceSegmentHeader(nalUnit: unit, sets: sets),
      let pps = sets.storedPictureParameterSet(slice.pictureParameterSetID, layer: 0),
      let sps = sets.storedSequenceParameterSet(pps.set.sequenceParameterSetID, layer: 0)?.set
    else { return nil }
    let begins =
      header.type.isIDR || header.type.isBLA || header.type.isIRAP && counter.isAtSequenceStart
    let count = counter.next(header, lsb: slice.pocLSB, log2MaxLSB: sps.log2MaxPOCLSB)
    if begins { origin = highest &+ 1 &- count }
    let number = origin &+ count
    highest = max(highest, number)
    return Frame(number: number, reordering: sps.dpb?.maxNumReorderPics ?? 0)
  }

  private mutating func add(_ unit: RawSpan) {
    guard NALUnitHeader(unit)?.layerID == 0 else { return }
    _ = try? sets.add(unit)
  }
}
