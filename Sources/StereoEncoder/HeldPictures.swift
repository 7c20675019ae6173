// SPDX-License-Identifier: MPL-2.0

/// The dependent eye's pictures that wait for the base eye's: the first of a group can be predicted
/// only once the base eye's keyframe has been coded, and the encoder takes pictures in their order.
struct HeldPictures {
  private enum Item {
    case picture(Picture, frame: Int64, isKeyframe: Bool, startsGroup: Bool)
    case restart(RateControl)
  }

  private var items: [Item] = []
  private var pictureCount = 0
  /// The base eye's keyframes that have been coded, by their frames.
  private var references: [Int64: KeyframePredictor.Reference] = [:]

  var isEmpty: Bool { items.isEmpty }

  /// - Parameter picture: in memory that nobody else waits for.
  mutating func append(_ picture: Picture, frame: Int64, isKeyframe: Bool, startsGroup: Bool) {
    items.append(
      .picture(picture, frame: frame, isKeyframe: isKeyframe, startsGroup: startsGroup))
    pictureCount += 1
  }

  mutating func append(_ rateControl: RateControl) { items.append(.restart(rateControl)) }

  /// Takes in a coded picture of the base eye, and lets go of its reconstruction.
  mutating func note(_ coded: inout X265Encoder.CodedPicture) {
    guard let picture = coded.reconstruction else { return }
    coded.reconstruction = nil
    references[coded.pts] = KeyframePredictor.Reference(
      picture: picture, averageQP: coded.averageQP, byteCount: coded.units.bytes.count)
  }

  /// The next job of the dependent eye's encoder, where more than `count` pictures wait; nil also
  /// where the next picture waits for its reference.
  mutating func next(leaving count: Int) -> EyeThread.Job? {
    guard let first = items.first else { return nil }
    var job: EyeThread.Job
    switch first {
    case .restart(let rateControl):
      // It belongs in front of the picture behind it.
      guard pictureCount > count else { return nil }
      job = .restart(rateControl)
    case .picture(let picture, let frame, let isKeyframe, let startsGroup):
      guard pictureCount > count else { return nil }
      job = .encode(picture, frame: frame, isKeyframe: isKeyframe)
      if startsGroup {
        guard let reference = references.removeValue(forKey: frame) else { return nil }
        job = .encodeKeyframe(picture, from: reference, frame: frame, isKeyframe: isKeyframe)
      }
      pictureCount -= 1
    }
    items.removeFirst()
    return job
  }
}
