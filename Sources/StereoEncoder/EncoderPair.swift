package import StereoVideo

/// Two x265 encoders, one for each eye, that take and give pictures in step.
package final class EncoderPair {
  /// What both encoders made of one pair of pictures.
  package struct CodedPair: Sendable {
    package let left: CodedUnits
    package let right: CodedUnits
    package let presentation: Int64
    package let decoding: Int64
    package let isKeyframe: Bool
  }

  private let left: EyeThread
  private let right: EyeThread
  private let layout: PictureLayout
  private var timeline: Timeline
  private var isOpen = true
  private var isDraining = false
  /// What one encoder gave before the other did.
  private var waiting: (left: [X265Encoder.CodedPicture], right: [X265Encoder.CodedPicture]) =
    ([], [])
  /// How many pictures may wait in front of each encoder.
  private let queueLength: Int
  /// How many pictures go in, at most, before the first pair comes out.
  package let delay: Int

  /// Throws where the configuration is impossible, or x265 refuses it.
  package init(_ configuration: StereoEncoderConfiguration) throws(StereoEncoderError) {
    try configuration.validate()
    let options = try EncoderOption.list(configuration.optionString)
    let library = try X265Library(bitDepth: configuration.bitDepth)
    let left = try EyeEncoder(
      eye: .left, library: library, configuration: configuration, options: options)
    let right = try EyeEncoder(
      eye: .right, library: library, configuration: configuration, options: options)
    guard left.reorderDepth == right.reorderDepth else {
      throw .outOfStep(
        "x265 reorders \(left.reorderDepth) pictures of the left eye, and \(right.reorderDepth) of "
          + "the right eye")
    }
    timeline = Timeline(reorderDepth: right.reorderDepth)
    layout = PictureLayout(configuration)
    // Two pictures keep both eyes busy; without latency, what a picture gives is waited for.
    queueLength = configuration.tune == .zerolatency ? 0 : 2
    delay = max(left.delay, right.delay, 0) + queueLength
    self.left = try EyeThread(left)
    self.right = try EyeThread(right)
  }

  /// Takes the pictures of one moment; returns what is ready, in coding order.
  ///
  /// An error closes the encoders, unless it is `picture` or `timestamp`: then the pictures were
  /// not taken.
  package func encode(
    left leftPicture: Picture, right rightPicture: Picture, timestamp: Int64, isKeyframe: Bool
  ) throws(StereoEncoderError) -> [CodedPair] {
    try check(left: leftPicture, right: rightPicture, timestamp: timestamp)
    let frame = timeline.nextFrame
    timeline.append(timestamp)
    left.submit(.encode(leftPicture, frame: frame, isKeyframe: isKeyframe))
    right.submit(.encode(rightPicture, frame: frame, isKeyframe: isKeyframe))
    return try pairs(
      left.outcome(whenAtMost: queueLength), right.outcome(whenAtMost: queueLength))
  }

  /// Throws what `encode` would throw for these before it takes them.
  package func check(
    left: Picture, right: Picture, timestamp: Int64
  ) throws(StereoEncoderError) {
    guard isOpen, !isDraining else { throw .closed }
    try layout.check(left, eye: .left)
    try layout.check(right, eye: .right)
    try timeline.check(timestamp)
  }

  /// Codes what is inside, and goes on with another rate control. The next pictures are keyframes.
  package func restart(_ rateControl: RateControl) {
    left.submit(.restart(rateControl))
    right.submit(.restart(rateControl))
  }

  /// Takes no more pictures.
  package func close() {
    isOpen = false
  }

  /// Waits for what comes next of what is still inside, in coding order; nil when that was all, and
  /// the encoders are closed. Nothing more can go in after the first call.
  package func drain() throws(StereoEncoderError) -> [CodedPair]? {
    guard isOpen else { throw .closed }
    if !isDraining {
      isDraining = true
      left.submit(.flush)
      right.submit(.flush)
    }
    while true {
      let (left, right) = (left.nextOutcome(), right.nextOutcome())
      let pairs = try pairs(left, right)
      guard pairs.isEmpty else { return pairs }
      if left.isIdle, right.isIdle { break }
    }
    isOpen = false
    guard waiting.left.isEmpty, waiting.right.isEmpty else {
      throw .outOfStep(
        "one eye ended with \(waiting.left.count + waiting.right.count) more pictures")
    }
    return nil
  }

  /// Returns everything still inside, in coding order, and closes the encoders.
  package func finish() throws(StereoEncoderError) -> [CodedPair] {
    var all: [CodedPair] = []
    while let pairs = try drain() { all += pairs }
    return all
  }

  /// Waits for the pictures already given to be taken in.
  package func statistics(_ eye: Eye) -> EyeStatistics {
    switch eye {
    case .left: left.statistics()
    case .right: right.statistics()
    }
  }

  private func pairs(
    _ left: EyeThread.Outcome, _ right: EyeThread.Outcome
  ) throws(StereoEncoderError) -> [CodedPair] {
    do throws(StereoEncoderError) {
      try take(left, into: &waiting.left)
      try take(right, into: &waiting.right)
      let ready = min(waiting.left.count, waiting.right.count)
      var pairs: [CodedPair] = []
      for (left, right) in zip(waiting.left, waiting.right) { pairs.append(try pair(left, right)) }
      waiting.left.removeFirst(ready)
      waiting.right.removeFirst(ready)
      return pairs
    } catch {
      isOpen = false
      throw error
    }
  }

  private func take(
    _ outcome: EyeThread.Outcome, into waiting: inout [X265Encoder.CodedPicture]
  ) throws(StereoEncoderError) {
    if let error = outcome.error { throw error }
    waiting += outcome.pictures
  }

  private func pair(
    _ left: X265Encoder.CodedPicture, _ right: X265Encoder.CodedPicture
  ) throws(StereoEncoderError) -> CodedPair {
    guard left.pts == right.pts, left.type == right.type else {
      throw .outOfStep(
        "x265 gave a picture of type \(left.type) for frame \(left.pts) of the left eye, and of "
          + "type \(right.type) for frame \(right.pts) of the right eye")
    }
    guard let times = timeline.next(frame: left.pts) else {
      throw .encoding(eye: .left, frame: left.pts, reason: "x265 gave it out of its order")
    }
    return CodedPair(
      left: left.units, right: right.units, presentation: times.presentation,
      decoding: times.decoding, isKeyframe: left.type == .idr)
  }
}
