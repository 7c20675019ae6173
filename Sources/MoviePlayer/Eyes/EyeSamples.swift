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

  init(baseEye: Eye, framing: NALUnitFraming, splitter: EyeSplitter) {
    self.baseEye = baseEye
    self.framing = framing
    self.splitter = splitter
  }

  /// What comes of an access unit for one eye.
  struct Output {
    /// In decoding order.
    var samples: [Sample] = []
    /// The parameter sets from here on, where they change.
    var parameterSets: SingleLayerParameterSets?
    /// Why a picture is missing.
    var failure: FlattenError?
  }

  /// Forgets the pictures so far, for a new start at a random access point.
  mutating func reset() { splitter.reset() }

  /// Takes in parameter sets that came beside the stream.
  mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try splitter.add(parameterSets: parameterSets)
  }

  /// The samples of one eye that come of the next access unit.
  ///
  /// - Parameter start: where the segment begins that they are played in.
  /// - Throws: ``LengthPrefixed/Malformed`` or a ``FlattenError``, where nothing can be had of it.
  mutating func split(
    _ unit: LayeredSample, for eye: Eye, inSegmentFrom start: Nanoseconds? = nil
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
      failure: split.failure)
    for (index, picture) in split.pictures.enumerated() {
      // Only the last is to be shown; where the dependent picture is missing, what is left is the
      // base eye's, which this eye's later pictures may refer to.
      let isLast = index == split.pictures.count - 1
      guard let data = PictureData(picture, of: unit.data, framing: framing).data else { continue }
      let times = PictureTimes(
        of: unit, isReference: !isLast, inSegmentFrom: start)
      var sample = Sample(
        data: data, presentationTime: times.presentation, decodeTime: times.decode,
        duration: times.duration, flags: unit.flags)
      if !isLast || split.failure != nil { sample.flags.insert(.decodeOnly) }
      // Behind the picture that it refers to, no picture is a point to start at.
      if index > 0 { sample.flags.insert(.delta) }
      output.samples.append(sample)
    }
    return output
  }

  /// The samples of one eye that are held back, where no more access units come that they would
  /// have to wait for.
  mutating func drain(_ eye: Eye) -> [Sample] { [] }
}

/// When a picture is decoded and shown that is made of an access unit.
private struct PictureTimes {
  var presentation: Nanoseconds?
  var decode: Nanoseconds?
  var duration: Nanoseconds?

  /// - Parameter isReference: it is what the picture that is shown refers to, and comes before it:
  ///   parsers take two pictures of one time for one, and containers want room between them. Half
  ///   a frame, but not from outside the segment, where muxers would leave it out.
  init(of unit: LayeredSample, isReference: Bool, inSegmentFrom start: Nanoseconds?) {
    var lead: Nanoseconds = 0
    if isReference {
      lead = (unit.frameDuration ?? 2) / 2
      if let time = unit.presentationTime, let start, time >= start {
        lead = min(lead, time - start)
      }
    }
    presentation = unit.presentationTime.map { $0 - min($0, lead) }
    decode = unit.decodeTime.map { $0 - min($0, lead) }
    duration = isReference ? max(lead, 1) : unit.duration
  }
}
