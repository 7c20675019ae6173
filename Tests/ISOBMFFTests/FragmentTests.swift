// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import TestKit
import Testing

import struct FuzzTargets.SplitMix

/// Fragmented files of FFmpeg's muxer, with every way it knows of saying where samples are.
@Suite(.enabled(if: Python.hasAV, "no Python with PyAV; see GST_SPATIAL_PYTHON"))
struct FragmentTests {
  /// Movies by the flags they were written with, and what FFmpeg reads in each.
  private static let files = Result {
    try Python.files(
      by: """
        import av, sys
        from fractions import Fraction
        def frames(count):
            for n in range(count):
                yield n, bytes([n & 255]) * (50 + 37 * n % 101)
        def write(name, flags, **more):
            path = f"{sys.argv[1]}/{name}.mp4"
            options = {"movflags": flags, "strict": "experimental"} | more
            with av.open(path, "w", options=options) as movie:
                v = movie.add_stream("mpeg4", rate=30)
                v.width, v.height, v.pix_fmt = 64, 64, "yuv420p"
                v.codec_context.extradata = bytes(20)
                a = movie.add_stream("pcm_s16le", rate=48000, layout="stereo")
                for n, data in frames(90):
                    p = av.Packet(data)
                    p.stream, p.time_base = v, Fraction(1, 30)
                    p.dts, p.duration = n, 1
                    p.pts = n + [1, 3, 0, 0][n % 4]
                    p.is_keyframe = n % 24 == 0
                    movie.mux(p)
                    if n % 3 == 0:
                        p = av.Packet(bytes([n]) * 4 * 4800)
                        p.stream, p.time_base = a, Fraction(1, 48000)
                        p.dts = p.pts = n // 3 * 4800
                        p.duration = 4800
                        movie.mux(p)
            with av.open(path) as movie, open(path + ".txt", "w") as out:
                streams = [s for s in movie.streams if s.type == "video"]
                for p in movie.demux(streams):
                    if p.size:
                        key = "K" if p.is_keyframe else "-"
                        print(p.pos, p.size, p.pts, p.dts, p.duration, key, file=out)
        write("plain", "faststart")
        write("keyframe", "frag_keyframe")
        write("empty", "frag_keyframe+empty_moov")
        write("moof", "frag_keyframe+empty_moov+default_base_moof")
        write("omit", "frag_keyframe+empty_moov+omit_tfhd_offset")
        write("dash", "dash+global_sidx+frag_keyframe")
        write("negative", "frag_keyframe+empty_moov+negative_cts_offsets")
        write("short", "empty_moov", frag_duration="100000")
        """)
  }

  private struct Packet: Equatable {
    var position: UInt64
    var size: UInt32
    var presentationTime, decodeTime: Int64
    var duration: UInt32
    var isSync: Bool

    init(_ line: Substring) throws {
      let fields = line.split(separator: " ")
      let numbers = fields.prefix(5).compactMap { Int64($0) }
      try #require(numbers.count == 5 && fields.count == 6)
      position = UInt64(numbers[0])
      size = UInt32(numbers[1])
      presentationTime = numbers[2]
      decodeTime = numbers[3]
      duration = UInt32(numbers[4])
      isSync = fields[5] == "K"
    }

    init(_ record: SampleRecord, presentationShift: Int64, decodeShift: Int64) {
      position = record.offset
      size = record.size
      presentationTime = record.presentationTime + presentationShift
      decodeTime = record.decodeTime + decodeShift
      duration = record.duration
      isSync = record.isSync
    }
  }

  @Test(
    "every sample's place, times and sync flag", .tags(.judge),
    arguments: [
      "plain", "keyframe", "empty", "moof", "omit", "dash", "negative", "short",
    ])
  func samples(name: String) throws {
    let files = try Self.files.get()
    let bytes = try #require(files[name + ".mp4"])
    let listing = String(decoding: try #require(files[name + ".mp4.txt"]), as: UTF8.self)
    let expected = try listing.split(separator: "\n").map { try Packet($0) }
    let file = try ParsedFile(pulling: bytes)
    let movie = try #require(file.movie)
    #expect(movie.isFragmented == (name != "plain"))
    #expect(file.fragments.isEmpty == (name == "plain"))
    let track = try #require(movie.tracks.first { $0.handlerType == "vide" })
    // FFmpeg shifts the times of all packets alike, by edit lists and by negative offsets.
    let first = try #require(track.samples.sample(at: 0))
    let presentationShift = try #require(expected.first).presentationTime - first.presentationTime
    let decodeShift = try #require(expected.first).decodeTime - first.decodeTime
    let found = track.samples.all.map {
      Packet($0, presentationShift: presentationShift, decodeShift: decodeShift)
    }
    #expect(found == expected)
    try checkLookUps(track.samples)

    var generator = SplitMix(state: 3)
    let pushed = try ParsedFile(pushing: bytes) { Int.random(in: 1...3000, using: &generator) }
    #expect(pushed.movie?.tracks.first?.samples.all == movie.tracks.first?.samples.all)
    #expect(pushed.movie?.tracks.last?.samples.count == movie.tracks.last?.samples.count)
  }

  private func checkLookUps(_ samples: TrackSamples) throws {
    let all = samples.all
    for (index, record) in all.enumerated() {
      #expect(samples.index(atDecodeTime: record.decodeTime) == index)
      #expect(samples.index(atPresentationTime: record.presentationTime) == index)
      #expect(samples.syncSample(atOrBefore: index) == all[...index].lastIndex { $0.isSync })
      #expect(samples.syncSample(after: index) == all[(index + 1)...].firstIndex { $0.isSync })
    }
    #expect(
      samples.endDecodeTime == (try #require(all.last)).decodeTime + Int64(all.last?.duration ?? 0))
  }

  @Test("PCM in a fragment is read in runs", .tags(.judge))
  func runs() throws {
    let file = try ParsedFile(pulling: try #require(try Self.files.get()["moof.mp4"]))
    let audio = try #require(file.movie?.tracks.first { $0.handlerType == "soun" })
    let whole = (0..<audio.samples.count).reduce(into: [UInt64: Int]()) { sum, index in
      sum[audio.samples.sample(at: index)?.offset ?? 0, default: 0] += 1
    }
    #expect(whole.values.allSatisfy { $0 == 1 })
    let bytes = audio.samples.all.map { UInt64($0.size) }.reduce(0, +)
    #expect(bytes == 30 * 4800 * 4)
  }

  @Test("mfra at the end and sidx at the start lead to the fragments", .tags(.judge))
  func indexes() throws {
    let files = try Self.files.get()
    let bytes = try #require(files["moof.mp4"])
    let file = try ParsedFile(pulling: bytes)
    let access = try #require(file.randomAccess)
    let track = try #require(file.movie?.tracks.first { $0.handlerType == "vide" })
    let second = try #require(file.fragments.dropFirst().first)
    let time = try #require(second.trackFragments.first?.runs.first?.sample(at: 0)).presentationTime
    #expect(access.entry(of: track.id, at: UInt64(time))?.fragmentOffset == second.offset)
    #expect(access.entry(of: track.id, at: .max)?.fragmentOffset == file.fragments.last?.offset)
    let size = try #require(FragmentRandomAccess.size(fromTail: bytes.suffix(16)))
    let start = bytes.count - Int(size)
    #expect(Array(bytes[start + 4..<start + 8]) == Array("mfra".utf8))
    #expect(FragmentRandomAccess.size(fromTail: Array(bytes.prefix(16))) == nil)

    let dash = try ParsedFile(pulling: try #require(files["dash.mp4"]))
    let index = try #require(dash.segmentIndexes.first)
    #expect(index.references.map(\.offset) == dash.fragments.map(\.offset))
  }
}
