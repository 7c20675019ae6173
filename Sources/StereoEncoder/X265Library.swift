import CX265
import Synchronization

/// libx265, as one bit depth's set of functions: a Debian libx265 holds one set for each depth.
///
/// It is loaded when the first encoder is made, so that nothing else needs it or pays for it.
struct X265Library: @unchecked Sendable {
  let functions: UnsafePointer<x265_api>

  /// Opening an encoder fills tables that all encoders of the process share, without a lock.
  private static let opening = Mutex(())

  init(bitDepth: Int32) throws(StereoEncoderError) {
    guard let apiGet = cx265_load() else {
      let reason = dlerror().map { String(cString: $0) } ?? "it has no function table"
      throw .library(
        "libx265, which encodes, cannot be loaded (\(reason)); "
          + "Debian's package of it is libx265-\(X265_BUILD)")
    }
    guard let functions = apiGet(bitDepth) else {
      throw .library("this libx265 has no \(bitDepth)-bit encoder; install a build that has one")
    }
    let api = functions.pointee
    // x265.h asks every caller that reads its structures to compare their sizes.
    guard api.api_build_number == X265_BUILD,
      Int(api.sizeof_param) == MemoryLayout<x265_param>.size,
      Int(api.sizeof_picture) == MemoryLayout<x265_picture>.size,
      Int(api.sizeof_stats) == MemoryLayout<x265_stats>.size
    else {
      throw .library(
        "libx265 is build \(api.api_build_number), and this was compiled for build \(X265_BUILD)")
    }
    self.functions = functions
  }

  /// Nil where x265 refuses the parameters.
  func open(_ parameters: UnsafeMutablePointer<x265_param>) -> OpaquePointer? {
    // The address travels as a number: what it points at is used by this thread alone.
    let address = UInt(bitPattern: parameters)
    let encoder = Self.opening.withLock { _ in
      UnsafeMutablePointer<x265_param>(bitPattern: address).map {
        UInt(bitPattern: functions.pointee.encoder_open($0))
      }
    }
    return encoder.flatMap { OpaquePointer(bitPattern: $0) }
  }
}
