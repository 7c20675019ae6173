// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// Sound as samples: what ``StereoWriter`` is given, and what ``StereoReader`` gives.
struct AudioTests {
  private let folder: TemporaryFolder
  private let output: String

  init() throws {
    folder = try TemporaryFolder()
    output = folder.path("out.mov")
  }

  /// A tone for each channel, in hertz.
  private func tones(
    _ tones: [Double], rate: Int = 48_000, at time: Duration = .zero, seconds: Double
  ) throws -> AudioSamples {
    let format = try AudioSampleFormat(sampleRate: rate, channelCount: tones.count)
    let start = time / .seconds(1)
    let samples: [Float] = (0..<Int(seconds * Double(rate))).flatMap { index -> [Float] in
      let turns = 2 * Double.pi * (start + Double(index) / Double(rate))
      return tones.map { Float(0.4 * sin($0 * turns)) }
    }
    return try AudioSamples(samples, format: format, at: time)
  }

  private func picture() throws -> Picture {
    Picture(try PicturePool(format: .i420, width: 128, height: 96).take())
  }

  /// `count` frames, 25 per second.
  private func append(_ count: Int, to writer: StereoWriter) async throws {
    let picture = try picture()
    for index in 0..<count {
      try await writer.append(
        left: picture, right: picture, at: .milliseconds(40 * index), duration: .milliseconds(40))
    }
  }

  private func code(_ body: () async throws -> Void) async -> StereoMediaError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? StereoMediaError)?.code
    }
  }

  /// What PyAV hears: of each track what it is, and the tones of each channel.
  private func heard(_ path: String) throws -> [[Substring]] {
    let tool = Repository.url.appending(path: "Tests/Tools/sound_facts.py").path
    return try Python.lines([tool, path]).map { $0.split(separator: " ") }
  }

  @Test(
    "two tracks, each from a task of its own, are heard as they were given", .tags(.judge),
    .enabled(if: Python.hasAVAndNumPy, "no Python with PyAV and NumPy"), arguments: ["mov", "mp4"])
  func tracks(ending: String) async throws {
    let path = folder.path("out.\(ending)")
    let voice = try AudioInput(
      "voice", try AudioSampleFormat(channelCount: 1), bitsPerSecond: 96_000)
    let room = try AudioInput("room", try AudioSampleFormat(sampleRate: 44_100, channelCount: 6))
    let writer = try StereoWriter(path, quickSettings(), audio: [voice, room])
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await append(50, to: writer) }
      // Of any length, and all at once.
      group.addTask { try await writer.append(tones([440], seconds: 2), to: "voice") }
      group.addTask {
        for part in 0..<20 {
          try await writer.append(
            tones(
              [300, 400, 500, 60, 700, 800], rate: 44_100, at: .milliseconds(100 * part),
              seconds: 0.1), to: "room")
        }
      }
      try await group.waitForAll()
    }
    _ = try await writer.finish()
    let heard = try heard(path)
    let (first, second) = (heard[0], try #require(heard.count == 9 ? heard[2] : nil))
    #expect(first.prefix(3) == ["aac", "48000", "1"] && second.prefix(3) == ["aac", "44100", "6"])
    // Whole packets of 1024.
    #expect(abs((Int(first[3]) ?? 0) - 96_000) <= 2048, "\(first)")
    #expect(abs((Int(second[3]) ?? 0) - 88_200) <= 2048, "\(second)")
    #expect(heard[1].prefix(3).allSatisfy { $0 == "440" }, "\(heard[1])")
    for (channel, tone) in [300, 400, 500, 60, 700, 800].enumerated() {
      #expect(heard[3 + channel].prefix(3).allSatisfy { $0 == "\(tone)" }, "\(heard[3 + channel])")
    }
    let movie = try await StereoMovie(path)
    #expect(movie.isSpatial && movie.video?.frames.count == 50)
  }

  @Test(
    "times without audio are silent, and samples that are no numbers do no harm", .tags(.judge),
    .enabled(if: Python.hasAVAndNumPy, "no Python with PyAV and NumPy"))
  func silence() async throws {
    let format = try AudioSampleFormat(channelCount: 1)
    let inputs = [try AudioInput("a", format), try AudioInput("never", format)]
    _ = try await StereoWriter.write(output, quickSettings(), audio: inputs) { writer in
      try await writer.append(tones([440], at: .seconds(1), seconds: 1), to: "a")
      let broken =
        [Float.nan, .infinity, -.infinity, 1e30, -1e30] + Array(repeating: 0, count: 475)
      try await writer.append(
        try AudioSamples(broken, format: format, at: .milliseconds(2500)), to: "a")
      try await writer.append(tones([880], at: .seconds(3), seconds: 1), to: "a")
      try await writer.end("a")
      try await writer.end("never")
      try await append(100, to: writer)
    }
    let heard = try heard(output)
    #expect(heard[1].prefix(4) == ["0", "0", "440", "440"] && heard[1][6...7] == ["880", "880"])
    #expect(try await StereoMovie(output).video?.frames.count == 100)
  }

  @Test("frames may end before audio, and audio before frames")
  func lengths() async throws {
    let format = try AudioSampleFormat(channelCount: 2)
    for (frames, seconds) in [(25, 5.0), (125, 1.0)] {
      var settings = quickSettings()
      settings.replaces = true
      let report = try await StereoWriter.write(
        output, settings, audio: [try AudioInput("a", format)]
      ) { writer in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            try await append(frames, to: writer)
            try await writer.endFrames()
          }
          group.addTask {
            try await writer.append(tones([440, 500], seconds: seconds), to: "a")
            try await writer.end("a")
          }
          try await group.waitForAll()
        }
      }
      #expect(report.frameCount == frames)
      let movie = try await StereoMovie(output)
      let audio = try #require(movie.tracks.first { $0.kind == .audio })
      #expect(abs(try #require(audio.duration) / .seconds(1) - seconds) < 0.05)
    }
  }

  @Test(
    "a writer that gets only one stream reports after ten seconds what it waits for",
    .tags(.judge, .exhaustive))
  func starvationError() async throws {
    let format = try AudioSampleFormat(channelCount: 6)
    let inputs = [try AudioInput("voice", format, bitsPerSecond: 1_000_000)]
    let names = ["frames.mov", "sound.mov"].map(folder.path)
    let errors = await withTaskGroup(of: StereoMediaError?.self) { group in
      group.addTask {
        await error(names[0], inputs) { writer in
          try await append(1000, to: writer)
        }
      }
      group.addTask {
        await error(names[1], inputs) { writer in
          let noise = (0..<480_000).map { _ in Float.random(in: -1...1) }
          for part in 0..<100 {
            try await writer.append(
              try AudioSamples(noise, format: format, at: .milliseconds(1667 * part)), to: "voice")
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(errors.map { $0?.code } == [.stalled, .stalled])
    let messages = errors.compactMap { $0?.message }
    #expect(
      messages.contains { $0.hasPrefix("the frames") && $0.contains("'voice'") }, "\(messages)")
    #expect(messages.contains { $0.hasPrefix("audio track 'voice'") && $0.contains("the frames") })
  }

  /// What writing ends with.
  private func error(
    _ path: String, _ inputs: [AudioInput], _ body: (StereoWriter) async throws -> Void
  ) async -> StereoMediaError? {
    do {
      let writer = try StereoWriter(path, quickSettings(), audio: inputs)
      do {
        try await body(writer)
        return nil
      } catch {
        await writer.cancel()
        throw error
      }
    } catch {
      return error as? StereoMediaError
    }
  }

  @Test("audio for an unknown track is refused, without effect")
  func refusals() async throws {
    let format = try AudioSampleFormat(channelCount: 1)
    #expect(throws: StereoMediaError.self) { try AudioSampleFormat(sampleRate: 0) }
    #expect(throws: StereoMediaError.self) { try AudioSampleFormat(channelCount: 3) }
    #expect(throws: StereoMediaError.self) { try AudioInput("a", format, bitsPerSecond: .max) }
    #expect(throws: StereoMediaError.self) {
      try AudioSamples([0, 0, 0], format: AudioSampleFormat(channelCount: 2), at: .zero)
    }
    let input = try AudioInput("a", format)
    #expect(throws: StereoMediaError.self) {
      try StereoWriter(output, quickSettings(), audio: [input, input])
    }
    let report = try await StereoWriter.write(output, quickSettings(), audio: [input]) { writer in
      try await writer.append(tones([440], seconds: 0.5), to: "a")
      for (audio, name) in [
        (try tones([440], seconds: 0.1), "b"), (try tones([440, 440], seconds: 0.1), "a"),
        (try tones([440], at: .milliseconds(-1), seconds: 0.1), "a"),
      ] {
        #expect(await code { try await writer.append(audio, to: name) } == .invalidInput)
      }
      try await writer.append(tones([440], at: .milliseconds(500), seconds: 0.5), to: "a")
      let early = try tones([440], at: .milliseconds(499), seconds: 0.5)
      #expect(await code { try await writer.append(early, to: "a") } == .invalidInput)
      try await append(25, to: writer)
      try await writer.end("a")
      let late = try tones([440], at: .seconds(1), seconds: 0.5)
      #expect(await code { try await writer.append(late, to: "a") } == .invalidInput)
    }
    #expect(report.frameCount == 25)
    let audio = try await StereoMovie(output).tracks.first { $0.kind == .audio }
    #expect(abs(try #require(audio?.duration) / .seconds(1) - 1) < 0.05)
  }

  @Test("audio without frames is no movie, and leaves no file")
  func noFrames() async throws {
    let input = try AudioInput("a", try AudioSampleFormat(channelCount: 1))
    let written = await code {
      _ = try await StereoWriter.write(output, quickSettings(), audio: [input]) { writer in
        try await writer.append(tones([440], seconds: 1), to: "a")
      }
    }
    #expect(written == .invalidInput)
    // A cancelled writer does not remove the file of a later one.
    var first: StereoWriter? = try StereoWriter(output)
    await first?.cancel()
    let second = try StereoWriter(output)
    first = nil
    #expect(FileManager.default.fileExists(atPath: folder.path("out.incomplete.mov")))
    await second.cancel()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  @Test("a movie's audio is read completely, or a part to the sample, among its frames")
  func reading() async throws {
    let format = try AudioSampleFormat(sampleRate: 32_000, channelCount: 2)
    _ = try await StereoWriter.write(
      output, quickSettings(), audio: [try AudioInput("a", try AudioSampleFormat(channelCount: 1))]
    ) { writer in
      try await writer.append(tones([440], seconds: 3), to: "a")
      try await append(75, to: writer)
    }
    let movie = try await StereoMovie(output)
    var end = Duration.zero
    var loudest: Float = 0
    for try await part in StereoReader(movie).audio(as: format) {
      #expect(part.format == format && abs((part.time - end) / .milliseconds(1)) < 0.1)
      end = part.time + part.duration
      loudest = part.samples.reduce(loudest) { max($0, abs($1)) }
    }
    #expect(abs(end / .seconds(1) - 3) < 0.07 && (0.35...0.5).contains(loudest), "\(end)")

    var options = StereoReader.Options()
    options.range = .milliseconds(1000)..<(.milliseconds(1500))
    var (times, count, frames): ([Duration], Int, Int) = ([], 0, 0)
    for try await sample in StereoReader(movie, options).samples(audio: format) {
      switch sample {
      case .frame(let frame):
        frames += 1
        times.append(frame.time)
      case .audio(let audio):
        count += audio.count
        times.append(audio.time)
      }
    }
    #expect(abs(count - 16_000) <= 2 && frames == 13)
    #expect(times == times.sorted())
    #expect(abs((try #require(times.min()) - .seconds(1)) / .milliseconds(1)) < 0.1)

    let silent = try await StereoMovie(try await Movies.lasting())
    #expect(try await StereoReader(silent).audio(as: format).reduce(0) { $0 + $1.count } == 0)
  }
}
