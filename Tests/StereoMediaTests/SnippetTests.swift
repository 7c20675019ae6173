// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// What the documents show of the library, so that it is known to compile and to do what they say.
/// Each line between `// begin` and `// end` is one of theirs.
@Suite(.timeLimit(.minutes(2)))
struct SnippetTests {
  /// README.md, "In an app".
  private func readme(_ path: String, _ copy: String) async throws -> [String] {
    var said: [String] = []
    func print(_ items: Any...) { said.append(items.map { "\($0)" }.joined(separator: " ")) }
    // begin
    let movie = try await StereoMovie(path)
    if let video = movie.video {
      print(video.eyeWidth, video.eyeHeight, video.layers.map(\.nuhLayerID), movie.verdict.missing)
    }

    for try await frame in StereoReader(movie) {
      try frame.left.withPlane(0) { bytes, rows in
        print(frame.time, rows.stride, bytes.byteCount)
      }
    }

    let stills = StereoImageGenerator(movie, show: .anaglyph)
    let file = try await stills.image(at: .seconds(1), as: .jpeg(90))
    print(file.bytes.count, "bytes of frame", file.index)

    let writer = try StereoWriter(copy)
    for try await frame in StereoReader(movie) { try await writer.append(frame) }
    print(try await writer.finish().frameCount, "frames again")

    let player = try await StereoPlayer(movie)
    player.play()
    for await frame in player.frames {
      print(frame.time, "is due")
      if frame.time > .seconds(1) { break }
    }
    // end
    return said
  }

  @Test(
    "the README's program reads every frame of a movie, a still of it, writes it again and plays it"
  )
  func readme() async throws {
    let folder = try TemporaryFolder()
    let said = try await readme(try await Movies.spatial(), folder.path("copy.mov"))
    #expect(said.first == "320 90 [0, 1] []")
    let due = said.dropFirst(43)
    #expect(due.count > 1 && due.allSatisfy { $0.hasSuffix("is due") })
    #expect(said[41].hasSuffix("bytes of frame 29") && said[42] == "40 frames again")
  }

  @Test("every line of Swift in the README is one of these")
  func lines() throws {
    let readme = try String(
      contentsOf: Repository.url.appending(path: "README.md"), encoding: .utf8)
    let own = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
    let known = Set(own.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
    let blocks = readme.components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    let lines = blocks.joined().split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("import ") && !$0.hasPrefix(".p") }
    try #require(lines.count > 8)
    for line in lines {
      let own = line.replacing("\"movie.mov\"", with: "path").replacing(
        "\"copy.mov\"", with: "copy")
      #expect(known.contains(own), "\(line)")
    }
  }
}
