// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo

/// An access unit of a layered stream, from which the eyes' samples are made.
struct LayeredSample: Sendable {
  /// Contiguous, so that a slice header is never split.
  var data: ByteSlice
  var presentationTime: ClockTime?
  var decodeTime: ClockTime?
  var duration: ClockTime?
  /// Applied to the samples of both eyes.
  var flags: Sample.Flags = []
  /// Frame duration of the stream; nil if unknown.
  var frameDuration: ClockTime?
}

/// Makes the samples of both eyes from the access units of a layered stream.
///
/// The decoding order that H.265 requires may delay a dependent picture by some access units; its
/// bytes and times are kept here until then.
struct EyeSamples: Sendable {
  let baseEye: Eye
  let framing: NALUnitFraming
  private var splitter: EyeSplitter
  /// Access units whose dependent pictures are still delayed.
  private var units = AccessUnitSources<LayeredSample>()
  private var times = FlattenedTimes()

  init(baseEye: Eye, framing: NALUnitFraming, splitter: EyeSplitter) {
    self.baseEye = baseEye
    self.framing = framing
    self.splitter = splitter
  }

  /// The result of splitting an access unit for one eye.
  struct Output {
    /// Samples of earlier access units, in decoding order.
    var earlier: [Sample] = []
    /// The new parameter sets, if they change here.
    var parameterSets: SingleLayerParameterSets?
    var samples: [Sample] = []
    /// Why a picture is missing.
    var failure: FlattenError?
    /// Why some decoders may fail from here on.
    var warning: FlattenWarning?
  }

  /// The position of an eye's samples in time.
  struct Placement {
    /// Delay of the stream's timestamps relative to those of the access units.
    var shift: ClockTime = 0
    /// End of the segment in which the samples are played.
    var stop: ClockTime?
  }

  /// Whether the eye's stream also contains the other eye's pictures, which are not shown.
  func isFlattened(_ eye: Eye) -> Bool { eye != baseEye && splitter.isFlattening }

  /// Returns the largest delay of an eye's picture so far, in access units.
  func delay(of eye: Eye) -> Int { eye == baseEye ? 0 : splitter.delay }

  /// Drops all pictures before a restart at a random access point.
  mutating func reset() {
    splitter.reset()
    units.removeAll()
    times = FlattenedTimes()
  }

  /// Adds out-of-band parameter sets.
  mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try splitter.add(parameterSets: parameterSets)
  }

  /// Returns the samples of one eye that the next access unit completes.
  ///
  /// - Throws: ``LengthPrefixed/Malformed`` or a ``FlattenError`` if none can be extracted.
  mutating func split(
    _ unit: LayeredSample, for eye: Eye, _ placement: Placement = Placement()
  ) throws -> Output {
    let framing = framing
    let isBase = eye == baseEye
    let split = try unit.data.withSpan { bytes in
      let nalUnits = try framing.nalUnits(in: bytes)
      return isBase
        ? try splitter.baseEye(bytes, nalUnits: nalUnits)
        : try splitter.dependentEye(bytes, nalUnits: nalUnits)
    }
    var output = Output(
      parameterSets: split.parameterSetsChanged ? split.parameterSets : nil,
      failure: split.failure, warning: split.warning)
    guard isFlattened(eye) else {
      output.samples = split.pictures.compactMap { sample($0, of: unit) }
      if !isBase { times.pass(unit) }
      return output
    }
    units.keep(unit, as: split.number)
    let samples = flattened(split.pictures, of: unit, number: split.number, placement)
    units.drop(before: split.oldestNeeded)
    let count = split.parameterSetsChanged ? min(split.earlierCount, samples.count) : 0
    output.earlier = Array(samples.prefix(count))
    output.samples = Array(samples.dropFirst(count))
    return output
  }

  /// Returns the delayed samples of one eye when no further access units follow that they would
  /// have to wait for.
  mutating func drain(_ eye: Eye, _ placement: Placement = Placement()) -> [Sample] {
    guard eye != baseEye else { return [] }
    let samples = flattened(splitter.drain(), of: nil, number: nil, placement)
    units.removeAll()
    return samples
  }

  private func sample(_ picture: SingleLayerAccessUnit, of unit: LayeredSample) -> Sample? {
    guard let data = PictureData(picture, of: unit.data, framing: framing).data else { return nil }
    return Sample(
      data: data, presentationTime: unit.presentationTime, decodeTime: unit.decodeTime,
      duration: unit.duration, flags: unit.flags)
  }

  /// - Parameters:
  ///   - unit: The access unit that completed the pictures; nil at the end.
  ///   - number: The number of that access unit.
  private mutating func flattened(
    _ pictures: [SingleLayerAccessUnit], of unit: LayeredSample?, number: Int?,
    _ placement: Placement
  ) -> [Sample] {
    let found = pictures.compactMap { picture in
      units[picture.accessUnit].map { (picture: picture, unit: $0) }
    }
    let base = found.firstIndex { $0.picture.layerID == 0 && $0.picture.accessUnit == number }
    let isStart = times.isAtStart
    let decodeTimes = times.decodeTimes(
      of: found.map(\.unit), base: base, of: unit, shift: placement.shift)
    return zip(found, decodeTimes).enumerated().compactMap { index, pair in
      let (one, decodeTime) = pair
      guard var sample = sample(one.picture, of: one.unit) else { return nil }
      sample.decodeTime = decodeTime
      sample.presentationTime = one.unit.presentationTime.map { $0 + placement.shift }
      if one.picture.layerID == 0 {
        // A reference of the pictures that are shown.
        let distance = FlattenedTimes.distance(
          in: one.unit, at: sample.presentationTime ?? 0, before: placement.stop,
          isFirst: isStart && index == 0)
        sample.presentationTime = sample.presentationTime.map { $0 + distance }
        sample.duration = max(distance, 1)
        sample.flags.insert(.decodeOnly)
        sample.flags.remove(.droppable)
      }
      if !one.picture.isRandomAccess { sample.flags.insert(.delta) }
      return sample
    }
  }
}

/// The decode and presentation times of a flattened eye's pictures.
///
/// A dependent picture is decoded up to sixteen access units after the base picture of its own
/// access unit, but must not be decoded after its presentation time. So either all timestamps of
/// the stream, and its segments, are delayed, or pictures get earlier decode times than their
/// access units. Decode times increase strictly, and two successive pictures never share a
/// presentation time, since parsers would take them for one picture.
struct FlattenedTimes: Sendable {
  /// In access units: a dependent picture waits for fewer of them than there are picture buffers.
  private static let longestWait = 16
  /// Assumed frame duration if none is known.
  private static let defaultFrameDuration = ClockTime.second / 25

  private var last: ClockTime?
  private var frame = Self.defaultFrameDuration

  /// Returns the delay of a flattened stream's timestamps relative to those of its access units,
  /// for a frame duration (nil if unknown).
  static func shift(frameDuration: ClockTime?) -> ClockTime {
    let frame = frameDuration.flatMap { $0 > 0 ? $0 : nil } ?? defaultFrameDuration
    return min(frame, .second) * longestWait
  }

  /// Returns the decode times of pictures in decoding order.
  ///
  /// - Parameters:
  ///   - pictures: The access units of the pictures.
  ///   - base: Index of the base picture of the access unit `unit`; nil if it is not among them.
  ///   - shift: Delay of the stream's timestamps.
  mutating func decodeTimes(
    of pictures: [LayeredSample], base: Int?, of unit: LayeredSample?, shift: ClockTime
  ) -> [ClockTime?] {
    if let own = unit?.frameDuration, own > 0 { frame = own }
    let isTimed = unit.map { $0.decodeTime != nil } ?? (last != nil)
    guard isTimed else { return pictures.map { _ in nil } }
    let early: ClockTime = shift > 0 ? 0 : min(frame, .second) * Self.longestWait
    let due = unit?.decodeTime.map { $0 - early } ?? last ?? 0
    let before = base ?? 0
    let start = min(last ?? due, due)
    let after = pictures.count - before
    return pictures.enumerated().map { index, picture in
      var time = due
      if index < before {
        time = start + (due - start) / (before + 1) * (index + 1)
      } else if base == nil || index > before {
        let step = frame / 2 / (after + 1)
        time = due + step * (index - before + (base == nil ? 1 : 0))
      }
      if let shown = picture.presentationTime { time = min(time, shown + shift) }
      if let last { time = max(time, last + 1) }
      last = time
      return time
    }
  }

  /// Records that the pictures of an access unit were output as they are, so that later pictures
  /// get later decode times.
  mutating func pass(_ unit: LayeredSample) {
    if let time = unit.decodeTime { last = time }
  }

  /// Whether no picture has been timed yet.
  var isAtStart: Bool { last == nil }

  /// Returns the time between a shown picture and the base picture of its access unit, which is not
  /// shown. It is half a frame, but never reaches beyond the end of the segment, where muxers would
  /// drop the picture. The first base picture is only one nanosecond away, because muxers take its
  /// time as the start of the stream; in a stream of keyframes only, the two directly follow each
  /// other.
  static func distance(
    in unit: LayeredSample, at time: ClockTime, before stop: ClockTime?, isFirst: Bool
  ) -> ClockTime {
    if isFirst { return 1 }
    let half = max((unit.frameDuration ?? 2) / 2, 1)
    guard let stop, stop > time else { return half }
    return max(min(half, (stop - time) / 2), 1)
  }
}
