// SPDX-License-Identifier: MPL-2.0

import HEVC
public import ISOBMFF
import StereoVideo

/// What a layered stream turns out to be, by its parameter sets and its first access unit.
enum LayeredContent {
  /// One layer only.
  case plain
  /// More layers than the base layer, of which nothing can be had.
  case unreadable(PlayerWarning)
  /// Layers that are read, all of two eyes or the base layer alone.
  case layers(Layers)

  /// What the samples of a layered stream hold.
  struct Layers {
    /// How the eyes are had.
    var eyes: EyeSamples
    /// How many views, two or more; one where what is layered is something else.
    var viewCount: Int
    /// The parameter sets of the eyes that can be had.
    var parameterSets: [Eye: SingleLayerParameterSets] = [:]
    /// The eye whose stream has the other eye's pictures in it, which are not shown; nil for none.
    var flattenedEye: Eye?
    var warning: PlayerWarning?

    /// By how much an eye's timestamps are later than those of its access units.
    ///
    /// - Parameter frameDuration: nil where it is not known.
    func shift(of eye: Eye, frameDuration: Nanoseconds?) -> Nanoseconds {
      eye == flattenedEye ? FlattenedTimes.shift(frameDuration: frameDuration) : 0
    }
  }

  /// What the records of a sample entry say; nil where it has none that can be read.
  static func configuration(of entry: VisualSampleEntry) -> StreamConfiguration? {
    entry.hvcC.flatMap { try? StreamConfiguration(hvcC: $0, lhvC: entry.lhvC) }
  }

  /// Whether the samples of a track may hold several layers, so that the first has to be looked at.
  static func isPossible(in entry: VisualSampleEntry) -> Bool {
    guard entry.hvcC != nil else { return false }
    return entry.lhvC != nil || entry.codec == "hev1"
      || configuration(of: entry)?.parameterSets.contains { layerCount($0) ?? 1 > 1 } == true
  }

  /// Looks at a track's sample entry and its first sample.
  init(_ entry: VisualSampleEntry, first sample: ByteSlice?) {
    guard let configuration = Self.configuration(of: entry), let sample else {
      self = .plain
      return
    }
    self.init(
      parameterSets: configuration.parameterSets, framing: configuration.framing, first: sample)
  }

  /// Looks at NAL units that came beside the stream, and at the first access unit.
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
            "The eyes cannot be had, only the video as it is: the first frame is damaged "
              + "(\(error))."))
        : .plain
    }
  }

  /// How many layers a VPS says there are; nil for any other NAL unit.
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
    // Where there is one view only, one name is as good as the other.
    let baseEye = information.baseEye ?? .left
    var splitter = EyeSplitter(isBaseOnly: !information.isStereo)
    try splitter.add(
      parameterSets: beside.filter { NALUnitHeader($0.span.bytes)?.type.isParameterSet ?? false })
    let eyes = EyeSamples(baseEye: baseEye, framing: framing, splitter: splitter)
    var layers = Layers(
      eyes: eyes, viewCount: information.viewCount,
      warning: information.warning.map { PlayerWarning(.layers, sentence($0)) })
    // A trial on a copy: what comes of it is thrown away but for the parameter sets.
    var trial = eyes
    for eye in information.isStereo ? [baseEye, baseEye.other] : [baseEye] {
      do {
        layers.parameterSets[eye] = try trial.split(LayeredSample(data: sample), for: eye)
          .parameterSets
        if trial.isFlattened(eye) { layers.flattenedEye = eye }
      } catch {
        guard eye != baseEye else { throw error }
        layers.warning = PlayerWarning(.layers, "The \(eye) eye cannot be had: \(error).")
      }
    }
    return .layers(layers)
  }

  /// The NAL units of an access unit that say what the stream is.
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

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}

/// The bytes of a picture that was taken out of an access unit: parts of it, and the beginnings of
/// NAL units that were written anew, with length prefixes of four bytes.
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
    // Parameter sets and delimiters have no place in samples.
    for unit in picture.nalUnits where unit.header.type != .accessUnitDelimiter {
      if unit.beginning.isEmpty, framing == .lengthPrefixed(lengthSize: 4),
        unit.payload.lowerBound >= 4
      {
        // The prefix in front of it is right as it is.
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

  /// All parts as references; nil where there is none.
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
  /// Whether the records say that the samples hold several views in layers.
  public var hasLayeredViews: Bool {
    let sets = LayeredContent.configuration(of: self)?.parameterSets ?? []
    let vps = sets.last { NALUnitHeader($0.span.bytes)?.type == .videoParameterSet }
    guard lhvC != nil, let vps = vps.flatMap({ try? VideoParameterSet(nalUnit: $0) }) else {
      return false
    }
    return LayeredStreamInformation(vps, displays: nil).viewCount > 1
  }
}
