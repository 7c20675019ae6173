// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo

/// An access unit of a layered stream, whose pictures become samples of the eyes.
struct LayeredSample: Sendable {
  /// In one part, so that a slice header is never cut.
  var data: ByteSlice
  var presentationTime: Nanoseconds?
  var decodeTime: Nanoseconds?
  var duration: Nanoseconds?
  /// Those of both eyes' samples.
  var flags: Sample.Flags = []
  /// The time between two frames of the stream; nil where nothing says that.
  var frameDuration: Nanoseconds?
}

/// Makes the eyes' samples out of the access units of a layered stream.
///
/// A picture may come out some access units after the one it is of: the standard's order of the
/// dependent eye's pictures asks for that. Until then its bytes and times are kept here.
struct EyeSamples: Sendable {
  let baseEye: Eye
  let framing: NALUnitFraming
  private var splitter: EyeSplitter
  /// Access units whose dependent pictures have not come out yet.
  private var units = AccessUnitSources<LayeredSample>()
  private var times = FlattenedTimes()

  init(baseEye: Eye, framing: NALUnitFraming, splitter: EyeSplitter) {
    self.baseEye = baseEye
    self.framing = framing
    self.splitter = splitter
  }

  /// What comes of an access unit for one eye.
  struct Output {
    /// In decoding order: of access units before.
    var earlier: [Sample] = []
    /// The parameter sets from here on, where they change.
    var parameterSets: SingleLayerParameterSets?
    var samples: [Sample] = []
    /// Why a picture is missing.
    var failure: FlattenError?
    /// What decoders may stumble over from here on.
    var warning: FlattenWarning?
  }

  /// Where an eye's samples lie in time.
  struct Placement {
    /// By how much the stream's timestamps are later than those of the access units.
    var shift: Nanoseconds = 0
    /// Where the segment ends that they are played in.
    var stop: Nanoseconds?
  }

  /// Whether the eye's stream has the other eye's pictures in it, which are not shown.
  func isFlattened(_ eye: Eye) -> Bool { eye != baseEye && splitter.isFlattening }

  /// By how many access units a picture of an eye has come late, at the most so far.
  func delay(of eye: Eye) -> Int { eye == baseEye ? 0 : splitter.delay }

  /// Forgets the pictures so far, for a new start at a random access point.
  mutating func reset() {
    splitter.reset()
    units.removeAll()
    times = FlattenedTimes()
  }

  /// Takes in parameter sets that came beside the stream.
  mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try splitter.add(parameterSets: parameterSets)
  }

  /// The samples of one eye that come of the next access unit.
  ///
  /// - Throws: ``LengthPrefixed/Malformed`` or a ``FlattenError``, where nothing can be had of it.
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

  /// The samples of one eye that are held back, where no more access units come that they would
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
  ///   - unit: the access unit that they come of; nil at the end.
  ///   - number: its number.
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
      sample.presentationTime = one.unit.presentationTime.map {
        saturatingSum($0, placement.shift)
      }
      if one.picture.layerID == 0 {
        // What the pictures that are shown refer to.
        let distance = FlattenedTimes.distance(
          in: one.unit, at: sample.presentationTime ?? 0, before: placement.stop,
          isFirst: isStart && index == 0)
        sample.presentationTime = sample.presentationTime.map { saturatingSum($0, distance) }
        sample.duration = max(distance, 1)
        sample.flags.insert(.decodeOnly)
        sample.flags.remove(.droppable)
      }
      if !one.picture.isRandomAccess { sample.flags.insert(.delta) }
      return sample
    }
  }
}

/// When the pictures of a flattened eye are decoded and shown.
///
/// A picture of the eye is decoded up to sixteen access units later than the base picture of its own
/// access unit, and yet not after it is shown. So either all timestamps of the stream are moved to
/// later ones, its segments with them, or pictures are decoded earlier than their access units say.
/// Decode times rise strictly, and no two pictures behind each other have one presentation time:
/// parsers take such for one picture.
struct FlattenedTimes: Sendable {
  /// A dependent picture waits for fewer access units than there are picture buffers.
  private static let longestWait: Nanoseconds = 16
  /// The frame duration where nothing says one.
  private static let usualFrame = Nanoseconds.second / 25

  private var last: Nanoseconds?
  private var frame = Self.usualFrame

  /// By how much later the timestamps of a flattened stream have to be than those of its access
  /// units, with frames of this duration (nil where it is not known).
  static func shift(frameDuration: Nanoseconds?) -> Nanoseconds {
    let frame = frameDuration.flatMap { $0 > 0 ? $0 : nil } ?? usualFrame
    return min(frame, .second) * longestWait
  }

  /// Decode times of pictures that are coded one behind the other.
  ///
  /// - Parameters:
  ///   - pictures: the access units that they are of.
  ///   - base: which of them is the base picture of the access unit `unit`; nil where there is none.
  ///   - shift: by how much the timestamps of the stream are later.
  mutating func decodeTimes(
    of pictures: [LayeredSample], base: Int?, of unit: LayeredSample?, shift: Nanoseconds
  ) -> [Nanoseconds?] {
    if let own = unit?.frameDuration, own > 0 { frame = own }
    let isTimed = unit.map { $0.decodeTime != nil } ?? (last != nil)
    guard isTimed else { return pictures.map { _ in nil } }
    let early = shift > 0 ? 0 : min(frame, .second) * Self.longestWait
    let due = unit?.decodeTime.map { $0 - min($0, early) } ?? last ?? 0
    let before = base ?? 0
    let start = min(last ?? due, due)
    let behind = pictures.count - before
    return pictures.enumerated().map { index, picture in
      var time = due
      if index < before {
        time = start + (due - start) / Nanoseconds(before + 1) * Nanoseconds(index + 1)
      } else if base == nil || index > before {
        let step = frame / 2 / Nanoseconds(behind + 1)
        time = saturatingSum(due, step * Nanoseconds(index - before + (base == nil ? 1 : 0)))
      }
      if let shown = picture.presentationTime { time = min(time, saturatingSum(shown, shift)) }
      if let last { time = max(time, saturatingSum(last, 1)) }
      last = time
      return time
    }
  }

  /// Says that the pictures of an access unit were given as they are: what comes later is decoded
  /// later.
  mutating func pass(_ unit: LayeredSample) {
    if let time = unit.decodeTime { last = time }
  }

  /// Whether nothing has come yet.
  var isAtStart: Bool { last == nil }

  /// The time between a picture that is shown and the base picture of its access unit, which is
  /// not: half a frame, but not beyond the end of the segment, where muxers would leave it out. The
  /// very first has the time of the one that is shown, which muxers take for that of the whole stream,
  /// but for a nanosecond: where keyframes alone are in a stream, the two come one behind the other.
  static func distance(
    in unit: LayeredSample, at time: Nanoseconds, before stop: Nanoseconds?, isFirst: Bool
  ) -> Nanoseconds {
    if isFirst { return 1 }
    let half = max((unit.frameDuration ?? 2) / 2, 1)
    guard let stop, stop > time else { return half }
    return max(min(half, (stop - time) / 2), 1)
  }
}
