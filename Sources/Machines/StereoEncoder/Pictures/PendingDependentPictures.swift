// SPDX-License-Identifier: MPL-2.0

/// The dependent eye's pictures that wait for the base eye's. The encoder takes pictures in order;
/// the first of a group can be predicted, and pictures under a shared rate control get their QPs,
/// only once the base eye's picture has been coded.
struct PendingDependentPictures {
  /// A picture and the reasons for which it may wait.
  struct Waiting {
    /// A copy, so that the caller's memory is free.
    let picture: Picture
    let frame: Int64
    let isKeyframe: Bool
    /// Whether it is to be predicted from the base eye's picture.
    let isPredicted: Bool
    /// The QP offset of the base eye's picture, if this one is to have the same QP; else nil.
    let baseOffset: Double?

    fileprivate var waits: Bool { isPredicted || baseOffset != nil }
  }

  private enum Item {
    case picture(Waiting)
    case restart(StereoEncoderConfiguration)
  }

  private var items: [Item] = []
  private var pictureCount = 0
  /// Frames whose base eye's picture is awaited.
  private var awaited: Set<Int64> = []
  /// Awaited pictures of the base eye that have been coded, by frame number.
  private var codings: [Int64: Coding] = [:]

  /// The properties of the base eye's picture that the dependent eye needs.
  private struct Coding {
    let reference: KeyframePredictor.Reference?
    /// The QP before adaptive quantization and offsets; nil if unknown.
    let rateControlQP: Double?
    let averageQP: Double

    /// Returns the QP that the picture was coded with, before adaptive quantization if that is
    /// known.
    func qp(offset: Double) -> Double { rateControlQP.map { $0 + offset } ?? averageQP }
  }

  var isEmpty: Bool { items.isEmpty }

  mutating func append(_ picture: Waiting) {
    if picture.waits { awaited.insert(picture.frame) }
    items.append(.picture(picture))
    pictureCount += 1
  }

  mutating func append(_ configuration: StereoEncoderConfiguration) {
    items.append(.restart(configuration))
  }

  /// Records a coded picture of the base eye, and releases its reconstruction.
  mutating func note(_ coded: inout X265Encoder.CodedPicture) {
    defer { coded.reconstruction = nil }
    guard awaited.remove(coded.pts) != nil else { return }
    let reference = coded.reconstruction.map { [coded] in
      KeyframePredictor.Reference(
        picture: $0, averageQP: coded.averageQP, byteCount: coded.units.bytes.count)
    }
    codings[coded.pts] = Coding(
      reference: reference, rateControlQP: coded.rateControlQP?.used, averageQP: coded.averageQP)
  }

  /// Returns the next job of the dependent eye's encoder; nil if at most `count` pictures are held,
  /// or if the next one still waits for the base eye's.
  ///
  /// - Parameter followed: returns the QP of a frame, given that of the base eye.
  mutating func next(
    leaving count: Int, qp followed: (_ frame: Int64, _ baseQP: Double) -> PictureQP
  ) -> EyeThread.Job? {
    // A change of the rate control is released just before the picture that follows it.
    guard let first = items.first, pictureCount > count else { return nil }
    guard case .picture(let waiting) = first else {
      items.removeFirst()
      guard case .restart(let configuration) = first else { return nil }
      return .restart(configuration)
    }
    let (frame, isKeyframe) = (waiting.frame, waiting.isKeyframe)
    let coding = codings.removeValue(forKey: frame)
    guard coding != nil || !waiting.waits else { return nil }
    items.removeFirst()
    pictureCount -= 1
    var qp = PictureQP.automatic
    if let coding, let offset = waiting.baseOffset {
      qp = followed(frame, coding.qp(offset: offset))
    }
    guard waiting.isPredicted, let reference = coding?.reference else {
      return .encode(waiting.picture, frame: frame, isKeyframe: isKeyframe, qp: qp)
    }
    return .encodeKeyframe(
      waiting.picture, from: reference, frame: frame, isKeyframe: isKeyframe, qp: qp)
  }
}

/// Assigns presentation and decoding times to coded pictures.
///
/// With reorder depth d and the strictly increasing timestamps t of the input, picture n in coding
/// order decodes at
/// - t[n - d], from n = d on;
/// - t[n] - (t[d] - t[0]) before that: the first d pictures decode before the first timestamp. In a
///   stream of d pictures or fewer, the last timestamp replaces t[d].
///
/// These times strictly increase, and none is after its picture's own time, however irregular the
/// input.
package struct Timeline {
  private let reorderDepth: Int64
  /// The timestamps of frame `firstFrame` and of all after it.
  private var timestamps: [Int64] = []
  private var firstFrame: Int64 = 0
  private var latest: Int64?
  /// The number of the next coded picture in coding order.
  private var place: Int64 = 0
  /// t[d] - t[0].
  private var lead: Int64 = 0

  package init(reorderDepth: Int) {
    self.reorderDepth = Int64(reorderDepth)
  }

  /// The number, in display order, of the next picture that `append` takes.
  package var nextFrame: Int64 { firstFrame + Int64(timestamps.count) }

  /// Throws `timestamp` if `timestamp` is not after the previous one.
  package func check(_ timestamp: Int64) throws(StereoEncoderError) {
    if let latest, timestamp <= latest {
      throw .timestamp(previous: latest, given: timestamp)
    }
  }

  /// Takes a timestamp that passes `check`.
  package mutating func append(_ timestamp: Int64) {
    timestamps.append(timestamp)
    latest = timestamp
  }

  /// Returns the times of the next picture in coding order, which is picture `frame` in display
  /// order; nil if that picture was not submitted, or comes too late.
  package mutating func next(frame: Int64) -> (presentation: Int64, decoding: Int64)? {
    if place == 0, let first = timestamps.first,
      let last = timestamps.prefix(Int(reorderDepth) + 1).last
    {
      lead = last &- first
    }
    guard let presentation = timestamp(of: frame), let inOrder = timestamp(of: place) else {
      return nil
    }
    let decoding = place < reorderDepth ? inOrder &- lead : timestamp(of: place - reorderDepth)
    guard let decoding else { return nil }
    place += 1
    // Later pictures go no further back than the reorder depth.
    let unneeded = min(max(place - reorderDepth - firstFrame, 0), Int64(timestamps.count))
    timestamps.removeFirst(Int(unneeded))
    firstFrame += unneeded
    return (presentation, decoding)
  }

  private func timestamp(of frame: Int64) -> Int64? {
    let index = frame - firstFrame
    guard index >= 0, index < timestamps.count else { return nil }
    return timestamps[Int(index)]
  }
}
