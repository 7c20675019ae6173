// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia

/// Plays a 360 or 180 degree movie without a screen while turning the viewer from the first of the
/// given directions to the last:
///
///     SpherePlayer movie.mov FOLDER 0 90 180
///
/// Writes what each eye sees in each of these directions, in degrees to the right, to FOLDER.
@main
enum SpherePlayer {
  static let size = (width: 640, height: 360)

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let yaws = arguments.dropFirst(2).compactMap(Double.init).sorted()
    guard arguments.count > 2, yaws.count == arguments.count - 2 else {
      return print("usage: SpherePlayer MOVIE FOLDER YAW...")
    }
    do {
      let movie = try await StereoMovie(arguments[0])
      try await play(movie, turning: yaws, writingTo: arguments[1])
    } catch {
      print("error: \(error)")
      if let hint = (error as? StereoMediaError)?.hint { print("hint: \(hint)") }
      exit(1)
    }
  }

  static func play(
    _ movie: StereoMovie, turning yaws: [Double], writingTo folder: String
  ) async throws {
    let projection = movie.video?.spatial.projection ?? .equirectangular
    let end = movie.video?.frames.last?.time ?? .zero
    let player = try await StereoPlayer(movie)
    async let failure = follow(player.states)
    print("playing \(projection.rawValue), \(movie.video?.frames.count ?? 0) frames")
    var wanted = yaws[...]
    player.play()
    for await frame in player.frames {
      // The last direction is reached at the last frame.
      let part = end > .zero ? frame.time / end : 1
      let yaw = yaws[0] + (yaws[yaws.count - 1] - yaws[0]) * part
      while let next = wanted.first, next <= yaw || frame.time >= end {
        try await write(frame, SphereView(yaw: next), projection, to: folder)
        wanted.removeFirst()
      }
      if wanted.isEmpty { return }
    }
    if let failure = await failure { throw failure }
  }

  /// Prints a player's states up to its end. Returns the error that ended it, or nil.
  static func follow(_ states: AsyncStream<StereoPlayer.State>) async -> StereoMediaError? {
    for await state in states {
      switch state {
      case .failed(let error): return error
      case .warning(let warning): print("warning: \(warning)")
      case .paused, .playing, .ended: print(state)
      }
    }
    return nil
  }

  static func write(
    _ frame: StereoFrame, _ view: SphereView, _ projection: ProjectionKind, to folder: String
  ) async throws {
    for eye in frame.isMono ? [.left] : Eye.allCases {
      let window = try view.render(
        frame[eye], projection, width: size.width, height: size.height)
      let path = "\(folder)/\(Int(view.yaw))-\(eye.rawValue).png"
      try Data(try await window.encoded()).write(to: URL(filePath: path))
      print("looked to \(Int(view.yaw)) at \(frame.time), wrote \(path)")
    }
  }
}
