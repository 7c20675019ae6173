// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import TestKit
import Testing

/// The audio tracks of FFmpeg's muxer are read for what they are.
@Suite(.enabled(if: Python.hasAV, "no Python with PyAV; see GST_SPATIAL_PYTHON"))
struct AudioEntryReadingTests {
  /// A movie for each codec, number of channels and container: `aac-2.mov` and so on.
  private static let files = Result {
    try Python.files(
      by: """
        import av, sys
        def write(codec, channels, container):
            path = f"{sys.argv[1]}/{codec}-{channels}.{container}"
            layout = {2: "stereo", 6: "5.1"}[channels]
            with av.open(path, "w", options={"strict": "experimental"}) as movie:
                s = movie.add_stream(codec, rate=48000, layout=layout)
                s.codec_context.open()
                size = s.codec_context.frame_size or 1024
                for n in range(4):
                    f = av.AudioFrame(s.codec_context.format.name, layout, size)
                    for p in f.planes:
                        p.update(bytes(p.buffer_size))
                    f.sample_rate = 48000
                    f.pts = n * size
                    movie.mux(s.encode(f))
                movie.mux(s.encode(None))
        pcm = ["s16le", "s16be", "s24le", "s24be", "s32le", "f32le", "f64be"]
        for codec in ["pcm_" + p for p in pcm]:
            write(codec, 2, "mov")
            write(codec, 2, "mp4")
            write(codec, 6, "mov")
        for codec in ["aac", "mp3", "ac3", "eac3", "alac"]:
            write(codec, 2, "mov")
            write(codec, 2, "mp4")
        write("libopus", 2, "mp4")
        write("flac", 2, "mp4")
        """)
  }

  private func entry(
    _ codec: String, _ container: String, channels: Int = 2
  ) throws -> AudioSampleEntry {
    let bytes = try #require(try Self.files.get()["\(codec)-\(channels).\(container)"])
    let movie = try #require(try ParsedFile(pulling: bytes).movie)
    #expect(movie.issues.isEmpty)
    let track = try #require(movie.tracks.first)
    #expect(track.handlerType == "soun")
    guard case .audio(let entry) = track.sampleEntries.first else {
      throw ISOBMFFError(path: "", offset: 0, reason: "not audio")
    }
    #expect(entry.sampleRate == 48_000)
    #expect(entry.channelCount == UInt32(channels))
    return entry
  }

  @Test(
    "PCM of any width, kind and byte order", .tags(.judge),
    arguments: [
      ("pcm_s16le", PCMFormat(bitsPerSample: 16)),
      ("pcm_s16be", PCMFormat(bitsPerSample: 16, isBigEndian: true)),
      ("pcm_s24le", PCMFormat(bitsPerSample: 24)),
      ("pcm_s24be", PCMFormat(bitsPerSample: 24, isBigEndian: true)),
      ("pcm_s32le", PCMFormat(bitsPerSample: 32)),
      ("pcm_f32le", PCMFormat(bitsPerSample: 32, isFloat: true)),
      ("pcm_f64be", PCMFormat(bitsPerSample: 64, isFloat: true, isBigEndian: true)),
    ])
  func pcm(codec: String, format: PCMFormat) throws {
    for container in ["mov", "mp4"] {
      let entry = try entry(codec, container)
      #expect(entry.coding == .pcm(format))
      #expect(entry.packet?.bytes == UInt32(format.bitsPerSample) / 4)
    }
    #expect(try self.entry(codec, "mov", channels: 6).coding == .pcm(format))
  }

  @Test("AAC with its AudioSpecificConfig, plain and in wave", .tags(.judge))
  func aac() throws {
    for container in ["mov", "mp4"] {
      let entry = try entry("aac", container)
      guard case .aac(let config) = entry.coding else {
        Issue.record("\(entry.coding)")
        continue
      }
      // AAC-LC, 48 kHz, stereo.
      #expect(config.prefix(2) == [0x11, 0x90])
      #expect(entry.averageBitRate > 0)
    }
  }

  @Test(
    "AC-3, E-AC-3, ALAC, Opus, FLAC and MP3 with what their decoders need", .tags(.judge),
    arguments: [
      "mov", "mp4",
    ])
  func compressed(container: String) throws {
    #expect(try entry("mp3", container).coding == .mp3)
    guard case .ac3(let dac3) = try entry("ac3", container).coding,
      case .eac3(let dec3) = try entry("eac3", container).coding,
      case .alac(let cookie) = try entry("alac", container).coding
    else {
      Issue.record("not the codec")
      return
    }
    #expect(dac3.count == 3)
    #expect(dec3.count == 5)
    #expect(cookie.count == 24)
    guard container == "mp4" else { return }
    guard case .opus(let dOps) = try entry("libopus", container).coding,
      case .flac(let blocks) = try entry("flac", container).coding
    else {
      Issue.record("not the codec")
      return
    }
    #expect(dOps.count == 11)
    #expect(blocks.count == 38)
    #expect(blocks.first == 0x80)
  }
}
