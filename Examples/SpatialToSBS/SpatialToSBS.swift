// SPDX-License-Identifier: MPL-2.0

import StereoMedia

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Converts a spatial movie to a side-by-side H.264 movie as fast as possible:
///
///     SpatialToSBS movie.mov sbs.mp4 [half] [lossless]
///
/// With `half`, each eye is squeezed to half its width, as 3D television sets expect. Audio is
/// copied.
@main
enum SpatialToSBS {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let options = Set(arguments.dropFirst(2))
    guard arguments.count >= 2, options.isSubset(of: ["half", "lossless"]) else {
      print("usage: SpatialToSBS MOVIE OUTPUT [half] [lossless]")
      exit(2)
    }
    do {
      let movie = try await StereoMovie(arguments[0])
      var settings = StereoWriter.Settings()
      settings.layout = .packed(
        PackingLayout(.sideBySide, halfAspect: options.contains("half")))
      settings.rate = .quality(options.contains("lossless") ? 0 : 20)
      settings.speed = .veryfast
      settings.spatial = movie.video?.spatial ?? SpatialMetadata()
      settings.audio = movie
      let start = ContinuousClock.now
      var shown = Duration.zero
      let report = try await StereoWriter.write(arguments[1], settings) { writer in
        for try await frame in StereoReader(movie) {
          // An application could draw into both eyes here.
          try await writer.append(frame)
          shown = frame.time + (frame.duration ?? .zero)
        }
      }
      let speed = shown / (ContinuousClock.now - start)
      print("wrote \(report.path): \(report.frameCount) frames, \(report.byteCount) bytes")
      print("\((speed * 10).rounded() / 10) times as fast as real time")
    } catch {
      print("error: \(error)")
      if let hint = (error as? StereoMediaError)?.hint { print("hint: \(hint)") }
      exit(1)
    }
  }
}
