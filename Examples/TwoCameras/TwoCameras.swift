// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia

/// Writes a spatial movie from two simulated cameras: a bright square that moves from left to right
/// in front of a grey wall:
///
///     TwoCameras movie.mov [AUDIO.mov]
///
/// The audio of the other movie is copied unchanged.
@main
enum TwoCameras {
  static let (width, height, rate, count) = (320, 180, 30, 60)

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard (1...2).contains(arguments.count) else {
      return print("usage: TwoCameras MOVIE [AUDIO]")
    }
    do {
      var settings = StereoWriter.Settings()
      settings.rate = .quality(18)
      settings.speed = .veryfast
      settings.frameRate = Double(rate)
      settings.spatial = SpatialMetadata(
        heroEye: .left, horizontalFieldOfView: HorizontalFieldOfView(degrees: 71.5),
        baseline: Baseline(millimetres: 64),
        disparityAdjustment: DisparityAdjustment(pictureWidths: 0.02))
      if arguments.count == 2 { settings.audio = try await StereoMovie(arguments[1]) }
      let report = try await StereoWriter.write(arguments[0], settings) { writer in
        let pool = try PicturePool(format: .i420, width: width, height: height)
        for index in 0..<count {
          try await writer.append(
            left: try camera(pool, index, disparity: 6),
            right: try camera(pool, index, disparity: -6),
            at: .seconds(1) * index / rate, duration: .seconds(1) / rate)
        }
      }
      print("wrote \(report.path): \(report.frameCount) frames, \(report.byteCount) bytes")
    } catch {
      print("error: \(error)")
      if let hint = (error as? StereoMediaError)?.hint { print("hint: \(hint)") }
      exit(1)
    }
  }

  /// Returns the picture of one camera.
  static func camera(_ pool: PicturePool, _ index: Int, disparity: Int) throws -> Picture {
    var picture = try pool.take()
    let left = index * (width - 80) / count + 20 + disparity
    for plane in 0..<picture.planeCount {
      // Chroma has half the width and height; 128 is neutral.
      let isLuma = plane == 0
      try picture.withPlane(plane) { bytes, layout in
        for row in 0..<layout.rows {
          for column in 0..<layout.rowBytes {
            let isSquare = (left..<left + 40).contains(column) && (70..<110).contains(row)
            let value: UInt8 = isLuma ? (isSquare ? 220 : 60 + UInt8((row + column) % 40)) : 128
            bytes.storeBytes(of: value, toByteOffset: row * layout.stride + column, as: UInt8.self)
          }
        }
      }
    }
    return Picture(picture)
  }
}
