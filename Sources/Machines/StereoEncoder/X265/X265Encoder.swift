// SPDX-License-Identifier: MPL-2.0

/// An `x265_encoder`, with its two descriptions of pictures.
///
/// Used by one thread at a time.
package final class X265Encoder {
  /// One coded picture as x265 gave it.
  package struct CodedPicture: Sendable {
    /// The number that the picture was given with.
    package let pts: Int64
    package let type: PictureType
    package let units: CodedUnits
    /// The mean QP of its blocks.
    package let averageQP: Double
    /// Nil where this build of x265 does not tell.
    package let rateControlQP: RateControlQP?
    /// What a decoder makes of it, where that is kept.
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
  private let library: X265Library
  private let encoder: UnsafeMutableRawPointer
  /// `x265_picture`
  private let input: UnsafeMutableRawPointer
  private let output: UnsafeMutableRawPointer
  private let kept: Set<PictureType>
  private let reconstructions: PicturePool
  /// A QP offset for each block, all the same; nil where no picture has one.
  private let offsets: UnsafeMutableBufferPointer<Float>?

  /// - Parameters:
  ///   - kept: of which types of picture the reconstruction is kept.
  ///   - takesOffsets: whether pictures may have a `PictureQP.offset`, which takes adaptive quantization.
  ///
  /// Nil where x265 refuses the parameters.
  package init?(
    _ parameters: X265Parameters, keepingReconstructions kept: Set<PictureType> = [],
    takesOffsets: Bool = false
  ) {
    let library = parameters.library
    let functions = library.functions
    let address = X265Library.making {
      UInt(bitPattern: functions.encoder_open(parameters.pointer))
    }
    guard let encoder = UnsafeMutableRawPointer(bitPattern: address) else { return nil }
    functions.encoder_parameters(encoder, parameters.pointer)
    let (input, output) = (functions.picture_alloc(), functions.picture_alloc())
    guard let input, let output else {
      functions.picture_free(input)
      functions.picture_free(output)
      functions.encoder_close(encoder)
      return nil
    }
    functions.picture_init(parameters.pointer, input)
    functions.picture_init(parameters.pointer, output)
    self.parameters = parameters
    self.library = library
    self.encoder = encoder
    self.input = input
    self.output = output
    self.kept = kept
    reconstructions = PicturePool(
      width: Int(parameters[\.sourceWidth]), height: Int(parameters[\.sourceHeight]),
      bytesPerSample: library.bitDepth > 8 ? 2 : 1)
    guard takesOffsets else {
      offsets = nil
      return
    }
    // x265 reads one for each block of 16x16 samples, or 8x8, of the picture and what fills its edges.
    let columns = Int(parameters[\.sourceWidth]) / 8 + 8
    let rows = Int(parameters[\.sourceHeight]) / 8 + 8
    let offsets = UnsafeMutableBufferPointer<Float>.allocate(capacity: columns * rows)
    offsets.initialize(repeating: 0)
    self.offsets = offsets
  }

  deinit {
    offsets?.deallocate()
    library.functions.encoder_close(encoder)
    library.functions.picture_free(input)
    library.functions.picture_free(output)
  }

  /// Hands one picture over, which x265 copies; returns the next coded picture if one is ready.
  ///
  package func encode(
    _ picture: Picture, pts: Int64, type: PictureType, qp: PictureQP = .automatic
  ) throws(Failure) -> CodedPicture? {
    let layout = library.layout.picture
    input[layout.pts] = pts
    // X265_QP_AUTO is 0, so that QPs are counted from 1.
    input[layout.forceqp] = qp.forced.map { Int32(clamping: $0) + 1 } ?? 0
    if let offsets {
      if offsets.first != Float(qp.offset) { offsets.update(repeating: Float(qp.offset)) }
      input[layout.quantOffsets] = offsets.baseAddress.map { UnsafeMutableRawPointer($0) }
    }
    input[layout.sliceType] = type.rawValue
    for (index, plane) in [picture.luma, picture.cb, picture.cr].enumerated() {
      input[layout.planes[index]] = UnsafeMutableRawPointer(mutating: plane.address)
      input[layout.stride[index]] = Int32(clamping: plane.stride)
    }
    return try advance(input)
  }

  /// The next coded picture after the last input; nil when there are no more.
  package func flush() throws(Failure) -> CodedPicture? {
    try advance(nil)
  }

  private func advance(_ picture: UnsafeMutableRawPointer?) throws(Failure) -> CodedPicture? {
    var units: UnsafeMutableRawPointer?
    var count: UInt32 = 0
    let result = library.functions.encoder_encode(encoder, &units, &count, picture, output)
    guard result >= 0 else { throw Failure(reason: "x265 failed with code \(result)") }
    guard result > 0, count > 0, let units else { return nil }
    let layout = library.layout.picture
    guard let type = PictureType(rawValue: output[layout.sliceType]) else {
      throw Failure(reason: "x265 gave a picture of type \(output[layout.sliceType])")
    }
    let averageQP = output[layout.averageQP]
    return CodedPicture(
      pts: output[layout.pts], type: type,
      units: CodedUnits(units, Int(count), library.layout.nalUnit), averageQP: averageQP,
      rateControlQP: RateControlQP(output[layout.rcData], averageQP: averageQP),
      reconstruction: kept.contains(type) ? reconstruction() : nil)
  }

  /// A copy of the picture that was given last, which x265 will use for another.
  private func reconstruction() -> Picture? {
    let layout = library.layout.picture
    func plane(_ index: Int) -> Picture.Plane? {
      let address = output[layout.planes[index]]
      return address.map { .init(address: $0, stride: Int(output[layout.stride[index]])) }
    }
    guard let luma = plane(0), let cb = plane(1), let cr = plane(2) else { return nil }
    return reconstructions.copy(luma, cb, cr)
  }

  /// The parameter sets that the coded pictures need, as NAL units.
  package func parameterSets() throws(Failure) -> [[UInt8]] {
    var units: UnsafeMutableRawPointer?
    var count: UInt32 = 0
    let result = library.functions.encoder_headers(encoder, &units, &count)
    guard result >= 0, let units else { throw Failure(reason: "x265 gave no parameter sets") }
    let coded = CodedUnits(units, Int(count), library.layout.nalUnit)
    return coded.nalUnits.map { Array(coded.bytes[$0]) }
  }

  /// Calls `body` with an `x265_stats` of all that the encoder has made until now.
  func withStatistics<Result>(
    _ body: (UnsafeMutableRawPointer, X265Layout.Statistics) -> Result
  ) -> Result {
    let layout = library.layout.statistics
    let stats = UnsafeMutableRawPointer.allocate(byteCount: layout.size, alignment: 16)
    defer { stats.deallocate() }
    stats.initializeMemory(as: UInt8.self, repeating: 0, count: layout.size)
    library.functions.encoder_get_stats(encoder, stats, UInt32(layout.size))
    return body(stats, layout)
  }
}
