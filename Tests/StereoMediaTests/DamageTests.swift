// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// Movies that are cut off or damaged: an error or frames, soon.
struct DamageTests {
  /// Opens and reads a movie, and takes a still of it. Errors are as good as frames.
  private func use(_ path: String) async -> Bool {
    do {
      let movie = try await StereoMovie(path)
      _ = movie.video?.frames.reversed().prefix(100).map(\.time)
      for try await frame in StereoReader(movie) where frame.index == 20 { break }
      _ = try await StereoImageGenerator(movie, show: .left).image(at: .seconds(1))
    } catch {
      return error is StereoMediaError
    }
    return true
  }

  @Test(
    "a movie that is cut off or has wrong bytes anywhere neither hangs nor traps",
    .tags(.long)
  )
  func damaged() async throws {
    let whole =
      [UInt8](
        try Data(contentsOf: URL(filePath: try await Movies.fragmented())))
      + [UInt8](try Data(contentsOf: URL(filePath: try await Movies.spatial())))
    let half = try Data(contentsOf: URL(filePath: try await Movies.fragmented())).count
    let folder = try TemporaryFolder()
    var random = UInt32(1)
    func next(_ limit: Int) -> Int {
      random = random &* 1_664_525 &+ 1_013_904_223
      return Int(random >> 8) % max(limit, 1)
    }
    for round in 0..<60 {
      var bytes = round % 2 == 0 ? Array(whole[..<half]) : Array(whole[half...])
      if round % 3 == 0 {
        bytes.removeLast(next(bytes.count))
      } else {
        // Most of a movie is pictures; what says where they are is at its ends.
        let region = round % 3 == 1 ? min(4000, bytes.count) : bytes.count
        for _ in 0..<20 {
          let place = next(region)
          bytes[round % 4 == 1 ? bytes.count - 1 - place : place] = UInt8(next(256))
        }
      }
      let path = folder.path("\(round).mov")
      try Data(bytes).write(to: URL(filePath: path))
      #expect(await use(path), "\(round)")
    }
  }
}
