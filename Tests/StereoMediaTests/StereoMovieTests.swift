// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// ``StereoMovie``: what a movie is, without decoding.
struct StereoMovieTests {
  @Test("a spatial movie has its layers, its eyes and the metadata of the shot")
  func facts() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    #expect(movie.container == .quickTime && !movie.isFragmented && movie.isSpatial)
    #expect(movie.warnings.isEmpty && movie.verdict.missing.isEmpty)
    let video = try #require(movie.video)
    #expect(video.layout == .multiview)
    #expect((video.eyeWidth, video.eyeHeight) == (320, 90))
    #expect(video.layers.map(\.nuhLayerID) == [0, 1])
    // The eye to show alone is the one that plain players see.
    #expect(video.layers.map(\.eye) == [.right, .left])
    #expect(video.layers.map(\.isBase) == [true, false])
    #expect(video.spatial.horizontalFieldOfView == HorizontalFieldOfView(degrees: 71.5))
    #expect(video.spatial.baseline == Baseline(millimetres: 64))
    #expect(video.spatial.disparityAdjustment == DisparityAdjustment(pictureWidths: 0.02))
    #expect(video.spatial.heroEye == .right)
    #expect(movie.tracks.map(\.kind) == [.video, .audio])
    #expect(movie.tracks.map(\.codec) == ["hvc1", "mp4a"])
    #expect(movie.tracks.first?.sampleCount == 40)
    let rate = try #require(video.frameRate)
    #expect(abs(rate - 30000.0 / 1001) < 0.001)
    let seconds: Double = try #require(movie.duration) / .seconds(1)
    #expect(abs(seconds - 1.334667) < 0.1)
  }

  @Test("frames have the times of the movie, though their samples begin later")
  func frames() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let frames = try #require(movie.video?.frames)
    #expect(frames.count == 40)
    for (index, frame) in frames.enumerated() {
      let exact = Double(index) * 1001 / 30000
      let (time, length): (Double, Double) = (
        frame.time / .seconds(1), frame.duration / .seconds(1)
      )
      #expect(abs(time - exact) < 2e-9, "\(index)")
      #expect(abs(length - 0.033366667) < 4e-9, "\(index)")
    }
    #expect(frames.enumerated().filter(\.element.isSync).map(\.offset).first == 0)
    #expect(frames.count(where: \.isSync) == 3)
    #expect(frames.allSatisfy { $0.byteCount > 0 && $0.byteCount < movie.byteCount })
    #expect(frames.playing(at: .zero) == 0)
    #expect(frames.playing(at: frames[17].time) == 17)
    #expect(frames.playing(at: frames[17].time - .nanoseconds(1)) == 16)
    #expect(frames.playing(at: .seconds(9)) == 39)
    #expect(frames.playing(at: .seconds(-1)) == nil)
  }

  @Test("packed and plain movies are recognised", arguments: ["side-by-side", "top-bottom"])
  func packed(mode: String) async throws {
    let movie = try await StereoMovie(try await Movies.packed(mode))
    let video = try #require(movie.video)
    let expected = PackingLayout(mode == "top-bottom" ? .topBottom : .sideBySide)
    #expect(video.layout == .packed(expected))
    #expect((video.eyeWidth, video.eyeHeight) == (320, 90))
    #expect(!movie.isSpatial && movie.verdict.missing.count == 1)
    let mono = try await StereoMovie(try await Movies.mono())
    #expect(mono.video?.layout == .mono && mono.container == .mp4)
  }

  @Test("a file that is no movie is refused with a reason")
  func noMovie() async throws {
    let folder = try TemporaryFolder()
    let text = try folder.write("This is a text.", to: "text.mov")
    try #require(mkfifo(folder.path("pipe.mov"), 0o600) == 0)
    for path in [
      text, folder.path("nothing.mov"), folder.url.path, "/dev/zero", folder.path("pipe.mov"),
    ] {
      let error = await #expect(throws: StereoMediaError.self) { try await StereoMovie(path) }
      #expect(error?.code == .unreadable && error?.message.contains(path) == true)
    }
  }
}
