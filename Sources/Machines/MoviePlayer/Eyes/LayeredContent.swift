// SPDX-License-Identifier: MPL-2.0

import HEVC
public import ISOBMFF
import StereoVideo

/// The kind of content of a layered stream, determined from its parameter sets and first access
/// unit.
enum LayeredContent {
  /// A single layer.
  case plain
  /// More layers than the base layer, but none that can be extracted.
  case unreadable(PlayerWarning)
  /// Extractable layers: those of both eyes, or the base layer alone.
  case layers(Layers)

  /// The layers found in a stream.
  struct Layers {
    /// Extracts each eye's samples.
    var eyes: EyeSamples
    /// Number of views, 2 or more; 1 if the layers are something other than views.
    var viewCount: Int
    /// Parameter sets of the eyes that can be extracted.
    var parameterSets: [Eye: SingleLayerParameterSets] = [:]
    /// The eye whose stream also contains the other eye's pictures, which are not shown; nil if
    /// none.
    var flattenedEye: Eye?
    var warning: PlayerWarning?

    /// Returns the delay of an eye's timestamps relative to those of its access units.
    ///
    /// - Parameter frameDuration: The duration of a frame; nil if unknown.
    func shift(of eye: Eye, frameDuration: ClockTime?) -> ClockTime {
      eye == flattenedEye ? FlattenedTimes.shift(frameDuration: frameDuration) : 0
    }
  }

  /// Returns the configuration in a sample entry's records; nil if there is none that can be
  /// parsed.
  static func configuration(of entry: VisualSampleEntry) -> StreamConfiguration? {
    entry.hvcC.flatMap { try? StreamConfiguration(hvcC: $0, lhvC: entry.lhvC) }
  }

  /// Whether samples of a track may contain several layers, so that the first one must be
  /// inspected.
  static func isPossible(in entry: VisualSampleEntry) -> Bool {
    guard entry.hvcC != nil else { return false }
    return entry.lhvC != nil || entry.codec == "hev1"
      || configuration(of: entry)?.parameterSets.contains { layerCount($0) ?? 1 > 1 } == true
  }

  /// Inspects a track's sample entry and first sample.
  init(_ entry: VisualSampleEntry, first sample: ByteSlice?) {
    guard let configuration = Self.configuration(of: entry), let sample else {
      self = .plain
      return
    }
    self.init(
      parameterSets: configuration.parameterSets, framing: configuration.framing, first: sample)
  }

  /// Inspects out-of-band NAL units and the first access unit.
  init(parameterSets: [[UInt8]], framing: NALUnitFraming, first sample: ByteSlice) {
    do {
      self = try Self.inspect(parameterSets, framing, sample)
    } catch {
      let isLayered = parameterSets.contains { Self.layerCount($0) ?? 1 > 1 }
      self =
        isLayered
        ? .unreadable(
          PlayerWarning(
            .layers,
            "Only the video as it is can be played, not each eye: the first frame is damaged "
              + "(\(error))."))
        : .plain
    }
  }

  /// Returns the number of layers that a VPS declares; nil for any other NAL unit.
  private static func layerCount(_ nalUnit: [UInt8]) -> Int? {
    guard NALUnitHeader(nalUnit.span.bytes)?.type == .videoParameterSet else { return nil }
    return (try? VideoParameterSet(nalUnit: nalUnit)).map { $0.maxLayersMinus1 + 1 }
  }

  private static func inspect(
    _ beside: [[UInt8]], _ framing: NALUnitFraming, _ sample: ByteSlice
  ) throws -> LayeredContent {
    let sets = beside + (try sample.withSpan { try interestingUnits($0, framing) })
    let sequence = sets.last { NALUnitHeader($0.span.bytes)?.type == .videoParameterSet }
    guard let sequence, let vps = try? VideoParameterSet(nalUnit: sequence),
      vps.maxLayersMinus1 > 0
    else { return .plain }
    let information = LayeredStreamInformation(
      vps, displays: ThreeDReferenceDisplaysInformation(nalUnits: sets))
    // With a single view, either name will do.
    let baseEye = information.baseEye ?? .left
    var splitter = EyeSplitter(isBaseOnly: !information.isStereo)
    try splitter.add(
      parameterSets: beside.filter { NALUnitHeader($0.span.bytes)?.type.isParameterSet ?? false })
    let eyes = EyeSamples(baseEye: baseEye, framing: framing, splitter: splitter)
    var layers = Layers(
      eyes: eyes, viewCount: information.viewCount,
      warning: information.warning.map { PlayerWarning(.layers, sentence($0)) })
    // A trial on a copy: only the parameter sets are kept.
    var trial = eyes
    for eye in information.isStereo ? [baseEye, baseEye.other] : [baseEye] {
      do {
        layers.parameterSets[eye] = try trial.split(LayeredSample(data: sample), for: eye)
          .parameterSets
        if trial.isFlattened(eye) { layers.flattenedEye = eye }
      } catch {
        guard eye != baseEye else { throw error }
        layers.warning = PlayerWarning(.layers, "The \(eye) eye cannot be extracted: \(error).")
      }
    }
    return .layers(layers)
  }

  /// Returns the NAL units of an access unit that describe the stream.
  private static func interestingUnits(
    _ bytes: RawSpan, _ framing: NALUnitFraming
  ) throws(LengthPrefixed.Malformed) -> [[UInt8]] {
    try framing.nalUnits(in: bytes).compactMap { range in
      let unit = bytes.extracting(range)
      guard let type = NALUnitHeader(unit)?.type, type.isParameterSet || type == .prefixSEI else {
        return nil
      }
      return unit.withUnsafeBytes { Array($0) }
    }
  }

  /// Returns the first SPS of an access unit; nil if it has none that can be read.
  static func sequenceParameterSet(
    in sample: ByteSlice, _ framing: NALUnitFraming
  ) -> SequenceParameterSet? {
    let units = try? sample.withSpan { try interestingUnits($0, framing) }
    let unit = units?.first { NALUnitHeader($0.span.bytes)?.type == .sequenceParameterSet }
    return unit.flatMap { try? SequenceParameterSet(nalUnit: $0) }
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}

/// The bytes of a picture extracted from an access unit: ranges of it, and rewritten beginnings of
/// NAL units, with length prefixes of four bytes.
struct PictureData {
  private enum Part {
    case kept(Range<Int>)
    case written(Range<Int>)
  }

  private var parts: [Part] = []
  private var written: [UInt8] = []
  private let source: ByteSlice

  init(_ picture: SingleLayerAccessUnit, of source: ByteSlice, framing: NALUnitFraming) {
    self.source = source
    parts.reserveCapacity(picture.nalUnits.count * 2)
    written.reserveCapacity(picture.nalUnits.reduce(0) { $0 + 4 + $1.beginning.count })
    // Samples contain no access unit delimiters.
    for unit in picture.nalUnits where unit.header.type != .accessUnitDelimiter {
      if unit.beginning.isEmpty, framing == .lengthPrefixed(lengthSize: 4),
        unit.payload.lowerBound >= 4
      {
        // The existing length prefix is already correct.
        keep(unit.payload.lowerBound - 4..<unit.payload.upperBound)
      } else {
        let start = written.count
        let length = UInt32(clamping: unit.byteCount)
        for shift in [24, 16, 8, 0] as [UInt32] {
          written.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        written += unit.beginning
        parts.append(.written(start..<written.count))
        if !unit.payload.isEmpty { parts.append(.kept(unit.payload)) }
      }
    }
  }

  private mutating func keep(_ range: Range<Int>) {
    if case .kept(let last)? = parts.last, last.upperBound == range.lowerBound {
      parts[parts.count - 1] = .kept(last.lowerBound..<range.upperBound)
    } else {
      parts.append(.kept(range))
    }
  }

  /// All parts as references; nil if there are none.
  var data: SampleData? {
    let own = written.isEmpty ? nil : ByteSlice(written)
    return SampleData(
      parts.compactMap {
        switch $0 {
        case .kept(let range): source.part(range)
        case .written(let range): own?.part(range)
        }
      })
  }
}

extension VisualSampleEntry {
  /// Whether the records declare several views in layers.
  public var hasLayeredViews: Bool {
    let sets = LayeredContent.configuration(of: self)?.parameterSets ?? []
    let vps = sets.last { NALUnitHeader($0.span.bytes)?.type == .videoParameterSet }
    guard lhvC != nil, let vps = vps.flatMap({ try? VideoParameterSet(nalUnit: $0) }) else {
      return false
    }
    return LayeredStreamInformation(vps, displays: nil).viewCount > 1
  }
}
