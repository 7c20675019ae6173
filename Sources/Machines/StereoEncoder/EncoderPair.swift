// SPDX-License-Identifier: MPL-2.0

package import StereoVideo

/// Two x265 encoders, one for each eye, that take and give pictures in step.
///
/// With inter-view keyframes or a shared rate control the dependent eye's encoder runs behind the base
/// eye's, by as many pictures as that one holds.
package final class EncoderPair {
  /// What both encoders made of one pair of pictures.
  package struct CodedPair: Sendable {
    package let left: CodedUnits
    package let right: CodedUnits
    /// What takes the place of the dependent eye's keyframe, predicted from the base eye's.
    package let predicted: CodedUnits?
    package let presentation: Int64
    package let decoding: Int64
    package let isKeyframe: Bool
  }

  private let baseEye: Eye
  private let base: EyeThread
  private let dependent: EyeThread
  private let layout: PictureLayout
  /// For the pictures that wait.
  private let copies: PicturePool
  private let keyframeDistance: Int
  private var timeline: Timeline
  private var isOpen = true
  private var isDraining = false
  /// What one encoder gave before the other did.
  private var waiting: (base: [X265Encoder.CodedPicture], dependent: [X265Encoder.CodedPicture]) =
    ([], [])
  /// Two pictures in front of each encoder keep both busy.
  static let longestQueue = 2
  /// How many pictures may wait in front of each encoder.
  private let queueLength: Int
  /// Pictures that wait for the base eye's; nil where none ever did.
  private var held: HeldPictures?
  /// How many pictures go in, at most, before an eye's first comes out.
  private let eyeDelay: Int
  private let reorderDepth: Int
  /// Whether the dependent eye's encoder stays `eyeDelay` behind the base eye's, so that both are always at
  /// work.
  private var runsBehind: Bool
  private var predictsKeyframes: Bool
  /// Of libx265.
  private let build: Int32
  private var configuration: StereoEncoderConfiguration
  /// As it was asked for, before it was known what there is.
  private let wantedPrediction: StereoEncoderConfiguration.InterViewPrediction
  /// Nil where each eye has a constant quality of its own.
  private var control: SharedRateControl?
  /// Pictures since the last keyframe; the first picture of all becomes one.
  private var keyframeAge: Int
  /// How many pictures the first of two passes had.
  private var pictureLimit = Int64.max
  /// How many pictures go in, at most, before the first pair comes out. Rises where a change to a shared
  /// rate control has the dependent eye wait for the base eye.
  package var delay: Int { runsBehind ? 2 * eyeDelay + reorderDepth : eyeDelay }
  /// Parameter sets of predicted keyframes; empty where there are none.
  package let keyframeParameterSets: [[UInt8]]

  /// Throws where the configuration is impossible, or x265 refuses it.
  package init(_ configuration: StereoEncoderConfiguration) throws(StereoEncoderError) {
    try configuration.validate()
    var configuration = configuration
    if let pass = configuration.pass, case .second = pass {
      let measured = try PassMeasurement(
        pass, baseEye: configuration.baseEye, target: configuration.targetBits ?? 0)
      configuration.measurement = measured
      pictureLimit = Int64(measured.weights.count)
    }
    let options = try EncoderOption.list(configuration.optionString)
    let library = try X265Library(bitDepth: configuration.bitDepth)
    let build = library.build
    try EncoderOption.check(options, build: build)
    wantedPrediction = configuration.interViewPrediction
    configuration.interViewPrediction = try configuration.effectivePrediction(build: build)
    let left = try EyeEncoder(
      eye: .left, library: library, configuration: configuration, options: options)
    let right = try EyeEncoder(
      eye: .right, library: library, configuration: configuration, options: options)
    guard left.reorderDepth == right.reorderDepth else {
      throw .outOfStep(
        "x265 reorders \(left.reorderDepth) pictures of the left eye, and \(right.reorderDepth) of "
          + "the right eye")
    }
    reorderDepth = right.reorderDepth
    timeline = Timeline(reorderDepth: reorderDepth)
    layout = PictureLayout(configuration)
    copies = layout.pool()
    keyframeDistance = configuration.keyframeDistance
    keyframeAge = configuration.keyframeDistance - 1
    baseEye = configuration.baseEye
    let (base, dependent) = baseEye == .left ? (left, right) : (right, left)
    keyframeParameterSets = dependent.predictor?.parameterSets ?? []
    // Without latency, what a picture gives is waited for.
    queueLength = configuration.tune == .zerolatency ? 0 : Self.longestQueue
    eyeDelay = max(left.delay, right.delay, 0) + queueLength
    predictsKeyframes = configuration.interViewPrediction == .keyframes
    control = configuration.sharedRateControl(firstFrame: 0)
    runsBehind = predictsKeyframes || control != nil
    held = runsBehind ? HeldPictures() : nil
    self.configuration = configuration
    self.build = build
    self.base = try EyeThread(base)
    self.dependent = try EyeThread(dependent)
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
    let (picture, other) =
      baseEye == .left ? (leftPicture, rightPicture) : (rightPicture, leftPicture)
    keyframeAge += 1
    // `EyeParameters` does not tell x265 of a distance of 1.
    let isKeyframe = isKeyframe || keyframeDistance == 1
    let startsGroup = isKeyframe || keyframeAge >= keyframeDistance
    if startsGroup { keyframeAge = 0 }
    let offset = control?.add(isKeyframe: startsGroup)
    base.submit(
      .encode(
        picture, frame: frame, isKeyframe: isKeyframe, qp: PictureQP(offset: offset ?? 0)))
    if held == nil {
      dependent.submit(.encode(other, frame: frame, isKeyframe: isKeyframe, qp: .automatic))
    } else {
      held?.append(
        .init(
          picture: copies.copy(other), frame: frame, isKeyframe: isKeyframe,
          isPredicted: predictsKeyframes && startsGroup, baseOffset: offset))
    }
    return try closingOnError { () throws(StereoEncoderError) in
      try takeBase(base.outcome(whenAtMost: queueLength))
      feed(leaving: runsBehind ? eyeDelay : 0)
      try takeDependent(dependent.outcome(whenAtMost: queueLength))
      return try pairs()
    }
  }

  /// Throws what `encode` would throw for these before it takes them.
  package func check(
    left: Picture, right: Picture, timestamp: Int64
  ) throws(StereoEncoderError) {
    guard isOpen, !isDraining else { throw .closed }
    try layout.check(left, eye: .left)
    try layout.check(right, eye: .right)
    try timeline.check(timestamp)
    guard timeline.nextFrame < pictureLimit else {
      throw .setting(
        name: "pass", reason: "there are more pictures than the \(pictureLimit) of the first pass")
    }
  }

  /// The configuration with another rate control. Throws what `restart` cannot do.
  package func configuration(
    with rateControl: RateControl
  ) throws(StereoEncoderError) -> StereoEncoderConfiguration {
    var configuration = configuration
    configuration.rateControl = rateControl
    configuration.interViewPrediction = wantedPrediction
    let prediction = try configuration.effectivePrediction(build: build)
    // Encoders that were made without it have none for keyframes.
    configuration.interViewPrediction = keyframeParameterSets.isEmpty ? .none : prediction
    return configuration
  }

  /// Codes what is inside, and goes on with another rate control. The next pictures are keyframes.
  ///
  /// - Parameter configuration: what `configuration(with:)` gave.
  package func restart(_ configuration: StereoEncoderConfiguration) {
    self.configuration = configuration
    predictsKeyframes = configuration.interViewPrediction == .keyframes
    control = configuration.sharedRateControl(firstFrame: timeline.nextFrame)
    if control != nil, held == nil {
      held = HeldPictures()
      runsBehind = true
    }
    base.submit(.restart(configuration))
    if held == nil {
      dependent.submit(.restart(configuration))
    } else {
      held?.append(configuration)
    }
    keyframeAge = keyframeDistance - 1
  }

  /// Takes no more pictures.
  package func close() {
    isOpen = false
  }

  /// Waits for what comes next of what is still inside, in coding order; nil when that was all, and
  /// the encoders are closed. Nothing more can go in after the first call.
  package func drain() throws(StereoEncoderError) -> [CodedPair]? {
    guard isOpen else { throw .closed }
    return try closingOnError { () throws(StereoEncoderError) in
      if !isDraining {
        isDraining = true
        base.submit(.flush)
        if held == nil { dependent.submit(.flush) }
      }
      while true {
        let baseOutcome = base.nextOutcome()
        try takeBase(baseOutcome)
        feed(leaving: 0)
        if held?.isEmpty == true {
          held = nil
          dependent.submit(.flush)
        }
        let dependentOutcome = dependent.nextOutcome()
        try takeDependent(dependentOutcome)
        let pairs = try pairs()
        guard pairs.isEmpty else { return pairs }
        if baseOutcome.isIdle, dependentOutcome.isIdle { break }
      }
      isOpen = false
      guard held == nil, waiting.base.isEmpty, waiting.dependent.isEmpty else {
        throw .outOfStep(
          "one eye ended with \(waiting.base.count + waiting.dependent.count) more pictures")
      }
      return nil
    }
  }

  /// Returns everything still inside, in coding order, and closes the encoders.
  package func finish() throws(StereoEncoderError) -> [CodedPair] {
    var all: [CodedPair] = []
    while let pairs = try drain() { all += pairs }
    return all
  }

  /// Waits for the pictures that the eye's encoder has been given to be taken in.
  package func statistics(_ eye: Eye) -> EyeStatistics {
    (eye == baseEye ? base : dependent).statistics()
  }

  private func closingOnError<Result>(
    _ body: () throws(StereoEncoderError) -> Result
  ) throws(StereoEncoderError) -> Result {
    do throws(StereoEncoderError) {
      return try body()
    } catch {
      isOpen = false
      throw error
    }
  }

  private func takeBase(_ outcome: EyeThread.Outcome) throws(StereoEncoderError) {
    if let error = outcome.error { throw error }
    for var coded in outcome.pictures {
      held?.note(&coded)
      control?.noteBase(
        frame: coded.pts, bits: Double(coded.units.bytes.count) * 8, qp: coded.rateControlQP)
      waiting.base.append(coded)
    }
  }

  private func takeDependent(_ outcome: EyeThread.Outcome) throws(StereoEncoderError) {
    if let error = outcome.error { throw error }
    for coded in outcome.pictures {
      let size = (coded.predicted ?? coded.units).bytes.count
      control?.noteDependent(frame: coded.pts, bits: Double(size) * 8)
      waiting.dependent.append(coded)
    }
  }

  /// Gives the dependent eye's encoder what its pictures no longer wait for.
  private func feed(leaving count: Int) {
    while let job = held?.next(leaving: count, qp: dependentQP) { dependent.submit(job) }
  }

  private func dependentQP(frame: Int64, baseQP: Double) -> PictureQP {
    .following(
      baseQP + configuration.dependentEyeQualityOffset + (control?.extraQP(frame: frame) ?? 0))
  }

  private func pairs() throws(StereoEncoderError) -> [CodedPair] {
    let ready = min(waiting.base.count, waiting.dependent.count)
    var pairs: [CodedPair] = []
    for (base, dependent) in zip(waiting.base, waiting.dependent) {
      pairs.append(try pair(base, dependent))
    }
    waiting.base.removeFirst(ready)
    waiting.dependent.removeFirst(ready)
    return pairs
  }

  private func pair(
    _ base: X265Encoder.CodedPicture, _ dependent: X265Encoder.CodedPicture
  ) throws(StereoEncoderError) -> CodedPair {
    guard base.pts == dependent.pts, base.type == dependent.type else {
      throw .outOfStep(
        "x265 gave a picture of type \(base.type) for frame \(base.pts) of the \(baseEye) eye, and "
          + "of type \(dependent.type) for frame \(dependent.pts) of the \(baseEye.other) eye")
    }
    guard let times = timeline.next(frame: base.pts) else {
      throw .encoding(eye: baseEye, frame: base.pts, reason: "x265 gave it out of its order")
    }
    let isLeftBase = baseEye == .left
    return CodedPair(
      left: isLeftBase ? base.units : dependent.units,
      right: isLeftBase ? dependent.units : base.units, predicted: dependent.predicted,
      presentation: times.presentation, decoding: times.decoding, isKeyframe: base.type == .idr)
  }
}
