// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia

/// Joins two movies with a one-second crossfade:
///
///     CompositorApp first.mov second.mov joined.mov [mono]
///
/// With `mono`, writes a plain movie of one eye.
@main
enum CompositorApp {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard (3...4).contains(arguments.count) else {
      return print("usage: CompositorApp FIRST SECOND OUTPUT [mono]")
    }
    do {
      let output = arguments.last == "mono" ? CompositionOutput.mono : .stereo
      let composition = try await join(
        try await StereoMovie(arguments[0]), try await StereoMovie(arguments[1]), output)
      var settings = StereoWriter.Settings()
      settings.speed = .veryfast
      for try await progress in composition.export(to: arguments[2], settings) {
        print("\(Int(progress.fraction * 100)) %, \(progress.frameCount) frames")
      }
      print("wrote \(arguments[2])")
    } catch {
      print("error: \(error)")
      if let hint = (error as? StereoMediaError)?.hint { print("hint: \(hint)") }
      exit(1)
    }
  }

  static func join(
    _ first: StereoMovie, _ second: StereoMovie, _ output: CompositionOutput
  ) async throws -> StereoComposition<Crossfade> {
    guard let video = first.video, let last = video.frames.last else {
      throw StereoMediaError(.missingVideo, "'\(first.path)' has no video")
    }
    let end = last.time + last.duration
    let start = max(.zero, end - .seconds(1))
    var composition = StereoComposition(
      Crossfade(output: output), frames: .every(.seconds(1) / (video.frameRate ?? 30)))
    composition.add("first", first)
    composition.add("second", second, at: start)
    composition.during(start..<end, .fade)
    // Both movies get the same format and size, so that their pixels can be mixed.
    let picture = try await StereoImageGenerator(first).frame(0).left
    composition.format = .i420
    composition.size = .exact(width: picture.width, height: picture.height)
    composition.colour = picture.colour
    return composition
  }
}

/// Shows one of two sources, or a fade from one to the other.
struct Crossfade: StereoCompositor {
  enum Instruction: Sendable {
    case fade
  }

  let output: CompositionOutput

  func compose(_ request: CompositionRequest<Instruction>) async throws -> ComposedFrame {
    guard let first = request["first"] else {
      return request["second"] == nil ? .skip : .source("second")
    }
    guard let second = request["second"], request.instruction == .fade else {
      return .source("first")
    }
    let left = try mix(first.left, second.left, request)
    if output == .mono { return .mono(left) }
    return .stereo(left, try mix(first.right, second.right, request))
  }

  private func mix(
    _ one: Picture, _ other: Picture, _ request: CompositionRequest<Instruction>
  ) throws -> Picture {
    var result = try request.picture(like: one)
    let weight = Int(request.progress * 256)
    for plane in 0..<result.planeCount {
      let (from, to) = (try Plane(one, plane), try Plane(other, plane))
      try result.withPlane(plane) { bytes, layout in
        for row in 0..<layout.rows {
          for column in 0..<layout.rowBytes {
            let (a, b) = (Int(from[row, column]), Int(to[row, column]))
            bytes.storeBytes(
              of: UInt8((a * (256 - weight) + b * weight) / 256),
              toByteOffset: row * layout.stride + column, as: UInt8.self)
          }
        }
      }
    }
    return Picture(result)
  }
}

/// A copy of a plane's bytes.
struct Plane {
  private let bytes: [UInt8]
  private let stride: Int

  init(_ picture: Picture, _ plane: Int) throws {
    (bytes, stride) = try picture.withPlane(plane) { bytes, layout in
      (bytes.withUnsafeBytes { Array($0) }, layout.stride)
    }
  }

  subscript(row: Int, column: Int) -> UInt8 { bytes[row * stride + column] }
}
