package import StereoVideo

/// Two x265 encoders, one for each eye, that take and give pictures in step.
package final class EncoderPair {
  /// What both encoders made of one pair of pictures.
  package struct CodedPair: Sendable {
    /// NAL units, each after a start code.
    package let left: [UInt8]
    package let right: [UInt8]
    package let presentation: Int64
    package let decoding: Int64
    package let isKeyframe: Bool
  }

  private let left: EyeThread
  private let right: EyeEncoder
  private let layout: PictureLayout
  private var timeline: Timeline
  private var isOpen = true
  /// What one encoder gave before the other did.
  private var waiting: (left: [EyeEncoder.CodedPicture], right: [EyeEncoder.CodedPicture])
  /// VPS, SPS and PPS of each eye, each after a start code.
  package let parameterSets: (left: [UInt8], right: [UInt8])

  /// Throws where the configuration is impossible, or x265 refuses it.
  package init(_ configuration: StereoEncoderConfiguration) throws(StereoEncoderError) {
    try configuration.validate()
    let options = try EncoderOption.list(configuration.optionString)
    let library = try X265Library(bitDepth: Int32(configuration.bitDepth))
    let left = try EyeEncoder(
      eye: .left, library: library, configuration: configuration, options: options)
    right = try EyeEncoder(
      eye: .right, library: library, configuration: configuration, options: options)
    parameterSets = (try left.parameterSets(), try right.parameterSets())
    guard left.reorderDepth == right.reorderDepth else {
      throw .outOfStep(
        "x265 reorders \(left.reorderDepth) pictures of the left eye, and \(right.reorderDepth) of "
          + "the right eye")
    }
    timeline = Timeline(reorderDepth: right.reorderDepth)
    layout = PictureLayout(configuration)
    waiting = ([], [])
    self.left = try EyeThread(left)
  }

  /// Takes the pictures of one moment; returns what is ready, in coding order.
  ///
  /// After an error of any kind but `picture` and `timestamp` the encoders are closed.
  package func encode(
    left leftPicture: Picture, right rightPicture: Picture, timestamp: Int64, isKeyframe: Bool
  ) throws(StereoEncoderError) -> [CodedPair] {
    guard isOpen else { throw .closed }
    try layout.check(leftPicture, eye: .left)
    try layout.check(rightPicture, eye: .right)
    let frame = timeline.nextFrame
    try timeline.append(timestamp)
    left.start(.encode(leftPicture, frame: frame, isKeyframe: isKeyframe))
    let rightOutcome = right.run(.encode(rightPicture, frame: frame, isKeyframe: isKeyframe))
    _ = try take(left.finish(), rightOutcome)
    return try pairs()
  }

  /// Returns everything still inside, in coding order, and closes the encoders.
  package func finish() throws(StereoEncoderError) -> [CodedPair] {
    guard isOpen else { throw .closed }
    var isMore = timeline.nextFrame > 0
    while isMore {
      left.start(.flush)
      let rightOutcome = right.run(.flush)
      isMore = try take(left.finish(), rightOutcome)
    }
    let pairs = try pairs()
    isOpen = false
    guard waiting.left.isEmpty, waiting.right.isEmpty else {
      throw .outOfStep(
        "one eye ended with \(waiting.left.count + waiting.right.count) more pictures")
    }
    return pairs
  }

  package func statistics(_ eye: Eye) -> EyeStatistics {
    switch eye {
    case .left: left.encoder.statistics()
    case .right: right.statistics()
    }
  }

  /// Returns whether either encoder gave a picture.
  private func take(
    _ leftOutcome: EyeThread.Outcome, _ rightOutcome: EyeThread.Outcome
  ) throws(StereoEncoderError) -> Bool {
    do throws(StereoEncoderError) {
      let leftPicture = try leftOutcome.get()
      let rightPicture = try rightOutcome.get()
      if let leftPicture { waiting.left.append(leftPicture) }
      if let rightPicture { waiting.right.append(rightPicture) }
      return leftPicture != nil || rightPicture != nil
    } catch {
      isOpen = false
      throw error
    }
  }

  private func pairs() throws(StereoEncoderError) -> [CodedPair] {
    let count = min(waiting.left.count, waiting.right.count)
    var pairs: [CodedPair] = []
    for (left, right) in zip(waiting.left.prefix(count), waiting.right.prefix(count)) {
      do throws(StereoEncoderError) {
        pairs.append(try pair(left, right))
      } catch {
        isOpen = false
        throw error
      }
    }
    waiting.left.removeFirst(count)
    waiting.right.removeFirst(count)
    return pairs
  }

  private func pair(
    _ left: EyeEncoder.CodedPicture, _ right: EyeEncoder.CodedPicture
  ) throws(StereoEncoderError) -> CodedPair {
    guard left.frame == right.frame, left.type == right.type else {
      throw .outOfStep(
        "x265 gave a picture of type \(left.type) for frame \(left.frame) of the left eye, and of "
          + "type \(right.type) for frame \(right.frame) of the right eye")
    }
    guard let times = timeline.next(frame: left.frame) else {
      throw .encoding(eye: .left, frame: left.frame, reason: "x265 gave it out of its order")
    }
    return CodedPair(
      left: left.bytes, right: right.bytes, presentation: times.presentation,
      decoding: times.decoding, isKeyframe: left.type == .idr)
  }
}
