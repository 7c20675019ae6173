// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// `vps_extension()`, H.265 (F.7.3.2.1.1): the layers of a stream and their dependencies.
public struct VideoParameterSetExtension: Hashable, Sendable {
  /// One layer.
  public struct Layer: Hashable, Sendable {
    /// `layer_id_in_nuh`, 0 to 62.
    public var nuhLayerID: Int
    /// `ScalabilityId` of the 16 scalability types: 0 depth, 1 multiview, 2 spatial or quality, 3
    /// auxiliary pictures.
    public var scalabilityIDs: [Int]
    /// `view_id_val` of the layer's view; 0 if not sent.
    public var viewID: Int
    /// Direct reference layers: bit j is set if the layer refers to the layer with index j.
    public var directReferenceLayers: UInt64

    /// `ViewOrderIdx`
    public var viewOrderIndex: Int { scalabilityIDs[1] }
    /// Whether `DepthLayerFlag` or `AuxId` is set: the layer does not hold pictures for an eye.
    public var isAuxiliary: Bool { scalabilityIDs[0] != 0 || scalabilityIDs[3] != 0 }

    /// Creates a layer of a multiview stream.
    public init(nuhLayerID: Int, viewOrderIndex: Int, viewID: Int, directReferenceLayers: UInt64) {
      self.nuhLayerID = nuhLayerID
      scalabilityIDs = Array(repeating: 0, count: 16)
      scalabilityIDs[1] = viewOrderIndex
      self.viewID = viewID
      self.directReferenceLayers = directReferenceLayers
    }
  }

  /// Level of the base layer; its profile is not repeated.
  public var baseProfileTierLevel: ProfileTierLevel
  /// Scalability types in use (`scalability_mask_flag`); bit i stands for type i.
  public var scalabilityMask: Int
  /// The layers in VPS order, the base layer first.
  public var layers: [Layer]
  /// The fields after the dependencies, for streams with two layers in two layer sets. They are not
  /// read for other streams, where only the base layer is used: nil.
  public var pair: LayerPairParameters?

  /// Creates an extension from its fields.
  public init(
    baseProfileTierLevel: ProfileTierLevel, scalabilityMask: Int, layers: [Layer],
    pair: LayerPairParameters?
  ) {
    self.baseProfileTierLevel = baseProfileTierLevel
    self.scalabilityMask = scalabilityMask
    self.layers = layers
    self.pair = pair
  }

  init(_ reader: inout BitReader, _ vps: VideoParameterSet) throws(SyntaxError) {
    baseProfileTierLevel = try ProfileTierLevel(
      &reader, profilePresent: false, maxSubLayersMinus1: vps.maxSubLayersMinus1)
    let splitting = try reader.flag("splitting_flag")
    let mask = try reader.u(16, "scalability_mask_flag")
    // Bit 15 of the field is index 0.
    let types = (0..<16).filter { mask >> (15 - $0) & 1 == 1 }
    scalabilityMask = types.reduce(0) { $0 | 1 << $1 }
    var lengths: [Int] = []
    for _ in 0..<max(types.count - (splitting ? 1 : 0), 0) {
      lengths.append(try reader.u(3, "dimension_id_len_minus1") + 1)
    }
    let idsPresent = try reader.flag("vps_nuh_layer_id_present_flag")
    layers = [Layer(nuhLayerID: 0, viewOrderIndex: 0, viewID: 0, directReferenceLayers: 0)]
    for index in 1...max(vps.maxLayersMinus1, 1) {
      let id = idsPresent ? try reader.u(6, "layer_id_in_nuh", in: 1...62) : index
      var layer = Layer(nuhLayerID: id, viewOrderIndex: 0, viewID: 0, directReferenceLayers: 0)
      var offset = 0
      for (number, type) in types.enumerated() {
        if splitting {
          let length = number < lengths.count ? lengths[number] : 6
          layer.scalabilityIDs[type] = id >> min(offset, 6) & (1 << length - 1)
          offset += length
        } else {
          layer.scalabilityIDs[type] = try reader.u(lengths[number], "dimension_id")
        }
      }
      layers.append(layer)
    }
    try readViewIDs(&reader)
    for index in 1..<layers.count {
      for reference in 0..<index where try reader.flag("direct_dependency_flag") {
        layers[index].directReferenceLayers |= 1 << UInt64(reference)
      }
    }
    if layers.count == 2, vps.layerSets == [1 | 1 << UInt64(layers[1].nuhLayerID)] {
      pair = try LayerPairParameters(&reader, vps, layers)
    }
  }

  private mutating func readViewIDs(_ reader: inout BitReader) throws(SyntaxError) {
    let length = try reader.u(4, "view_id_len")
    guard length > 0 else { return }
    var values: [Int] = []
    var orders: [Int] = []
    for layer in layers where !orders.contains(layer.viewOrderIndex) {
      orders.append(layer.viewOrderIndex)
      values.append(try reader.u(length, "view_id_val"))
    }
    for index in layers.indices {
      let order = layers[index].viewOrderIndex
      // view_id_val is indexed by ViewOrderIdx (F.7.4.3.1.1).
      if order < values.count { layers[index].viewID = values[order] }
    }
  }

  func write(to writer: inout BitWriter, _ vps: VideoParameterSet) {
    baseProfileTierLevel.write(to: &writer)
    writer.flag(false)
    let types = (0..<16).filter { scalabilityMask >> $0 & 1 == 1 }
    for type in 0..<16 { writer.flag(types.contains(type)) }
    let lengths = types.map { type in bitCount(layers.map { $0.scalabilityIDs[type] }.max() ?? 0) }
    for length in lengths { writer.u(length - 1, 3) }
    writer.flag(true)
    for layer in layers.dropFirst() {
      writer.u(layer.nuhLayerID, 6)
      for (type, length) in zip(types, lengths) { writer.u(layer.scalabilityIDs[type], length) }
    }
    let viewIDLength = bitCount(layers.map(\.viewID).max() ?? 0)
    writer.u(viewIDLength, 4)
    var orders: [Int] = []
    for layer in layers where !orders.contains(layer.viewOrderIndex) {
      orders.append(layer.viewOrderIndex)
      writer.u(layer.viewID, viewIDLength)
    }
    for (index, layer) in layers.enumerated().dropFirst() {
      for reference in 0..<index {
        writer.flag(layer.directReferenceLayers >> UInt64(reference) & 1 == 1)
      }
    }
    pair?.write(to: &writer, vps, layers)
  }

  /// Number of bits needed for `value`, at least one.
  private func bitCount(_ value: Int) -> Int { max(Int.bitWidth - value.leadingZeroBitCount, 1) }
}

/// `rep_format()`, H.265 (F.7.3.2.1.2): size and sample format of the pictures of a layer.
public struct RepresentationFormat: Hashable, Sendable {
  /// Chroma format and bit depths.
  public struct SampleFormat: Hashable, Sendable {
    /// `chroma_format_vps_idc`: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormatIDC: Int
    /// `separate_colour_plane_vps_flag`
    public var separateColourPlanes: Bool
    /// Bits per luma sample, 8 to 16.
    public var bitDepthLuma: Int
    /// Bits per chroma sample, 8 to 16.
    public var bitDepthChroma: Int

    /// Creates a sample format from its fields.
    public init(
      chromaFormatIDC: Int, separateColourPlanes: Bool, bitDepthLuma: Int, bitDepthChroma: Int
    ) {
      self.chromaFormatIDC = chromaFormatIDC
      self.separateColourPlanes = separateColourPlanes
      self.bitDepthLuma = bitDepthLuma
      self.bitDepthChroma = bitDepthChroma
    }
  }

  /// Coded width in luma samples.
  public var width: Int
  /// Coded height in luma samples.
  public var height: Int
  /// Chroma format and bit depths; nil if taken from the preceding structure.
  public var sampleFormat: SampleFormat?
  /// `conformance_window_vps`; nil if the whole picture is output.
  public var conformanceWindow: PictureWindow?

  /// Creates a format from its fields.
  public init(
    width: Int, height: Int, sampleFormat: SampleFormat?, conformanceWindow: PictureWindow?
  ) {
    self.width = width
    self.height = height
    self.sampleFormat = sampleFormat
    self.conformanceWindow = conformanceWindow
  }

  init(_ reader: inout BitReader) throws(SyntaxError) {
    width = try reader.u(16, "pic_width_vps_in_luma_samples")
    height = try reader.u(16, "pic_height_vps_in_luma_samples")
    if try reader.flag("chroma_and_bit_depth_vps_present_flag") {
      let chroma = try reader.u(2, "chroma_format_vps_idc")
      let planes = chroma == 3 ? try reader.flag("separate_colour_plane_vps_flag") : false
      sampleFormat = SampleFormat(
        chromaFormatIDC: chroma,
        separateColourPlanes: planes,
        bitDepthLuma: try reader.u(4, "bit_depth_vps_luma_minus8", in: 0...8) + 8,
        bitDepthChroma: try reader.u(4, "bit_depth_vps_chroma_minus8", in: 0...8) + 8)
    }
    if try reader.flag("conformance_window_vps_flag") {
      conformanceWindow = try PictureWindow(&reader)
    }
  }

  func write(to writer: inout BitWriter) {
    writer.u(width, 16)
    writer.u(height, 16)
    writer.flag(sampleFormat != nil)
    if let sampleFormat {
      writer.u(sampleFormat.chromaFormatIDC, 2)
      if sampleFormat.chromaFormatIDC == 3 { writer.flag(sampleFormat.separateColourPlanes) }
      writer.u(sampleFormat.bitDepthLuma - 8, 4)
      writer.u(sampleFormat.bitDepthChroma - 8, 4)
    }
    writer.flag(conformanceWindow != nil)
    conformanceWindow?.write(to: &writer)
  }
}

/// Offsets of a rectangle inside a picture, in chroma sample units (`SubWidthC`, `SubHeightC`).
public struct PictureWindow: Hashable, Sendable {
  /// Distance from the left edge.
  public var left: Int
  /// Distance from the right edge.
  public var right: Int
  /// Distance from the top edge.
  public var top: Int
  /// Distance from the bottom edge.
  public var bottom: Int

  init(_ reader: inout BitReader) throws(SyntaxError) {
    left = try reader.ue("win_left_offset", in: 0...65535)
    right = try reader.ue("win_right_offset", in: 0...65535)
    top = try reader.ue("win_top_offset", in: 0...65535)
    bottom = try reader.ue("win_bottom_offset", in: 0...65535)
  }

  func write(to writer: inout BitWriter) {
    writer.ue(left)
    writer.ue(right)
    writer.ue(top)
    writer.ue(bottom)
  }
}
