// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// `st_ref_pic_set()`, H.265 (7.3.7), in its derived form (7.4.8): reference pictures by POC
/// difference.
public struct ShortTermReferencePictureSet: Hashable, Sendable {
  /// A reference picture.
  public struct Entry: Hashable, Sendable {
    /// `DeltaPocS0` or `DeltaPocS1`: POC of the reference minus POC of the current picture.
    public var deltaPOC: Int
    /// `UsedByCurrPicS0` or `UsedByCurrPicS1`; false if the picture is only kept for later
    /// pictures.
    public var isUsedByCurrentPicture: Bool

    /// Creates an entry for the reference at distance `deltaPOC`.
    public init(deltaPOC: Int, isUsedByCurrentPicture: Bool) {
      self.deltaPOC = deltaPOC
      self.isUsedByCurrentPicture = isUsedByCurrentPicture
    }
  }

  /// Pictures before the current one in output order, nearest first.
  public var negative: [Entry] = []
  /// Pictures after the current one in output order, nearest first.
  public var positive: [Entry] = []

  /// Creates an empty set.
  public init() {}

  /// Creates a set of `entries`, sorted by distance.
  public init(_ entries: [Entry]) {
    negative = entries.filter { $0.deltaPOC < 0 }.sorted { $0.deltaPOC > $1.deltaPOC }
    positive = entries.filter { $0.deltaPOC > 0 }.sorted { $0.deltaPOC < $1.deltaPOC }
  }

  /// `NumDeltaPocs`
  public var count: Int { negative.count + positive.count }

  /// Number of pictures that the current picture may refer to.
  public var usedCount: Int {
    negative.count { $0.isUsedByCurrentPicture } + positive.count { $0.isUsedByCurrentPicture }
  }

  /// Reads the set with index `candidates.count` of an SPS or, if `isInSlice`, the set in a slice
  /// segment header, which may be predicted from any of `candidates`.
  init(
    _ reader: inout BitReader, candidates: [ShortTermReferencePictureSet], isInSlice: Bool
  ) throws(SyntaxError) {
    self.init()
    if !candidates.isEmpty, try reader.flag("inter_ref_pic_set_prediction_flag") {
      var distance = 1
      if isInSlice {
        distance = try reader.ue("delta_idx_minus1", in: 0...candidates.count - 1) + 1
      }
      self = try Self(&reader, predictedFrom: candidates[candidates.count - distance])
      return
    }
    let negativeCount = try reader.ue("num_negative_pics", in: 0...16)
    let positiveCount = try reader.ue("num_positive_pics", in: 0...16 - negativeCount)
    var delta = 0
    for _ in 0..<negativeCount {
      delta -= try reader.ue("delta_poc_s0_minus1", in: 0...0x7FFF) + 1
      negative.append(
        Entry(
          deltaPOC: delta, isUsedByCurrentPicture: try reader.flag("used_by_curr_pic_s0_flag")))
    }
    delta = 0
    for _ in 0..<positiveCount {
      delta += try reader.ue("delta_poc_s1_minus1", in: 0...0x7FFF) + 1
      positive.append(
        Entry(
          deltaPOC: delta, isUsedByCurrentPicture: try reader.flag("used_by_curr_pic_s1_flag")))
    }
  }

  /// Reads a set that is predicted from `reference` (7-61, 7-62).
  private init(
    _ reader: inout BitReader, predictedFrom reference: ShortTermReferencePictureSet
  ) throws(SyntaxError) {
    let isNegative = try reader.flag("delta_rps_sign")
    let magnitude = try reader.ue("abs_delta_rps_minus1", in: 0...0x7FFF) + 1
    let delta = isNegative ? -magnitude : magnitude
    // The flags are sent in this order: S0, S1, then the picture that the reference set belongs to.
    let sources = reference.negative.map(\.deltaPOC) + reference.positive.map(\.deltaPOC) + [0]
    var entries: [Entry] = []
    for source in sources {
      let used = try reader.flag("used_by_curr_pic_flag")
      let isKept = used ? true : try reader.flag("use_delta_flag")
      let position = source + delta
      // No conforming set has an entry for the picture itself; 7-61 skips it.
      if isKept, position != 0 {
        entries.append(Entry(deltaPOC: position, isUsedByCurrentPicture: used))
      }
    }
    self.init(entries)
    guard count <= 16 else {
      throw reader.failure("use_delta_flag", .outOfRange(value: count, allowed: 0...16))
    }
  }

  /// Writes the set explicitly. If the SPS has candidate sets, the flag that selects prediction is
  /// written as 0.
  func write(to writer: inout BitWriter, hasCandidates: Bool) {
    if hasCandidates { writer.flag(false) }
    writer.ue(negative.count)
    writer.ue(positive.count)
    var last = 0
    for entry in negative {
      writer.ue(last - entry.deltaPOC - 1)
      writer.flag(entry.isUsedByCurrentPicture)
      last = entry.deltaPOC
    }
    last = 0
    for entry in positive {
      writer.ue(entry.deltaPOC - last - 1)
      writer.flag(entry.isUsedByCurrentPicture)
      last = entry.deltaPOC
    }
  }
}
