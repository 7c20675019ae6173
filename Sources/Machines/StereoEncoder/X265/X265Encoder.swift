// SPDX-License-Identifier: MPL-2.0

import CX265

/// By what the QP of a picture differs from x265's own choice.
package struct PictureQP: Equatable, Sendable {
  /// In place of x265's choice, before what adaptive quantization adds; nil for x265's choice.
  package var forced: Int?
  /// Added to all blocks, in an encoder that was made for it.
  package var offset = 0.0

  /// x265's own choice.
  package static let automatic = PictureQP()

  /// The highest QP that x265 takes; above 51, which is the highest of H.265, decisions get
  /// coarser.
  static let highest = 69.0

  /// The nearest whole QP, and what is left of `value` as an offset.
  static func following(_ value: Double) -> PictureQP {
    guard value.isFinite else { return .automatic }
    let forced = min(max(value, 0), highest).rounded()
    return PictureQP(forced: Int(forced), offset: min(max(value - forced, -1), 1))
  }
}

/// An `x265_param`, with the values of a preset to begin with.
package final class X265Parameters {
  let library: X265Library
  fileprivate let handle: OpaquePointer
  private var functions: cx265_adapter { library.adapter.functions.pointee }

  /// - Throws: `setting` if x265 has no such preset or tune, or there is no memory.
  package init(_ library: X265Library, preset: String, tune: String?) throws(StereoEncoderError) {
    guard
      let handle = library.adapter.functions.pointee.parameters_new(library.handle, preset, tune)
    else {
      throw .setting(
        name: "preset", reason: "x265 does not take \(preset) with tune \(tune ?? "none")")
    }
    self.library = library
    self.handle = handle
  }

  deinit {
    functions.parameters_free(handle)
  }

  /// Sets an option as x265's command line does; a value of nil switches it on.
  package func parse(_ name: String, _ value: String?) throws(StereoEncoderError) {
    switch X265Library.making({ functions.parameters_parse(handle, name, value) }) {
    case 0: return
    case CX265_BAD_NAME: throw .unknownOption(name: name)
    default: throw .optionValue(name: name, value: value ?? "true")
    }
  }

  /// By x265.h's names.
  var values: cx265_values { functions.parameters_values(handle) }
}

/// An `x265_encoder`.
///
/// Used by one thread at a time.
package final class X265Encoder {
  /// One coded picture as x265 gave it.
  package struct CodedPicture: Sendable {
    /// The number that the picture was given with.
    package let pts: Int64
    package let type: PictureType
    package let units: CodedUnits
    /// The mean QP of its blocks, at most 51.
    package let averageQP: Double
    /// The rate factor (CRF) that it was coded at, in an encoder of a constant one: a video buffer
    /// can raise it.
    package let rateFactor: Double
    /// Before what adaptive quantization and `PictureQP.offset` add; nil if it is not asked for.
    var rateControlQP: RateControlQP?
    /// What a decoder makes of it, if that is kept.
    var reconstruction: Picture?
    /// The P picture that takes its place, predicted from the base eye's keyframe.
    var predicted: CodedUnits?
  }

  /// The frame type, in x265.h's numbers.
  package enum PictureType: Int32 {
    case auto, idr, i, p, referencedB, b
  }

  /// x265 could not go on, and must not be called again.
  package struct Failure: Error {
    package let reason: String
  }

  /// What x265 made of its parameters, which is not always what it was given.
  package let parameters: X265Parameters
  private let handle: OpaquePointer
  private var functions: cx265_adapter { parameters.library.adapter.functions.pointee }
  private let kept: Set<PictureType>
  private let reconstructions: PicturePool
  /// A QP offset for each block, all the same; nil if no picture has one.
  private let offsets: UnsafeMutableBufferPointer<Float>?

  /// - Parameters:
  ///   - kept: of which types of picture the reconstruction is kept.
  ///   - takesOffsets: whether pictures may have a `PictureQP.offset`, which takes adaptive
  ///     quantization.
  ///
  /// Nil if x265 refuses the parameters.
  package init?(
    _ parameters: X265Parameters, keepingReconstructions kept: Set<PictureType> = [],
    takesOffsets: Bool = false
  ) {
    let library = parameters.library
    let functions = library.adapter.functions.pointee
    let address = X265Library.making {
      UInt(bitPattern: functions.encoder_open(parameters.handle))
    }
    guard let handle = OpaquePointer(bitPattern: address) else { return nil }
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
    // x265 reads one for each block of 16x16 samples, or 8x8, of the picture and what fills its
    // edges.
    let offsets = UnsafeMutableBufferPointer<Float>.allocate(
      capacity: (width / 8 + 8) * (height / 8 + 8))
    offsets.initialize(repeating: 0)
    self.offsets = offsets
  }

  deinit {
    offsets?.deallocate()
    functions.encoder_close(handle)
  }

  /// Hands one picture over, which x265 copies; returns the next coded picture if one is ready.
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

  /// The next coded picture after the last input; nil when there are no more.
  package func flush() throws(Failure) -> CodedPicture? {
    try advance(nil)
  }

  private func advance(_ picture: UnsafePointer<cx265_picture>?) throws(Failure) -> CodedPicture? {
    var coded = cx265_coded()
    let result = functions.encoder_encode(handle, picture, &coded)
    guard result >= 0 else { throw Failure(result) }
    guard result > 0 else { return nil }
    guard let type = PictureType(rawValue: coded.type) else {
      throw Failure(reason: "x265 gave a picture of type \(coded.type)")
    }
    return CodedPicture(
      pts: coded.pts, type: type, units: CodedUnits(coded.units), averageQP: coded.average_qp,
      rateFactor: coded.rate_factor,
      reconstruction: kept.contains(type) ? reconstruction(coded.reconstruction) : nil)
  }

  /// A copy of the picture that was given last, which x265 will use for another.
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

  /// The parameter sets that the coded pictures need, as NAL units.
  package func parameterSets() throws(Failure) -> [[UInt8]] {
    var units = cx265_units()
    let result = functions.encoder_headers(handle, &units)
    guard result >= 0 else { throw Failure(result) }
    guard units.count > 0 else { throw Failure(reason: "x265 gave no parameter sets") }
    let coded = CodedUnits(units)
    return coded.nalUnits.map { Array(coded.bytes[$0]) }
  }

  /// Of all that the encoder has made until now.
  var statistics: cx265_statistics { functions.encoder_statistics(handle) }

  /// In dB, over all planes of all pictures so far; nil unless the parameters have `psnr` and
  /// `log-level=info`: x265 measures only what it also prints.
  package var psnr: Double? {
    let psnr = statistics.psnr
    return psnr > 0 ? psnr : nil
  }
}

extension X265Encoder.Failure {
  /// - Parameter code: below 0.
  init(_ code: Int32) {
    switch code {
    case CX265_NO_MEMORY: reason = "there is no memory"
    case CX265_SCATTERED: reason = "x265 gave NAL units that are not one after the other"
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
