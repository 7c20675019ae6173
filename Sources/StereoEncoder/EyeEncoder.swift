import CX265
import StereoVideo

/// One x265 encoder, for one eye.
///
/// Used by one thread at a time.
final class EyeEncoder {
  /// One coded picture as x265 gave it.
  struct CodedPicture {
    /// The place of the picture in display order, from 0.
    let frame: Int64
    let type: PictureType
    let units: CodedUnits
  }

  /// The frame type, as x265 names it.
  enum PictureType: Equatable {
    case idr, i, p, referencedB, b
    case other(Int32)

    init(_ type: Int32) {
      switch type {
      case X265_TYPE_IDR: self = .idr
      case X265_TYPE_I: self = .i
      case X265_TYPE_P: self = .p
      case X265_TYPE_BREF: self = .referencedB
      case X265_TYPE_B: self = .b
      default: self = .other(type)
      }
    }
  }

  let eye: Eye
  private let library: X265Library
  private let encoder: OpaquePointer
  private let input: UnsafeMutablePointer<x265_picture>
  private let output: UnsafeMutablePointer<x265_picture>
  private let framesPerSecond: Double
  private var bytes = 0
  /// How many pictures, at most, come before a picture in coding order and after it in display
  /// order (`sps_max_num_reorder_pics`).
  let reorderDepth: Int
  /// How many pictures go in, at most, before the first comes out: those that the lookahead waits
  /// for, a mini-GOP, and one a frame thread.
  let delay: Int

  init(
    eye: Eye, library: X265Library, configuration: StereoEncoderConfiguration,
    options: [EncoderOption]
  ) throws(StereoEncoderError) {
    self.eye = eye
    self.library = library
    let api = library.functions.pointee
    let parameters = try EyeParameters(
      library: library, configuration: configuration, eye: eye, options: options)
    guard let encoder = library.open(parameters.pointer) else {
      throw try Self.reason(
        eye: eye, library: library, configuration: configuration, options: options)
    }
    // What x265 made of the parameters, which is not always what it was given.
    api.encoder_parameters(encoder, parameters.pointer)
    let (input, output) = (api.picture_alloc(), api.picture_alloc())
    guard let input, let output else {
      api.picture_free(input)
      api.picture_free(output)
      api.encoder_close(encoder)
      throw .library("libx265 has no memory for a picture's description")
    }
    api.picture_init(parameters.pointer, input)
    api.picture_init(parameters.pointer, output)
    self.encoder = encoder
    self.input = input
    self.output = output
    let used = parameters.pointer.pointee
    framesPerSecond = Double(used.fpsNum) / Double(used.fpsDenom)
    delay =
      used.lookaheadDepth == 0 && used.bframes == 0
      ? Int(used.frameNumThreads) - 1
      : Int(used.lookaheadDepth) + Int(used.bframes) + Int(used.frameNumThreads)
    reorderDepth = used.bframes == 0 ? 0 : used.bframes > 1 && used.bBPyramid != 0 ? 2 : 1
    try parameters.checkFixedPattern()
  }

  deinit {
    let api = library.functions.pointee
    api.encoder_close(encoder)
    api.picture_free(input)
    api.picture_free(output)
  }

  /// Of several options that x265 parsed and then refused, finds the first with which it refuses.
  private static func reason(
    eye: Eye, library: X265Library, configuration: StereoEncoderConfiguration,
    options: [EncoderOption]
  ) throws(StereoEncoderError) -> StereoEncoderError {
    for (index, option) in options.enumerated() {
      let some = try EyeParameters(
        library: library, configuration: configuration, eye: eye,
        options: Array(options[...index]))
      guard let encoder = library.open(some.pointer) else {
        return .optionValue(name: option.name, value: option.value ?? "true")
      }
      library.functions.pointee.encoder_close(encoder)
    }
    return .notOpened(eye: eye)
  }

  /// Hands one picture over, which x265 copies; returns the next coded picture if one is ready.
  func encode(
    _ picture: Picture, frame: Int64, isKeyframe: Bool
  ) throws(StereoEncoderError) -> CodedPicture? {
    input.pointee.pts = frame
    input.pointee.planes.0 = UnsafeMutableRawPointer(mutating: picture.luma.address)
    input.pointee.planes.1 = UnsafeMutableRawPointer(mutating: picture.cb.address)
    input.pointee.planes.2 = UnsafeMutableRawPointer(mutating: picture.cr.address)
    input.pointee.stride.0 = Int32(clamping: picture.luma.stride)
    input.pointee.stride.1 = Int32(clamping: picture.cb.stride)
    input.pointee.stride.2 = Int32(clamping: picture.cr.stride)
    // Any other type, even the right one, would end the lookahead here and with it cutree.
    input.pointee.sliceType = isKeyframe ? X265_TYPE_IDR : X265_TYPE_AUTO
    return try advance(input, frame: frame)
  }

  /// The next coded picture after the last input; nil when there are no more.
  func flush() throws(StereoEncoderError) -> CodedPicture? {
    try advance(nil, frame: input.pointee.pts)
  }

  private func advance(
    _ picture: UnsafeMutablePointer<x265_picture>?, frame: Int64
  ) throws(StereoEncoderError) -> CodedPicture? {
    var units: UnsafeMutablePointer<x265_nal>?
    var count: UInt32 = 0
    let result = library.functions.pointee.encoder_encode(
      encoder, &units, &count, picture, output)
    guard result >= 0 else {
      throw .encoding(eye: eye, frame: frame, reason: "x265 failed with code \(result)")
    }
    guard result > 0, count > 0 else { return nil }
    let coded = CodedUnits(units, count)
    bytes += coded.bytes.count
    return CodedPicture(
      frame: output.pointee.pts, type: PictureType(output.pointee.sliceType), units: coded)
  }

  /// What this encoder has made until now.
  func statistics() -> EyeStatistics {
    var stats = x265_stats()
    library.functions.pointee.encoder_get_stats(
      encoder, &stats, UInt32(MemoryLayout<x265_stats>.size))
    return EyeStatistics(stats, bytes: bytes, framesPerSecond: framesPerSecond)
  }
}
