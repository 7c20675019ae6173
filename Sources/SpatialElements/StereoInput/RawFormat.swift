import GStreamer
import StereoEncoder

/// A raw format that the encoder takes as it is: where its planes are.
struct RawFormat {
  /// As the template's caps list them.
  static let names = ["I420", "YV12", "I420_10LE"]

  let bitDepth: Int
  private let luma = 0
  private let cb: Int
  private let cr: Int

  init?(_ info: VideoInfo) {
    switch info.formatName {
    case "I420": (bitDepth, cb, cr) = (8, 1, 2)
    case "YV12": (bitDepth, cb, cr) = (8, 2, 1)
    case "I420_10LE": (bitDepth, cb, cr) = (10, 1, 2)
    default: return nil
    }
  }

  /// The planes of a mapped frame, which stays mapped while the encoder reads it.
  func picture(_ frame: VideoFrame) -> Picture? {
    guard let luma = frame.plane(luma), let cbPlane = frame.plane(cb),
      let crPlane = frame.plane(cr)
    else { return nil }
    return Picture(
      luma: Picture.Plane(address: luma, stride: frame.stride(self.luma)),
      cb: Picture.Plane(address: cbPlane, stride: frame.stride(cb)),
      cr: Picture.Plane(address: crPlane, stride: frame.stride(cr)),
      owner: frame)
  }
}
