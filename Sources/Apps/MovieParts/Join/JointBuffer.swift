// SPDX-License-Identifier: MPL-2.0

internal import StereoEncoder

/// The decoder's coded picture buffer (H.265 Annex C) over all parts of a movie with a bitrate.
///
/// Each part is encoded as if the buffer were nearly full at its beginning, which it need not be
/// after the part before it.
package struct JointBuffer {
  private let bitrate: Int
  private let buffer: RateControl.VideoBuffer
  private var model: VideoBufferModel
  private var count = 0
  /// How often the buffer was too empty for a picture.
  package private(set) var dryCount = 0
  /// The number of the first such picture in decoding order, from 0.
  package private(set) var firstDry: Int?

  /// - Parameter bitrate: of the movie in kbit/s, which implies the buffer.
  package init?(bitrate: Int, framesPerSecond: Double) {
    guard let buffer = RateControl.bitrate(kilobitsPerSecond: bitrate).effectiveBuffer else {
      return nil
    }
    (self.bitrate, self.buffer) = (bitrate, buffer)
    model = VideoBufferModel(buffer, framesPerSecond: framesPerSecond)
  }

  /// Notes the next picture in decoding order.
  ///
  /// - Parameter size: in bytes, of both eyes.
  package mutating func add(size: Int) {
    let bits = Double(size) * 8
    if bits > model.fill {
      dryCount += 1
      firstDry = firstDry ?? count
    }
    model.remove(bits)
    count += 1
  }

  /// Returns the problem in words.
  ///
  /// - Parameter seconds: when the first picture for which data is lacking is shown.
  func warning(seconds: Double) -> String {
    "A decoder with the buffer for \(bitrate) kbit/s (\(buffer.size) kbit, filled at "
      + "\(buffer.maximumRate) kbit/s) lacks data for \(dryCount) pictures, first at "
      + "\(Int(seconds)) s; longer parts have fewer joints, and a movie that is not streamed needs "
      + "no buffer."
  }
}
