// SPDX-License-Identifier: MPL-2.0

/// `nal_unit_type`, H.264 (table 7-1). Values 0 to 31.
package struct NALUnitType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  /// Creates a type from the lowest five bits of `rawValue`.
  package init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }

  /// Coded slice of a picture that is not an IDR picture.
  package static let slice = NALUnitType(rawValue: 1)
  /// Coded slice data partition A.
  package static let dataPartitionA = NALUnitType(rawValue: 2)
  /// Coded slice data partition B.
  package static let dataPartitionB = NALUnitType(rawValue: 3)
  /// Coded slice data partition C.
  package static let dataPartitionC = NALUnitType(rawValue: 4)
  /// Coded slice of an IDR picture.
  package static let idrSlice = NALUnitType(rawValue: 5)
  /// Supplemental enhancement information.
  package static let sei = NALUnitType(rawValue: 6)
  /// Sequence parameter set.
  package static let sequenceParameterSet = NALUnitType(rawValue: 7)
  /// Picture parameter set.
  package static let pictureParameterSet = NALUnitType(rawValue: 8)
  /// Access unit delimiter.
  package static let accessUnitDelimiter = NALUnitType(rawValue: 9)
  /// End of sequence.
  package static let endOfSequence = NALUnitType(rawValue: 10)
  /// End of stream.
  package static let endOfStream = NALUnitType(rawValue: 11)
  /// Prefix NAL unit, which describes the slice of the base view after it.
  package static let prefix = NALUnitType(rawValue: 14)
  /// Subset sequence parameter set.
  package static let subsetSequenceParameterSet = NALUnitType(rawValue: 15)
  /// Coded slice of an auxiliary coded picture.
  package static let auxiliarySlice = NALUnitType(rawValue: 19)
  /// Coded slice extension: the dependent view.
  package static let sliceExtension = NALUnitType(rawValue: 20)
  /// Coded slice extension for depth views.
  package static let depthSliceExtension = NALUnitType(rawValue: 21)
  /// View component delimiter, which discs place before each dependent picture.
  package static let dependentDelimiter = NALUnitType(rawValue: 24)

  /// Whether this is a slice of the base view.
  package var isBaseSlice: Bool { self == .slice || self == .idrSlice || self == .dataPartitionA }
  /// Whether this is SPS, subset SPS or PPS.
  package var isParameterSet: Bool {
    self == .sequenceParameterSet || self == .subsetSequenceParameterSet
      || self == .pictureParameterSet
  }
  /// Whether decoders of the base view have no use for this type.
  package var belongsToDependentView: Bool {
    [.prefix, .subsetSequenceParameterSet, .sliceExtension, .depthSliceExtension]
      .contains(self) || self == .dependentDelimiter
  }

  /// Whether the first NAL unit of this type before a picture begins its access unit
  /// (7.4.1.2.3, H.7.4.1.2.3).
  var beginsAccessUnit: Bool { 6...9 ~= rawValue || 14...18 ~= rawValue || rawValue == 24 }
}

/// `nal_unit_header_mvc_extension()`, H.264 (H.7.3.1.1): three bytes of prefix NAL units and coded
/// slice extensions.
package struct MVCHeaderExtension: Hashable, Sendable {
  /// `non_idr_flag`
  package var isNonIDR: Bool
  /// `view_id`, 0 to 1023.
  package var viewID: Int
  /// `anchor_pic_flag`: whether all references are of the same access unit.
  package var isAnchor: Bool
  /// `inter_view_flag`: whether the picture may be a reference of another view.
  package var isInterViewReference: Bool
}

/// `nal_unit_header`, H.264 (7.3.1): one byte, or four with the extension of MVC.
package struct NALUnitHeader: Hashable, Sendable {
  package var type: NALUnitType
  /// `nal_ref_idc`, 0 to 3: 0 if the picture is no reference of its own view.
  package var refIDC: Int
  /// The extension; nil for types without one, and for slices of SVC (`svc_extension_flag` 1).
  package var mvc: MVCHeaderExtension?

  /// Size of the header in bytes.
  package var byteCount: Int { type == .prefix || type == .sliceExtension ? 4 : 1 }
  /// Whether this is a slice or prefix of Scalable Video Coding.
  package var isScalable: Bool { byteCount == 4 && mvc == nil }

  /// Reads the header at the start of `nalUnit`; nil if it is truncated or `forbidden_zero_bit`
  /// is 1.
  package init?(_ nalUnit: RawSpan) {
    guard nalUnit.byteCount >= 1 else { return nil }
    let first = nalUnit.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    guard first & 0x80 == 0 else { return nil }
    type = NALUnitType(rawValue: first)
    refIDC = Int(first >> 5)
    guard byteCount == 4 else { return }
    guard nalUnit.byteCount >= 4 else { return nil }
    let bits = (1...3).reduce(0) {
      $0 << 8 | Int(nalUnit.unsafeLoad(fromByteOffset: $1, as: UInt8.self))
    }
    guard bits >> 23 == 0 else { return }
    mvc = MVCHeaderExtension(
      isNonIDR: bits >> 22 & 1 == 1, viewID: bits >> 6 & 0x3FF, isAnchor: bits >> 2 & 1 == 1,
      isInterViewReference: bits >> 1 & 1 == 1)
  }
}
