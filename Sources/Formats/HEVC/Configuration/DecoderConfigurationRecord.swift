// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The fields common to `hvcC` and `lhvC` (ISO/IEC 14496-15 8.3.3.1 and 9.5.3.1).
public protocol DecoderConfigurationRecord: Hashable, Sendable {
  /// `min_spatial_segmentation_idc`, 0 to 4095.
  var minSpatialSegmentationIDC: Int { get set }
  /// `parallelismType`: 0 unknown, 1 slices, 2 tiles, 3 wavefronts.
  var parallelismType: Int { get set }
  /// `numTemporalLayers`; 0 if unknown.
  var temporalLayerCount: Int { get set }
  /// `temporalIdNested`
  var temporalIDNested: Bool { get set }
  /// Size in bytes of the length before each NAL unit: 1, 2 or 4, the same in both records of a
  /// track.
  var lengthSize: Int { get set }
  /// The parameter sets and, in `hvcC`, SEI.
  var arrays: [ParameterSetArray] { get set }
}

extension DecoderConfigurationRecord {
  /// The NAL units of all arrays, including emulation prevention bytes.
  public var nalUnits: [[UInt8]] { arrays.flatMap(\.nalUnits) }

  /// Reads `configurationVersion`.
  static func readVersion(_ reader: inout BitReader) throws(SyntaxError) {
    // Files written before the standard was final have version 0.
    _ = try reader.u(8, "configurationVersion", in: 0...1)
  }

  /// Reads from `min_spatial_segmentation_idc` to `parallelismType`, including the preceding
  /// reserved bits.
  fileprivate mutating func readSegmentation(_ reader: inout BitReader) throws(SyntaxError) {
    _ = try reader.u(4, "reserved")
    minSpatialSegmentationIDC = try reader.u(12, "min_spatial_segmentation_idc")
    _ = try reader.u(6, "reserved")
    parallelismType = try reader.u(2, "parallelismType")
  }

  fileprivate func writeSegmentation(to writer: inout BitWriter) {
    writer.u(0xF, 4)
    writer.u(minSpatialSegmentationIDC, 12)
    writer.u(0x3F, 6)
    writer.u(parallelismType, 2)
  }

  /// Reads `numTemporalLayers` and all following fields.
  fileprivate mutating func readLayersAndArrays(_ reader: inout BitReader) throws(SyntaxError) {
    temporalLayerCount = try reader.u(3, "numTemporalLayers")
    temporalIDNested = try reader.flag("temporalIdNested")
    lengthSize = try reader.u(2, "lengthSizeMinusOne") + 1
    arrays = try ParameterSetArray.readAll(&reader)
  }

  fileprivate func writeLayersAndArrays(to writer: inout BitWriter) {
    writer.u(temporalLayerCount, 3)
    writer.flag(temporalIDNested)
    writer.u(lengthSize - 1, 2)
    ParameterSetArray.write(arrays, to: &writer)
  }
}

/// Stream parameters from outside the access units: the NAL unit framing, and the parameter sets
/// and SEI of the decoder configuration records.
public struct StreamConfiguration: Sendable {
  /// Framing of the NAL units in access units.
  public let framing: NALUnitFraming
  /// NAL units of the records of all layers.
  public let parameterSets: [[UInt8]]
  /// Why the dependent layer's record is unreadable, in which case its NAL units are missing; nil
  /// if it is readable or there is none.
  public let layeredRecordError: SyntaxError?

  /// A byte stream, with its parameter sets in-band.
  public static let byteStream = StreamConfiguration(framing: .annexB)

  /// Creates the configuration of a stream without the base layer's record.
  ///
  /// - Parameters:
  ///   - framing: framing of the NAL units.
  ///   - lhvC: record of the dependent layer, if there is one.
  public init(framing: NALUnitFraming, lhvC: [UInt8]? = nil) {
    self.framing = framing
    (parameterSets, layeredRecordError) = Self.dependentSets(lhvC)
  }

  /// Creates the configuration of a stream with length prefixes.
  ///
  /// - Parameters:
  ///   - hvcC: record of the base layer: the content of the box, which is `codec_data` in
  ///     GStreamer.
  ///   - lhvC: record of the dependent layer, if there is one.
  /// - Throws: `SyntaxError` if the record of the base layer is unreadable.
  public init(hvcC: [UInt8], lhvC: [UInt8]? = nil) throws(SyntaxError) {
    let base = try HEVCDecoderConfigurationRecord(bytes: hvcC)
    framing = .lengthPrefixed(lengthSize: base.lengthSize)
    let dependent = Self.dependentSets(lhvC)
    parameterSets = base.nalUnits + dependent.units
    layeredRecordError = dependent.error
  }

  private static func dependentSets(_ lhvC: [UInt8]?) -> (units: [[UInt8]], error: SyntaxError?) {
    guard let lhvC else { return ([], nil) }
    do {
      return (try LHEVCDecoderConfigurationRecord(bytes: lhvC).nalUnits, nil)
    } catch {
      return ([], error)
    }
  }
}

/// An array of `hvcC` or `lhvC`: NAL units of one type (ISO/IEC 14496-15 8.3.3.1.2).
public struct ParameterSetArray: Hashable, Sendable {
  /// `array_completeness`: whether the samples contain no NAL units of this type.
  public var isComplete: Bool
  /// `NAL_unit_type`
  public var type: NALUnitType
  /// The NAL units.
  public var nalUnits: [[UInt8]]

  /// Creates an array from its fields.
  public init(isComplete: Bool, type: NALUnitType, nalUnits: [[UInt8]]) {
    self.isComplete = isComplete
    self.type = type
    self.nalUnits = nalUnits
  }

  /// Reads `numOfArrays` and the arrays.
  fileprivate static func readAll(_ reader: inout BitReader) throws(SyntaxError)
    -> [ParameterSetArray]
  {
    var arrays: [ParameterSetArray] = []
    for _ in 0..<(try reader.u(8, "numOfArrays")) {
      let isComplete = try reader.flag("array_completeness")
      _ = try reader.u(1, "reserved")
      let type = NALUnitType(rawValue: UInt8(try reader.u(6, "NAL_unit_type")))
      var units: [[UInt8]] = []
      for _ in 0..<(try reader.u(16, "numNalus")) {
        units.append(try reader.bytes(reader.u(16, "nalUnitLength"), "nalUnit"))
      }
      arrays.append(ParameterSetArray(isComplete: isComplete, type: type, nalUnits: units))
    }
    return arrays
  }

  /// Writes `numOfArrays` and `arrays`.
  static func write(_ arrays: [ParameterSetArray], to writer: inout BitWriter) {
    writer.u(arrays.count, 8)
    for array in arrays {
      writer.flag(array.isComplete)
      writer.flag(false)
      writer.u(Int(array.type.rawValue), 6)
      writer.u(array.nalUnits.count, 16)
      for unit in array.nalUnits {
        writer.u(unit.count, 16)
        writer.write(unit)
      }
    }
  }

  /// Returns a complete array for each non-empty entry.
  static func complete(_ kinds: [(NALUnitType, [[UInt8]])]) -> [ParameterSetArray] {
    kinds.filter { !$0.1.isEmpty }.map {
      ParameterSetArray(isComplete: true, type: $0.0, nalUnits: $0.1)
    }
  }
}

/// HEVCDecoderConfigurationRecord: the content of an `hvcC` box (ISO/IEC 14496-15 8.3.3.1), and
/// `codec_data` of GStreamer's `stream-format=hvc1`.
public struct HEVCDecoderConfigurationRecord: DecoderConfigurationRecord {
  /// Profile, tier and level of the base layer.
  public var profileTierLevel: ProfileTierLevel
  /// `min_spatial_segmentation_idc`, 0 to 4095.
  public var minSpatialSegmentationIDC = 0
  /// `parallelismType`: 0 unknown, 1 slices, 2 tiles, 3 wavefronts.
  public var parallelismType = 0
  /// `chromaFormat`: `chroma_format_idc`.
  public var chromaFormatIDC = 1
  /// Bits per luma sample, 8 to 15.
  public var bitDepthLuma = 8
  /// Bits per chroma sample, 8 to 15.
  public var bitDepthChroma = 8
  /// `avgFrameRate` in frames per 256 seconds; 0 if unknown.
  public var averageFrameRate = 0
  /// `constantFrameRate`: 0 unknown, 1 constant, 2 constant in each sub-layer.
  public var constantFrameRate = 0
  /// `numTemporalLayers`; 0 if unknown.
  public var temporalLayerCount = 1
  /// `temporalIdNested`.
  public var temporalIDNested = false
  /// Size in bytes of the length before each NAL unit: 1, 2 or 4.
  public var lengthSize = 4
  /// Arrays of parameter sets and SEI.
  public var arrays: [ParameterSetArray] = []

  /// Reads the record. Reserved bits and data after the arrays are ignored.
  public init(bytes: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(bytes, structure: "HEVCDecoderConfigurationRecord")
    try Self.readVersion(&reader)
    profileTierLevel = try ProfileTierLevel(
      &reader, profilePresent: true, maxSubLayersMinus1: 0)
    try readSegmentation(&reader)
    _ = try reader.u(6, "reserved")
    chromaFormatIDC = try reader.u(2, "chromaFormat")
    _ = try reader.u(5, "reserved")
    bitDepthLuma = try reader.u(3, "bitDepthLumaMinus8") + 8
    _ = try reader.u(5, "reserved")
    bitDepthChroma = try reader.u(3, "bitDepthChromaMinus8") + 8
    averageFrameRate = try reader.u(16, "avgFrameRate")
    constantFrameRate = try reader.u(2, "constantFrameRate")
    try readLayersAndArrays(&reader)
  }

  /// Creates the base layer record of a stream with the parameter sets `sets`. The VPS, SPS, PPS
  /// and the SEI that maps views to eyes are in complete arrays, as AVFoundation writes them.
  public init(_ sets: LayeredParameterSets) throws(SyntaxError) {
    let sps = try sets.firstBaseSequenceParameterSet()
    self.init(sps)
    // AVFoundation writes 0 regardless of the SPS, which guarantees nothing.
    temporalIDNested = false
    arrays = ParameterSetArray.complete([
      (.videoParameterSet, [sets.videoParameterSet]),
      (.sequenceParameterSet, sets.baseSequenceParameterSets),
      (.pictureParameterSet, sets.basePictureParameterSets),
      (.prefixSEI, [sets.threeDReferenceDisplays].filter { !$0.isEmpty }),
    ])
  }

  /// Creates a record without arrays for streams with the SPS `sps`, which is not in the short
  /// form.
  init(_ sps: SequenceParameterSet) {
    profileTierLevel =
      sps.profileTierLevel ?? ProfileTierLevel(profile: .init(), levelIDC: 0)
    profileTierLevel.subLayers = []
    minSpatialSegmentationIDC = sps.vui?.bitstreamRestriction?.minSpatialSegmentationIDC ?? 0
    chromaFormatIDC = sps.format.sampleFormat?.chromaFormatIDC ?? 1
    bitDepthLuma = sps.format.sampleFormat?.bitDepthLuma ?? 8
    bitDepthChroma = sps.format.sampleFormat?.bitDepthChroma ?? 8
    temporalLayerCount = sps.maxSubLayersMinus1 + 1
    temporalIDNested = sps.temporalIDNesting
  }

  /// The content of the `hvcC` box.
  public var bytes: [UInt8] {
    var writer = BitWriter()
    writer.u(1, 8)
    profileTierLevel.write(to: &writer)
    writeSegmentation(to: &writer)
    writer.u(0x3F, 6)
    writer.u(chromaFormatIDC, 2)
    writer.u(0x1F, 5)
    writer.u(bitDepthLuma - 8, 3)
    writer.u(0x1F, 5)
    writer.u(bitDepthChroma - 8, 3)
    writer.u(averageFrameRate, 16)
    writer.u(constantFrameRate, 2)
    writeLayersAndArrays(to: &writer)
    return writer.bytes
  }
}

extension LayeredParameterSets {
  fileprivate func firstBaseSequenceParameterSet() throws(SyntaxError) -> SequenceParameterSet {
    guard let first = baseSequenceParameterSets.first else {
      throw SyntaxError(
        structure: "HEVCDecoderConfigurationRecord", element: "general_profile_idc", bitOffset: 0,
        reason: .missing("an SPS of the base layer"))
    }
    return try SequenceParameterSet(nalUnit: first)
  }
}

/// LHEVCDecoderConfigurationRecord: the content of an `lhvC` box (ISO/IEC 14496-15 9.5.3.1), which
/// describes the layers above the base.
public struct LHEVCDecoderConfigurationRecord: DecoderConfigurationRecord {
  /// `min_spatial_segmentation_idc`, 0 to 4095.
  public var minSpatialSegmentationIDC = 0
  /// `parallelismType`: 0 unknown, 1 slices, 2 tiles, 3 wavefronts.
  public var parallelismType = 0
  /// `numTemporalLayers`; 0 if unknown.
  public var temporalLayerCount = 1
  /// `temporalIdNested`.
  public var temporalIDNested = false
  /// Size in bytes of the length before each NAL unit: 1, 2 or 4.
  public var lengthSize = 4
  /// Arrays of parameter sets.
  public var arrays: [ParameterSetArray] = []

  /// Reads the record. Reserved bits and data after the arrays are ignored.
  public init(bytes: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(bytes, structure: "LHEVCDecoderConfigurationRecord")
    try Self.readVersion(&reader)
    try readSegmentation(&reader)
    _ = try reader.u(2, "reserved")
    try readLayersAndArrays(&reader)
  }

  /// Creates the dependent layer record of a stream with the parameter sets `sets`. The SPS and PPS
  /// are in complete arrays, as AVFoundation writes them.
  public init(_ sets: LayeredParameterSets) throws(SyntaxError) {
    let sps = try sets.firstBaseSequenceParameterSet()
    temporalLayerCount = sps.maxSubLayersMinus1 + 1
    arrays = ParameterSetArray.complete([
      (.sequenceParameterSet, sets.dependentSequenceParameterSets),
      (.pictureParameterSet, sets.dependentPictureParameterSets),
    ])
  }

  /// The content of the `lhvC` box.
  public var bytes: [UInt8] {
    var writer = BitWriter()
    writer.u(1, 8)
    writeSegmentation(to: &writer)
    writer.u(0b11, 2)
    writeLayersAndArrays(to: &writer)
    return writer.bytes
  }
}

extension HEVCDecoderConfigurationRecord {
  /// The VUI (E.2.1) of the base layer's first SPS; nil if the SPS has none or is unreadable.
  public var videoUsability: VideoUsabilityInformation? {
    let sets = nalUnits.filter {
      let header = NALUnitHeader($0.span.bytes)
      return header?.type == .sequenceParameterSet && header?.layerID == 0
    }
    return sets.first.flatMap { try? SequenceParameterSet(nalUnit: $0) }?.vui
  }

  /// Returns whether the SPS in `record`, the content of an `hvcC` box, signals full-range samples;
  /// nil if it does not say.
  public static func isFullRange(_ record: [UInt8]) -> Bool? {
    (try? HEVCDecoderConfigurationRecord(bytes: record))?.videoUsability?.signalType?.fullRange
  }
}

extension HEVCDecoderConfigurationRecord {
  /// The codecs parameter of RFC 6381 for an `hvc1` track with this record, such as
  /// `hvc1.1.6.L123.B0` (ISO/IEC 14496-15 annex E.3). For a layered stream it describes the base
  /// layer, which is what players understand.
  public var codecParameter: String {
    let profile = profileTierLevel.profile ?? ProfileTierLevel.Profile()
    let space = ["", "A", "B", "C"][min(max(profile.profileSpace, 0), 3)]
    // Flag 0 is the lowest bit here.
    var flags: UInt32 = 0
    for bit in 0..<32 {
      flags = flags << 1 | (profile.compatibilityFlags >> UInt32(bit)) & 1
    }
    var parts = [
      "hvc1", "\(space)\(profile.profileIDC)", String(flags, radix: 16, uppercase: true),
      "\(profile.tierFlag ? "H" : "L")\(profileTierLevel.levelIDC)",
    ]
    var constraints = (0..<6).map {
      UInt8(truncatingIfNeeded: profile.constraintFlags >> UInt64(40 - 8 * $0))
    }
    while constraints.last == 0 { constraints.removeLast() }
    parts += constraints.map { String($0, radix: 16, uppercase: true) }
    return parts.joined(separator: ".")
  }
}
