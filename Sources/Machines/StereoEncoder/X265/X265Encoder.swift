// SPDX-License-Identifier: MPL-2.0

import CX265

/// How the QP of a picture differs from x265's own choice.
package struct PictureQP: Equatable, Sendable {
  /// Replaces x265's choice, before adaptive quantization; nil for x265's choice.
  package var forced: Int?
  /// Added to all blocks; takes effect only in an encoder opened with `takesOffsets`.
  package var offset = 0.0

  /// x265's own choice.
  package static let automatic = PictureQP()

  /// The highest QP that x265 accepts. Above 51, the highest of H.265, decisions get coarser.
  static let highest = 69.0

  /// Returns the nearest whole QP, with the remainder of `value` as offset.
  static func following(_ value: Double) -> PictureQP {
    guard value.isFinite else { return .automatic }
    let forced = min(max(value, 0), highest).rounded()
    return PictureQP(forced: Int(forced), offset: min(max(value - forced, -1), 1))
  }
}

/// An `x265_param`, initialized from a preset.
package final class X265Parameters {
  let library: X265Library
  fileprivate let handle: OpaquePointer
  private var functions: cx265_adapter { library.adapter.functions.pointee }

  /// - Throws: `setting` if x265 has no such preset or tune, or memory runs out.
  package init(_ library: X265Library, preset: String, tune: String?) throws(StereoEncoderError) {
    guard
      let handle = library.adapter.functions.pointee.parameters_new(library.handle, preset, tune)
    else {
      throw .setting(
        name: "preset", reason: "x265 does not accept preset \(preset) with tune \(tune ?? "none")")
    }
    self.library = library
    self.handle = handle
  }

  deinit {
    functions.parameters_free(handle)
  }

  /// Sets an option as x265's command line does; a nil value switches it on.
  ///
  /// - Throws: `unknownOption` or `optionValue`.
  package func parse(_ name: String, _ value: String?) throws(StereoEncoderError) {
    switch X265Library.making({ functions.parameters_parse(handle, name, value) }) {
    case 0: return
    case CX265_BAD_NAME: throw .unknownOption(name: name)
    default: throw .optionValue(name: name, value: value ?? "true")
    }
  }

  /// The parameters in use, named as in x265.h.
  var values: cx265_values { functions.parameters_values(handle) }
}

/// An `x265_encoder`.
///
/// Must be used by one thread at a time.
package final class X265Encoder {
  /// A coded picture as x265 returned it.
  package struct CodedPicture: Sendable {
    /// The number that the picture was submitted with.
    package let pts: Int64
    package let type: PictureType
    package let units: CodedUnits
    /// The mean QP of its blocks, at most 51.
    package let averageQP: Double
    /// The rate factor (CRF) used, in an encoder with a constant one; a video buffer can raise it.
    package let rateFactor: Double
    /// The QP before adaptive quantization and `PictureQP.offset`; nil if it was not requested.
    var rateControlQP: RateControlQP?
    /// The decoded picture; nil if it is not kept.
    var reconstruction: Picture?
    /// The P picture that replaces this one, predicted from the base eye's keyframe.
    var predicted: CodedUnits?
  }

  /// The picture type, with x265.h's numbers.
  package enum PictureType: Int32 {
    case auto, idr, i, p, referencedB, b
  }

  /// A failure of x265, after which it must not be called again.
  package struct Failure: Error {
    package let reason: String
  }

  /// The parameters as adjusted by x265.
  package let parameters: X265Parameters
  private let handle: OpaquePointer
  private var functions: cx265_adapter { parameters.library.adapter.functions.pointee }
  private let kept: Set<PictureType>
  private let reconstructions: PicturePool
  /// A QP offset for each block, all equal; nil if pictures have none.
  private let offsets: UnsafeMutableBufferPointer<Float>?
  private var confinement: ThreadConfinement?

  /// Opens an encoder; nil if x265 refuses the parameters.
  ///
  /// - Parameters:
  ///   - kept: types of pictures whose reconstruction is kept.
  ///   - takesOffsets: whether pictures may have a `PictureQP.offset`, which requires adaptive
  ///     quantization.
  package init?(
    _ parameters: X265Parameters, keepingReconstructions kept: Set<PictureType> = [],
    takesOffsets: Bool = false
  ) {
    let library = parameters.library
    let functions = library.adapter.functions.pointee
    confinement = ThreadConfinement()
    let address = X265Library.making {
      UInt(bitPattern: functions.encoder_open(parameters.handle))
    }
    guard let handle = OpaquePointer(bitPattern: address) else { return nil }
    confinement?.apply()
    self.parameters = parameters
    self.handle = handle
    self.kept = kept
    let values = parameters.values
    let (width, height) = (Int(values.sourceWidth), Int(values.sourceHeight))
    reconstructions = PicturePool(
      width: width, height: height, bytesPerSample: library.bitDepth > 8 ? 2 : 1)
    guard takesOffsets else {
      offsets = nil
      return
    }
    // x265 reads one for each block of 16x16 or 8x8 samples, in the picture and its padding.
    let offsets = UnsafeMutableBufferPointer<Float>.allocate(
      capacity: (width / 8 + 8) * (height / 8 + 8))
    offsets.initialize(repeating: 0)
    self.offsets = offsets
  }

  deinit {
    offsets?.deallocate()
    functions.encoder_close(handle)
  }

  /// Submits a picture, which x265 copies; returns the next coded picture if one is ready.
  package func encode(
    _ picture: Picture, pts: Int64, type: PictureType, qp: PictureQP = .automatic
  ) throws(Failure) -> CodedPicture? {
    if let offsets, offsets.first != Float(qp.offset) {
      offsets.update(repeating: Float(qp.offset))
    }
    var input = cx265_picture(
      planes: cx265_planes(picture), pts: pts, type: type.rawValue,
      qp: qp.forced.map { Int32(clamping: $0) } ?? CX265_QP_AUTO,
      quant_offsets: UnsafePointer(offsets?.baseAddress))
    return try withExtendedLifetime(picture.owner) { () throws(Failure) in try advance(&input) }
  }

  /// Returns the next coded picture after the last input; nil when there are no more.
  package func flush() throws(Failure) -> CodedPicture? {
    try advance(nil)
  }

  private func advance(_ picture: UnsafePointer<cx265_picture>?) throws(Failure) -> CodedPicture? {
    var coded = cx265_coded()
    let result = functions.encoder_encode(handle, picture, &coded)
    confinement?.apply()
    guard result >= 0 else { throw Failure(result) }
    guard result > 0 else { return nil }
    guard let type = PictureType(rawValue: coded.type) else {
      throw Failure(reason: "x265 returned a picture of unknown type \(coded.type)")
    }
    return CodedPicture(
      pts: coded.pts, type: type, units: CodedUnits(coded.units), averageQP: coded.average_qp,
      rateFactor: coded.rate_factor,
      reconstruction: kept.contains(type) ? reconstruction(coded.reconstruction) : nil)
  }

  /// Returns a copy of the decoded picture, whose memory x265 uses again.
  private func reconstruction(_ planes: cx265_planes) -> Picture? {
    func plane(_ address: UnsafeRawPointer?, _ stride: Int32) -> Picture.Plane? {
      address.map { .init(address: $0, stride: Int(stride)) }
    }
    guard let luma = plane(planes.address.0, planes.stride.0),
      let cb = plane(planes.address.1, planes.stride.1),
      let cr = plane(planes.address.2, planes.stride.2)
    else { return nil }
    return reconstructions.copy(luma, cb, cr)
  }

  /// Returns the parameter sets of the coded pictures, as NAL units.
  package func parameterSets() throws(Failure) -> [[UInt8]] {
    var units = cx265_units()
    let result = functions.encoder_headers(handle, &units)
    guard result >= 0 else { throw Failure(result) }
    guard units.count > 0 else { throw Failure(reason: "x265 returned no parameter sets") }
    let coded = CodedUnits(units)
    return coded.nalUnits.map { Array(coded.bytes[$0]) }
  }

  /// Statistics of all pictures encoded so far.
  var statistics: cx265_statistics { functions.encoder_statistics(handle) }

  /// PSNR in dB, over all planes of all pictures so far; nil unless the parameters have `psnr` and
  /// `log-level=info`, because x265 measures only what it also prints.
  package var psnr: Double? {
    let psnr = statistics.psnr
    return psnr > 0 ? psnr : nil
  }
}

extension X265Encoder.Failure {
  /// - Parameter code: a result below 0.
  init(_ code: Int32) {
    switch code {
    case CX265_NO_MEMORY: reason = "out of memory"
    case CX265_NOT_CONTIGUOUS: reason = "x265 returned NAL units that are not contiguous"
    default: reason = "x265 failed with code \(code)"
    }
  }
}

extension cx265_planes {
  fileprivate init(_ picture: Picture) {
    let (luma, cb, cr) = (picture.luma, picture.cb, picture.cr)
    self.init(
      address: (luma.address, cb.address, cr.address),
      stride: (Int32(clamping: luma.stride), Int32(clamping: cb.stride), Int32(clamping: cr.stride))
    )
  }
}
