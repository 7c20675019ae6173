/// An `x265_encoder`, with its two descriptions of pictures.
///
/// Used by one thread at a time.
package final class X265Encoder {
  /// One coded picture as x265 gave it.
  package struct CodedPicture {
    /// The number that the picture was given with.
    package let pts: Int64
    package let type: PictureType
    package let units: CodedUnits
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

  /// Nil where x265 refuses the parameters.
  package init?(_ parameters: X265Parameters) {
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
  }

  deinit {
    library.functions.encoder_close(encoder)
    library.functions.picture_free(input)
    library.functions.picture_free(output)
  }

  /// Hands one picture over, which x265 copies; returns the next coded picture if one is ready.
  package func encode(
    _ picture: Picture, pts: Int64, type: PictureType
  ) throws(Failure) -> CodedPicture? {
    let layout = library.layout.picture
    input[layout.pts] = pts
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
    return CodedPicture(
      pts: output[layout.pts], type: type,
      units: CodedUnits(units, Int(count), library.layout.nalUnit))
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
