// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// What an independent reader, FFmpeg's, finds in movies of ours.
@Suite(.enabled(if: Python.hasAV, "no Python with PyAV; see GST_SPATIAL_PYTHON"))
struct WrittenMovieTests {
  private static let printPackets = """
    import av, sys
    with av.open(sys.argv[1]) as movie:
        for s in movie.streams:
            print(s.type, s.codec_context.name, s.time_base.denominator, s.start_time, s.duration)
        for p in movie.demux():
            if p.size:
                key = "K" if p.is_keyframe else "-"
                print(p.stream.index, p.pts, p.dts, p.duration, key, bytes(p).hex())
    """

  private func bytes(_ sample: Int, track: Int, size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: sample &* 31 &+ track &* 17 &+ $0) }
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
  }

  @Test(
    "video and AAC: every packet with its bytes and times", .tags(.judge),
    arguments: MovieContainer.allCases)
  func packets(container: MovieContainer) throws {
    var movie = MovieWriter(container: container)
    let video = try movie.addTrack(
      TrackDescription(
        .video(VisualSampleEntry(width: 64, height: 32, hvcC: plainHVCC)), timescale: 30_000))
    var aac = AudioSampleEntry(
      coding: .aac(audioSpecificConfig: [0x11, 0x90]), channelCount: 2, sampleRate: 48_000,
      framesPerSample: 1024)
    aac.averageBitRate = 128_000
    let audio = try movie.addTrack(TrackDescription(.audio(aac), timescale: 48_000))

    var file = movie.header
    var expected: [[String]] = [[], []]
    // Decoded in the order 0 2 1 4 3 ..., half a second after the sound begins.
    let offsets: [Int64] = [1, 2, 0, 2, 0, 2, 0, 2, 0, 1]
    for (index, offset) in offsets.enumerated() {
      let decodeTime = 15_000 + 1001 * (Int64(index) - 1)
      let frame = bytes(index, track: 0, size: 40 + index)
      try movie.append(
        SampleDescription(
          size: UInt32(frame.count), decodeTime: decodeTime, duration: 1001,
          compositionOffset: Int32(1001 * offset), isSync: index == 0),
        frame, to: video, file: &file)
      expected[0].append(
        "0 \(decodeTime + 1001 * offset) * 1001 \(index == 0 ? "K" : "-") \(hex(frame))")
      for packet in 4 * index..<4 * index + 4 {
        let data = bytes(packet, track: 1, size: 20)
        try movie.append(
          SampleDescription(size: 20, decodeTime: Int64(packet * 1024), duration: 1024),
          data, to: audio, file: &file)
        expected[1].append("1 \(packet * 1024) \(packet * 1024) 1024 K \(hex(data))")
      }
    }
    let output = try Python.run(
      Self.printPackets, on: movie.complete(file), extension: container == .mp4 ? "mp4" : "mov"
    ).split(separator: "\n").map(String.init)
    #expect(output.first == "video hevc 30000 15000 10010")
    #expect(output.dropFirst().first == "audio aac 48000 0 40960")
    let packets = output.dropFirst(2)
    let videoPackets = packets.filter { $0.hasPrefix("0 ") }.map { line in
      // The decode times are the reader's own shift; their distances are checked by duration.
      var fields = line.split(separator: " ").map(String.init)
      fields[2] = "*"
      return fields.joined(separator: " ")
    }
    #expect(videoPackets == expected[0])
    #expect(packets.filter { $0.hasPrefix("1 ") } == expected[1])
  }

  @Test("audio codecs are known by name, rate and channels", .tags(.judge))
  func audioCodecs() throws {
    let alac: [UInt8] = [
      0, 0, 0x10, 0, 0, 16, 40, 10, 14, 2, 0, 0, 0, 0, 0x40, 4, 0, 0x17, 0x70, 0, 0, 0, 0xBB, 0x80,
    ]
    let codings: [(coding: AudioCoding, name: String)] = [
      (.pcm(PCMFormat(bitsPerSample: 16)), "pcm_s16le"),
      (.pcm(PCMFormat(bitsPerSample: 16, isBigEndian: true)), "pcm_s16be"),
      (.pcm(PCMFormat(bitsPerSample: 24)), "pcm_s24le"),
      (.pcm(PCMFormat(bitsPerSample: 32, isFloat: true)), "pcm_f32le"),
      (.ac3(dac3: [0x10, 0x11, 0x40]), "ac3"),
      (.eac3(dec3: [0x06, 0x00, 0x20, 0x04, 0x00]), "eac3"),
      (.alac(magicCookie: alac), "alac"), (.mp3, "mp3float"),
      (.opus(dOps: [0, 2, 1, 0x38, 0, 0, 0xBB, 0x80, 0, 0, 0]), "opus"),
    ]
    var files: [String: [UInt8]] = [:]
    var expected: Set<String> = []
    func add(
      _ coding: AudioCoding, _ name: String, _ channels: UInt32, _ rate: UInt32,
      _ container: MovieContainer
    ) throws {
      var movie = MovieWriter(container: container)
      let entry = AudioSampleEntry(coding: coding, channelCount: channels, sampleRate: rate)
      let track = try movie.addTrack(TrackDescription(.audio(entry), timescale: rate))
      let size = entry.packet?.bytes ?? 100
      var file = movie.header
      for index in 0..<4 as Range<Int64> {
        try movie.append(
          SampleDescription(size: size, decodeTime: index, duration: 1),
          Array(repeating: 0, count: Int(size)), to: track, file: &file)
      }
      let fileName = "\(name)-\(channels)-\(rate).\(container == .mp4 ? "mp4" : "mov")"
      files[fileName] = try movie.complete(file)
      expected.insert("\(fileName) \(name) \(rate) \(channels)")
    }
    for container in MovieContainer.allCases {
      for (coding, name) in codings {
        try add(coding, name, 2, 48_000, container)
        if case .pcm = coding {
          try add(coding, name, 6, 96_000, container)
        }
      }
    }
    let unsigned = PCMFormat(bitsPerSample: 8, isSigned: false)
    try add(.pcm(unsigned), "pcm_u8", 1, 8000, .quickTime)
    try add(.pcm(PCMFormat(bitsPerSample: 8)), "pcm_s8", 1, 8000, .quickTime)
    let output = try Python.run(
      """
      import av, os, sys
      for name in os.listdir(sys.argv[1]):
          with av.open(sys.argv[1] + "/" + name) as movie:
              c = movie.streams.audio[0].codec_context
              print(name, c.name.removeprefix("lib"), c.sample_rate, c.layout.nb_channels)
      """, files: files)
    #expect(Set(output.split(separator: "\n").map(String.init)) == expected)
  }

  @Test("the keys of a spatial movie are read", .tags(.judge), arguments: MovieContainer.allCases)
  func keys(container: MovieContainer) throws {
    var movie = MovieWriter(
      container: container, metadata: MovieMetadata(items: MovieMetadata.spatialItems))
    let track = try movie.addTrack(
      TrackDescription(
        .video(VisualSampleEntry(width: 64, height: 32, hvcC: plainHVCC)), timescale: 30))
    var file = movie.header
    try movie.append(
      SampleDescription(size: 4, decodeTime: 0, duration: 1), [0, 0, 0, 0], to: track, file: &file)
    let output = try Python.run(
      """
      import av, sys
      with av.open(sys.argv[1]) as movie:
          print(movie.metadata["com.apple.quicktime.spatial.format-version"])
          print(movie.metadata["com.apple.quicktime.spatial.aggressors-seen"])
      """, on: movie.complete(file), extension: container == .mp4 ? "mp4" : "mov")
    #expect(output == "1.0\n0\n")
  }
}
