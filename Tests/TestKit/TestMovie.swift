// SPDX-License-Identifier: MPL-2.0

internal import Foundation
internal import GStreamer

/// Movies of the synthetic scene, made by GStreamer.
public enum TestMovie {
  /// Side by side, H.264 and AAC.
  public static func sideBySide(
    _ path: String, frames: Int = 24, width: Int = 640, height: Int = 180
  ) async throws {
    // Untagged, as most such movies are; and mp4mux (up to 1.28.8) tags the eyes the wrong way.
    try await make(
      path,
      "stereotestsrc num-buffers=\(frames) "
        + "! video/x-raw,format=I420,width=\(width),height=\(height),framerate=30/1 "
        + "! capssetter caps=video/x-raw,multiview-mode=mono "
        + "! x264enc speed-preset=ultrafast quantizer=10 pass=qual ! h264parse ! queue ! mux. "
        + "audiotestsrc wave=ticks num-buffers=\(frames * 48000 / 30 / 1024) samplesperbuffer=1024 "
        + "! audio/x-raw,rate=48000,channels=2 ! avenc_aac ! aacparse ! queue ! mux. "
        + "mp4mux name=mux")
  }

  /// The two eyes of the scene, to an element named `mux`: the beginning of a line of gst-launch.
  ///
  /// - Parameter caps: of the packed pictures.
  public static func eyes(_ count: Int, _ caps: String) -> String {
    "stereotestsrc num-buffers=\(count) ! video/x-raw,format=I420,\(caps) ! sbssplit name=s "
      + "s.left ! queue ! mux.left s.right ! queue ! mux.right "
  }

  /// A movie of both eyes, each coded by itself; by default with B frames and several keyframes.
  ///
  /// - Parameters:
  ///   - caps: of the packed pictures.
  ///   - mux: what the muxer is set to.
  ///   - audio: what makes sound and hands it to `mux`.
  public static func spatial(
    _ path: String, frames: Int, _ caps: String, mux: String = "quality=12 key-int-max=15",
    audio: String = ""
  ) async throws {
    try await make(
      path, eyes(frames, caps) + audio + " mvhevcmux name=mux inter-view-prediction=none \(mux)")
  }

  /// Makes a movie once for all processes (``Fixture``), and copies it to a path.
  ///
  /// - Parameter line: of gst-launch, up to what writes the file.
  public static func make(_ path: String, _ line: String) async throws {
    try await Fixture.copy(to: path, recipe: line) {
      try await play("\(line) ! filesink location=\($0)")
    }
  }

  /// Both eyes of a spatial movie as raw files.
  public static func decode(
    _ movie: String, left: String, right: String, format: String = "I420"
  ) async throws {
    try await play(
      "filesrc location=\(movie) ! mvhevcdemux name=d d.video_0 ! mvhevcdec name=e "
        + "e.left ! queue ! videoconvert ! video/x-raw,format=\(format) ! "
        + "filesink location=\(left) "
        + "e.right ! queue ! videoconvert ! video/x-raw,format=\(format) ! "
        + "filesink location=\(right)"
    )
  }

  /// Both eyes of a packed movie as raw I420 files.
  public static func split(
    _ movie: String, mode: String = "side-by-side", left: String, right: String
  ) async throws {
    try await play(
      "filesrc location=\(movie) ! decodebin caps=video/x-raw ! videoconvert "
        + "! video/x-raw,format=I420 ! sbssplit name=s input-mode-override=\(mode) "
        + "s.left ! queue ! videoconvert ! video/x-raw,format=I420 ! filesink location=\(left) "
        + "s.right ! queue ! videoconvert ! video/x-raw,format=I420 ! filesink location=\(right)")
  }

  /// Plays a line of gst-launch to its end.
  public static func play(_ line: String) async throws {
    initialize()
    let pipeline = try Pipeline(parsing: line)
    try await pipeline.run()
  }

  /// The peak signal-to-noise ratio of two files of the same size, in decibels; 100 where they are
  /// equal.
  public static func psnr(_ one: String, _ other: String) throws -> Double {
    let (first, second) = (
      try Data(contentsOf: URL(filePath: one)), try Data(contentsOf: URL(filePath: other))
    )
    guard first.count == second.count, !first.isEmpty else {
      throw Failure("\(one) has \(first.count) bytes, \(other) has \(second.count)")
    }
    let sum = first.withUnsafeBytes { a in
      second.withUnsafeBytes { b in
        var sum = 0
        for index in 0..<a.count {
          let difference = Int(a[index]) - Int(b[index])
          sum += difference * difference
        }
        return sum
      }
    }
    guard sum > 0 else { return 100 }
    return 10 * log10(255 * 255 * Double(first.count) / Double(sum))
  }
}
