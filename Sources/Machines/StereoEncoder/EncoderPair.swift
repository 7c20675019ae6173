// SPDX-License-Identifier: MPL-2.0

package import StereoVideo

/// Two x265 encoders, one per eye, that take and return pictures in step.
///
/// With inter-view keyframes or a shared rate control, the dependent eye's encoder lags the base
/// eye's by as many pictures as the base eye's encoder holds. At most two pictures are queued for
/// each encoder (none with tune `zerolatency`).
package final class EncoderPair {
  /// The coded pictures of one input pair.
  package struct CodedPair: Sendable {
    package let left: CodedUnits
    package let right: CodedUnits
    /// The dependent eye's keyframe as predicted from the base eye's, to be used instead of the one
    /// in `left` or `right`; nil if there is none.
    package let predicted: CodedUnits?
    package let presentation: Int64
    package let decoding: Int64
    package let isKeyframe: Bool
  }

  private let baseEye: Eye
  private let base: EyeThread
  private let dependent: EyeThread
  private let layout: PictureLayout
  /// Memory for copies of held pictures.
  private let copies: PicturePool
  private let keyframeDistance: Int
  private var timeline: Timeline
  private var isOpen = true
  private var isDraining = false
  /// Coded pictures of one eye whose counterparts have not come out yet.
  private var waiting: (base: [X265Encoder.CodedPicture], dependent: [X265Encoder.CodedPicture]) =
    ([], [])
  /// The maximum number of pictures queued for each encoder; two keep both busy.
  static let maximumQueueLength = 2
  /// `maximumQueueLength`, or 0 without latency.
  private let queueLength: Int
  /// The dependent eye's pictures that wait for the base eye's; nil if none has to wait.
  private var held: PendingDependentPictures?
  /// The maximum number of pictures that go into an eye's encoder before the first comes out.
  private let eyeDelay: Int
  private let reorderDepth: Int
  /// Whether the dependent eye's encoder stays `eyeDelay` pictures after the base eye's, so that
  /// both always have work.
  private var lagsBaseEye: Bool
  private var predictsKeyframes: Bool
  /// `X265_BUILD` of the libx265 in use.
  private let build: Int32
  private var configuration: StereoEncoderConfiguration
  /// The requested setting, before the abilities of this libx265 are considered.
  private let requestedPrediction: StereoEncoderConfiguration.InterViewPrediction
  /// Nil if each eye has a constant quality of its own.
  private var control: SharedRateControl?
  /// Pictures since the last keyframe; starts so that the first picture becomes one.
  private var keyframeAge: Int
  /// The number of pictures in the first of two passes; unlimited without one.
  private var pictureLimit = Int64.max
  /// The maximum number of pictures that go in before the first pair comes out. Rises if a change
  /// to a shared rate control makes the dependent eye wait for the base eye.
  package var delay: Int { lagsBaseEye ? 2 * eyeDelay + reorderDepth : eyeDelay }
  /// Parameter sets of predicted keyframes, as NAL units; empty if keyframes are not predicted.
  package let keyframeParameterSets: [[UInt8]]

  /// - Throws: if the configuration is invalid or x265 refuses it.
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
    requestedPrediction = configuration.interViewPrediction
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
    // Without latency, each coded picture is waited for.
    queueLength = configuration.tune == .zerolatency ? 0 : Self.maximumQueueLength
    eyeDelay = max(left.delay, right.delay, 0) + queueLength
    predictsKeyframes = configuration.interViewPrediction == .keyframes
    control = configuration.sharedRateControl(firstFrame: 0)
    lagsBaseEye = predictsKeyframes || control != nil
    held = lagsBaseEye ? PendingDependentPictures() : nil
    self.configuration = configuration
    self.build = build
    self.base = try EyeThread(base)
    self.dependent = try EyeThread(dependent)
  }

  /// Encodes the pictures of both eyes at one time; returns the pairs that are ready, in coding
  /// order.
  ///
  /// - Throws: an error of `check`, which leaves the encoders unchanged; any other error closes
  ///   them.
  package func encode(
    left leftPicture: Picture, right rightPicture: Picture, timestamp: Int64, isKeyframe: Bool
  ) throws(StereoEncoderError) -> [CodedPair] {
    try check(left: leftPicture, right: rightPicture, timestamp: timestamp)
    let frame = timeline.nextFrame
    timeline.append(timestamp)
    let (picture, other) =
      baseEye == .left ? (leftPicture, rightPicture) : (rightPicture, leftPicture)
    keyframeAge += 1
    // With a distance of 1, `EyeParameters` sets x265's to 2, and each keyframe is forced here.
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
      feed(leaving: lagsBaseEye ? eyeDelay : 0)
      try takeDependent(dependent.outcome(whenAtMost: queueLength))
      return try pairs()
    }
  }

  /// Throws the error with which `encode` would refuse these pictures.
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

  /// Returns the configuration with another rate control.
  ///
  /// - Throws: `setting` if `restart` cannot change to it.
  package func configuration(
    with rateControl: RateControl
  ) throws(StereoEncoderError) -> StereoEncoderConfiguration {
    var configuration = configuration
    configuration.rateControl = rateControl
    configuration.interViewPrediction = requestedPrediction
    let prediction = try configuration.effectivePrediction(build: build)
    // Encoders opened without prediction have none for keyframes.
    configuration.interViewPrediction = keyframeParameterSets.isEmpty ? .none : prediction
    return configuration
  }

  /// Encodes all pictures still inside, then continues with another rate control. The next pair is
  /// a keyframe.
  ///
  /// - Parameter configuration: a result of `configuration(with:)`.
  package func restart(_ configuration: StereoEncoderConfiguration) {
    self.configuration = configuration
    predictsKeyframes = configuration.interViewPrediction == .keyframes
    control = configuration.sharedRateControl(firstFrame: timeline.nextFrame)
    if control != nil, held == nil {
      held = PendingDependentPictures()
      lagsBaseEye = true
    }
    base.submit(.restart(configuration))
    if held == nil {
      dependent.submit(.restart(configuration))
    } else {
      held?.append(configuration)
    }
    keyframeAge = keyframeDistance - 1
  }

  /// Closes the encoders: further calls throw `closed`.
  package func close() {
    isOpen = false
  }

  /// Returns the next pairs still in the encoders, in coding order, waiting for them; nil when the
  /// encoders are drained, which closes them. They take no more pictures after the first call.
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

  /// Returns all remaining pairs, in coding order, and closes the encoders.
  package func finish() throws(StereoEncoderError) -> [CodedPair] {
    var all: [CodedPair] = []
    while let pairs = try drain() { all += pairs }
    return all
  }

  /// Returns the statistics of an eye. Waits until its encoder has finished its queue.
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

  /// Submits held pictures that need not wait any longer to the dependent eye's encoder; keeps at
  /// least `count`.
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
      throw .encoding(eye: baseEye, frame: base.pts, reason: "x265 returned it out of order")
    }
    let isLeftBase = baseEye == .left
    return CodedPair(
      left: isLeftBase ? base.units : dependent.units,
      right: isLeftBase ? dependent.units : base.units, predicted: dependent.predicted,
      presentation: times.presentation, decoding: times.decoding, isKeyframe: base.type == .idr)
  }
}
