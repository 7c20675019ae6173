import CX265
import StereoEncoder
import StereoVideo

/// x265 as any program uses it, with nothing of this project around it.
enum BareEncoder {
  struct Failure: Error {}

  /// Encodes one eye of the scene with a preset's own settings; returns the coded bytes.
  static func encode(
    _ scene: BenchmarkScene, _ eye: Eye, preset: String, crf: Double, keyframeDistance: Int
  ) throws -> Int {
    guard let api = cx265_load()?(8)?.pointee, let parameters = api.param_alloc() else {
      throw Failure()
    }
    defer { api.param_free(parameters) }
    _ = api.param_default_preset(parameters, preset, nil)
    parameters.pointee.logLevel = X265_LOG_NONE
    parameters.pointee.sourceWidth = Int32(scene.width)
    parameters.pointee.sourceHeight = Int32(scene.height)
    parameters.pointee.fpsNum = 30
    parameters.pointee.fpsDenom = 1
    _ = api.param_parse(parameters, "crf", "\(crf)")
    _ = api.param_parse(parameters, "keyint", "\(keyframeDistance)")
    guard let encoder = api.encoder_open(parameters) else { throw Failure() }
    defer { api.encoder_close(encoder) }
    guard let input = api.picture_alloc(), let output = api.picture_alloc() else {
      throw Failure()
    }
    defer {
      api.picture_free(input)
      api.picture_free(output)
    }
    api.picture_init(parameters, input)
    var units: UnsafeMutablePointer<x265_nal>?
    var count: UInt32 = 0
    var bytes = 0
    for frame in 0..<scene.pictureCount {
      let picture = scene.picture(frame, eye)
      input.pointee.pts = Int64(frame)
      input.pointee.planes.0 = UnsafeMutableRawPointer(mutating: picture.luma.address)
      input.pointee.planes.1 = UnsafeMutableRawPointer(mutating: picture.cb.address)
      input.pointee.planes.2 = UnsafeMutableRawPointer(mutating: picture.cr.address)
      input.pointee.stride.0 = Int32(picture.luma.stride)
      input.pointee.stride.1 = Int32(picture.cb.stride)
      input.pointee.stride.2 = Int32(picture.cr.stride)
      guard api.encoder_encode(encoder, &units, &count, input, output) >= 0 else {
        throw Failure()
      }
      bytes += size(units, count)
    }
    while api.encoder_encode(encoder, &units, &count, nil, output) > 0 {
      bytes += size(units, count)
    }
    return bytes
  }

  private static func size(_ units: UnsafeMutablePointer<x265_nal>?, _ count: UInt32) -> Int {
    UnsafeBufferPointer(start: units, count: Int(count)).reduce(0) { $0 + Int($1.sizeBytes) }
  }
}
