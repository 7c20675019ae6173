// SPDX-License-Identifier: MPL-2.0

/// The dependent eye's pictures that wait for the base eye's: the first of a group can be predicted, and a
/// shared rate control's pictures get their QPs, only once the base eye's picture has been coded, and the
/// encoder takes pictures in their order.
struct HeldPictures {
  /// A picture, and what it waits for.
  struct Waiting {
    /// In memory that nobody else waits for.
    let picture: Picture
    let frame: Int64
    let isKeyframe: Bool
    /// Whether it is to be predicted from the base eye's.
    let isPredicted: Bool
    /// The QP offset of the base eye's picture, where the QPs are to be the same; else nil.
    let baseOffset: Double?

    fileprivate var waits: Bool { isPredicted || baseOffset != nil }
  }

  private enum Item {
    case picture(Waiting)
    case restart(StereoEncoderConfiguration)
  }

  private var items: [Item] = []
  private var pictureCount = 0
  /// Frames whose pictures wait for the base eye's.
  private var awaited: Set<Int64> = []
  /// Pictures of the base eye that are waited for and have been coded, by their frames.
  private var codings: [Int64: Coding] = [:]

  /// What the dependent eye needs of the base eye's picture.
  private struct Coding {
    let reference: KeyframePredictor.Reference?
    /// Without what adaptive quantization and offsets add; nil where that is not known.
    let rateControlQP: Double?
    let averageQP: Double

    /// What the picture was coded with, less what adaptive quantization adds where that is known.
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

  /// Takes in a coded picture of the base eye, and lets go of its reconstruction.
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

  /// The next job of the dependent eye's encoder, where more than `count` pictures wait; nil also
  /// where the next picture waits for the base eye's.
  ///
  /// - Parameter followed: the QP of a frame that follows the base eye's, by the frame and that QP.
  mutating func next(
    leaving count: Int, qp followed: (_ frame: Int64, _ baseQP: Double) -> PictureQP
  ) -> EyeThread.Job? {
    // A change of rate control belongs in front of the picture behind it.
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
