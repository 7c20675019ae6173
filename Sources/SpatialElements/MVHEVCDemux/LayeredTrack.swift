import GStreamer
import HEVC
import ISOBMFF
import StereoVideo

/// What a layered stream turns out to be, by its parameter sets and its first access unit.
enum LayeredTrack {
  /// One layer only.
  case plain
  /// More layers than the base layer, of which nothing can be had.
  case unreadable(warning: String)
  /// Layers that are read, all of two eyes or the base layer alone: the parameter sets of the eyes
  /// that can be had.
  case layers(Content, sets: [Eye: SingleLayerParameterSets], warning: String?)

  /// What the samples of a layered stream hold.
  struct Content {
    var eyes: EyeOutput
    /// How many views, two or more; one where what is layered is something else.
    var viewCount: Int
  }

  /// NAL units of the records of a sample entry; empty where it has none that can be read.
  static func parameterSets(of entry: VisualSampleEntry) -> [[UInt8]] {
    let base = entry.hvcC.flatMap { try? HEVCDecoderConfigurationRecord(bytes: $0) }
    let layered = entry.lhvC.flatMap { try? LHEVCDecoderConfigurationRecord(bytes: $0) }
    return (base?.nalUnits ?? []) + (layered?.nalUnits ?? [])
  }

  /// Looks at a track's sample entry and its first sample.
  init(_ entry: VisualSampleEntry, first sample: Buffer?) {
    guard let record = entry.hvcC.flatMap({ try? HEVCDecoderConfigurationRecord(bytes: $0) }),
      let sample
    else {
      self = .plain
      return
    }
    self.init(
      parameterSets: Self.parameterSets(of: entry),
      framing: .lengthPrefixed(lengthSize: record.lengthSize), first: sample)
  }

  /// Looks at NAL units that came beside the stream, and at the first access unit.
  init(parameterSets: [[UInt8]], framing: NALUnitFraming, first sample: Buffer) {
    do {
      self = try sample.withBytes { bytes in
        let span = RawSpan(_unsafeBytes: bytes)
        return try Self.inspect(
          parameterSets, framing, sample, span, try framing.nalUnits(in: span))
      }
    } catch {
      self =
        parameterSets.contains { Self.layerCount($0) ?? 1 > 1 }
        ? .unreadable(
          warning: "The eyes cannot be had, only the video as it is: the first frame is "
            + "damaged (\(error)).") : .plain
    }
  }

  private static func layerCount(_ nalUnit: [UInt8]) -> Int? {
    guard NALUnitHeader(nalUnit.span.bytes)?.type == .videoParameterSet else { return nil }
    return (try? VideoParameterSet(nalUnit: nalUnit)).map { $0.maxLayersMinus1 + 1 }
  }

  private static func inspect(
    _ beside: [[UInt8]], _ framing: NALUnitFraming, _ sample: Buffer, _ bytes: RawSpan,
    _ units: [Range<Int>]
  ) throws -> LayeredTrack {
    let inside = units.compactMap { range -> [UInt8]? in
      let unit = bytes.extracting(range)
      guard let type = NALUnitHeader(unit)?.type, type.isParameterSet || type == .prefixSEI else {
        return nil
      }
      return unit.withUnsafeBytes { Array($0) }
    }
    let sets = beside + inside
    let sequence = sets.last { NALUnitHeader($0.span.bytes)?.type == .videoParameterSet }
    guard let sequence, let vps = try? VideoParameterSet(nalUnit: sequence),
      vps.maxLayersMinus1 > 0
    else { return .plain }
    let information = LayeredStreamInformation(
      vps, displays: ThreeDReferenceDisplaysInformation(nalUnits: sets))
    // Where there is one view only, one name is as good as the other.
    let baseEye = information.baseEye ?? .left
    var splitter = EyeSplitter(isBaseOnly: !information.isStereo)
    try splitter.add(parameterSets: beside.filter { isParameterSet($0) })
    let output = EyeOutput(baseEye: baseEye, framing: framing, splitter: splitter)
    // A trial on a copy: what comes of it is thrown away but for the parameter sets.
    var trial = output
    var eyeSets: [Eye: SingleLayerParameterSets] = [:]
    var warning = information.warning.map { sentence($0) }
    for eye in information.isStereo ? [baseEye, baseEye.other] : [baseEye] {
      do {
        eyeSets[eye] = try trial.split(sample, bytes, nalUnits: units, for: eye).parameterSets
      } catch {
        guard eye != baseEye else { throw error }
        warning = "The \(eye) eye cannot be had: \(error)."
      }
    }
    return .layers(
      Content(eyes: output, viewCount: information.viewCount), sets: eyeSets, warning: warning)
  }

  private static func isParameterSet(_ unit: [UInt8]) -> Bool {
    NALUnitHeader(unit.span.bytes)?.type.isParameterSet ?? false
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}

extension VisualSampleEntry {
  /// Whether the samples hold several views in layers.
  var hasLayeredViews: Bool {
    let sets = LayeredTrack.parameterSets(of: self)
    let vps = sets.last { NALUnitHeader($0.span.bytes)?.type == .videoParameterSet }
    guard lhvC != nil, let vps = vps.flatMap({ try? VideoParameterSet(nalUnit: $0) }) else {
      return false
    }
    return LayeredStreamInformation(vps, displays: nil).viewCount > 1
  }
}
