// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestElements
import TestKit
import Testing

/// A tone that begins at half a second is heard there, whatever encodes it: FFmpeg decodes it.
@Suite(.tags(.process), .checkedStreams)
struct EncoderDelayTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  private static let encoders = [
    "avenc_aac", "avenc_aac ! aacparse", "voaacenc", "lamemp3enc", "lamemp3enc ! mpegaudioparse",
    "avenc_ac3", "avenc_ac3_fixed", "avenc_eac3 ! ac3parse", "avenc_mp2 ! mpegaudioparse",
    "avenc_mp2fixed ! mpegaudioparse",
    "twolamemp2enc ! mpegaudioparse", "opusenc", "flacenc ! flacparse", "avenc_alac",
    "audio/x-raw,format=S16LE",
  ]

  @Test(
    "the samples that an encoder adds before the first are cut by an edit list", .tags(.judge),
    arguments: encoders, [44_100, 48_000].sampled(1))
  func tone(encoder: String, rate: Int) async throws {
    guard encoder != "opusenc" || rate == 48_000 else { return }
    try await expectTone(rate, encoder)
  }

  @Test("the encoder is found through what only passes its data on", .tags(.judge))
  func distant() async throws {
    try await expectTone(48_000, "avenc_aac ! tee ! identity ! audio/mpeg")
  }

  @Test("segments begin where the input of their encoder does", .tags(.judge))
  func segments() async throws {
    try makeTone(rate: 48_000)
    let hls = try HLSFolder()
    try await play(
      "filesrc location=\(folder.path("tone.wav")) ! wavparse ! audioconvert ! avenc_aac ! queue ! "
        + "h.audio_0 " + hls.video(30, "") + hls.sink("playlist-type=vod target-duration=1"))
    try expectTone(in: hls.path("audio_0/index.m3u8"))
  }

  private func expectTone(_ rate: Int, _ coding: String) async throws {
    try makeTone(rate: rate)
    let path = folder.path("out.mov")
    try await play(
      "filesrc location=\(folder.path("tone.wav")) ! wavparse ! audioconvert ! \(coding) ! queue ! "
        + "mux.audio_0 " + eyes(30, "width=160,height=96,framerate=30/1")
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)")
    try expectTone(in: path)
  }

  private func expectTone(in path: String) throws {
    let said = try Program.run(
      [
        "ffmpeg", "-nostdin", "-i", path, "-map", "0:a", "-af",
        "silencedetect=noise=-30dB:d=0.05", "-f", "null", "-",
      ], in: folder.url)
    let start = try #require(said.output.firstMatch(of: /silence_end: (\d+\.\d+)/)).1
    #expect(abs((Double(start) ?? 0) - 0.5) < 0.002, "\(start)")
  }

  /// Writes a second of silence with a tone of 20 ms at half a second.
  private func makeTone(rate: Int) throws {
    var samples: [Int16] = Array(repeating: 0, count: rate)
    for index in 0..<rate / 50 {
      samples[rate / 2 + index] =
        Int16(26_000 * sin(2 * .pi * 1000 * Double(index) / Double(rate)))
    }
    var wave = Data("RIFF".utf8)
    func append<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number.littleEndian) { wave.append(contentsOf: $0) }
    }
    append(UInt32(36 + 2 * rate))
    wave.append(contentsOf: "WAVEfmt ".utf8)
    append(UInt32(16))
    for number: UInt16 in [1, 1] { append(number) }
    append(UInt32(rate))
    append(UInt32(2 * rate))
    for number: UInt16 in [2, 16] { append(number) }
    wave.append(contentsOf: "data".utf8)
    append(UInt32(2 * rate))
    for sample in samples { append(sample) }
    try wave.write(to: URL(filePath: folder.path("tone.wav")))
  }
}
