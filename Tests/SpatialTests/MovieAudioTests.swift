// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import TestElements
import TestKit
import Testing

/// Sound of every kind through `mvhevcdemux` and `mvhevcmux`.
struct MovieAudioTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  // MARK: Reading

  private static let foreign = [
    "aac-2.mp4", "aac-2.mov", "mp3-2.mp4", "mp3-2.mov", "ac3-2.mp4", "ac3-6.mov", "eac3-2.mp4",
    "eac3-6.mov", "alac-2.mp4", "alac-2.mov", "libopus-2.mp4", "libopus-6.mp4", "flac-2.mp4",
    "pcm_s16le-2.mov", "pcm_s16be-2.mov", "pcm_s24le-1.mov", "pcm_s24be-2.mov", "pcm_s32be-2.mov",
    "pcm_f32be-2.mov", "pcm_f64be-2.mov", "pcm_s16le-6.mov", "pcm_s8-2.mov", "pcm_u8-2.mov",
    "pcm_alaw-2.mov", "pcm_mulaw-2.mov", "adpcm_ima_qt-2.mov", "adpcm_ima_qt-1.mov",
  ]

  /// What is not compared: of positions qtdemux knows less, and its headers of FLAC are those of no
  /// container.
  private static let exceptions = ["channel-mask", "streamheader"]

  @Test(
    "audio of FFmpeg's movies has the caps and bytes of qtdemux", .tags(.judge),
    Python.hasAVTrait)
  func sameAsQtdemux() async throws {
    let script = Repository.url.appending(path: "Tests/Tools/make_audio_movies.py").path
    _ = try Python.lines([script, folder.url.path] + Self.foreign)
    for name in Self.foreign {
      let path = folder.path(name)
      let theirs = try await heard(path, "qtdemux")
      let ours = try await heard(path, "mvhevcdemux")
      let (expected, caps) = (try #require(theirs.caps.first), try #require(ours.caps.first))
      #expect(caps.name == expected.name, "\(name)")
      for field in expected.allFields where !Self.exceptions.contains(field.key) {
        #expect(
          caps[field.key].map { "\($0)" } == "\(field.value)"
            || isSameBuffer(caps, expected, field),
          "\(name): \(field.key) of \(ours.caps), not \(theirs.caps)")
      }
      // qtdemux leaves out what lies outside the edit list, such as what lets decoders settle.
      let isSame = ours.bytes == theirs.bytes || ours.bytes.firstRange(of: theirs.bytes) != nil
      #expect(isSame, "\(name): \(ours.bytes.count) bytes, not \(theirs.bytes.count)")
    }
  }

  private func isSameBuffer(
    _ one: StructureView, _ other: StructureView, _ field: (key: String, value: Value)
  ) -> Bool {
    guard let buffer = other.buffer(field.key) else { return false }
    return one.buffer(field.key)?.bytes == buffer.bytes
  }

  @Test(
    "PCM in its ISO forms and with little-endian numbers equals FFmpeg's", .tags(.judge),
    Python.hasAVTrait,
    arguments: [
      ("pcm_s16le-2.mp4", "S16LE"), ("pcm_s16be-2.mp4", "S16BE"), ("pcm_s24le-2.mp4", "S24LE"),
      ("pcm_s24be-6.mp4", "S24BE"), ("pcm_s32le-2.mp4", "S32LE"), ("pcm_f32le-2.mp4", "F32LE"),
      ("pcm_f64be-2.mp4", "F64BE"), ("pcm_f32le-2.mov", "F32LE"), ("pcm_s32le-2.mov", "S32LE"),
    ])
  func plainAudio(name: String, format: String) async throws {
    let script = Repository.url.appending(path: "Tests/Tools/make_audio_movies.py").path
    _ = try Python.lines([script, folder.url.path, name])
    let audio = try await heard(folder.path(name), "mvhevcdemux")
    #expect(audio.caps.first?.string("format") == format)
    if name.contains("-6"), case .bitmask(let mask)? = audio.caps.first?["channel-mask"] {
      #expect(mask == 0x3F)
    }
    let file = try MovieFile(folder.path(name))
    #expect(audio.bytes == file.content(of: try file.audio()))
  }

  /// The caps and all the bytes of a movie's only sound.
  private func heard(_ path: String, _ demuxer: String) async throws -> (caps: Caps, bytes: [UInt8])
  {
    let passed = try await record("filesrc location=\(path) ! \(demuxer) ! fakesink name=sink")[0]
    return (passed.first?.caps ?? .empty, passed.flatMap(\.buffer.bytes))
  }

  // MARK: Writing and reading

  /// A kind of sound: how to make it, and what FFmpeg calls it.
  struct Kind: CustomTestStringConvertible, Sendable {
    let encoder: String
    let codec: String
    var channels = 2
    var isMP4Too = true
    var rate: UInt32 = 48_000

    var testDescription: String { encoder }
  }

  /// GStreamer 1.28's opusparse makes of six channels what FFmpeg does not decode, out of
  /// matroskamux either.
  private static let sixChannelOpus =
    libraryVersion.compare("1.28", options: .numeric) == .orderedAscending
    ? "opusenc ! opusparse" : "opusenc"

  private static let kinds = [
    Kind(encoder: "avenc_aac ! aacparse", codec: "aac"),
    Kind(encoder: "lamemp3enc ! mpegaudioparse", codec: "mp3float"),
    // MP4 does not tell it from layer III.
    Kind(encoder: "avenc_mp2 ! mpegaudioparse", codec: "mp2", isMP4Too: false),
    Kind(encoder: "avenc_ac3 ! ac3parse", codec: "ac3"),
    Kind(encoder: "avenc_ac3 ! ac3parse", codec: "ac3", channels: 6),
    Kind(encoder: "avenc_eac3 ! ac3parse", codec: "eac3"),
    Kind(encoder: "avenc_eac3 ! ac3parse", codec: "eac3", channels: 6),
    Kind(encoder: "opusenc", codec: "opus"),
    Kind(encoder: sixChannelOpus, codec: "opus", channels: 6),
    Kind(encoder: "flacenc ! flacparse", codec: "flac"),
    Kind(encoder: "flacenc ! flacparse", codec: "flac", channels: 6),
    Kind(encoder: "avenc_alac", codec: "alac"),
    Kind(encoder: "audio/x-raw,format=S16LE", codec: "pcm_s16le"),
    Kind(encoder: "audio/x-raw,format=S16LE", codec: "pcm_s16le", channels: 6),
    Kind(encoder: "audio/x-raw,format=S24BE", codec: "pcm_s24be"),
    Kind(encoder: "audio/x-raw,format=F32LE", codec: "pcm_f32le"),
    Kind(encoder: "audio/x-raw,format=F64BE", codec: "pcm_f64be"),
    Kind(encoder: "audio/x-raw,format=S8", codec: "pcm_s8", isMP4Too: false),
    Kind(encoder: "audio/x-raw,format=U8", codec: "pcm_u8", isMP4Too: false),
    Kind(encoder: "alawenc", codec: "pcm_alaw"),
    Kind(encoder: "mulawenc", codec: "pcm_mulaw", channels: 1, isMP4Too: false),
    Kind(encoder: "avenc_adpcm_ima_qt", codec: "adpcm_ima_qt", isMP4Too: false),
    Kind(
      encoder: "audioresample ! audio/x-raw,rate=8000 ! amrnbenc", codec: "amrnb", channels: 1,
      rate: 8000),
    Kind(
      encoder: "audioresample ! audio/x-raw,rate=16000 ! voamrwbenc", codec: "amrwb", channels: 1,
      rate: 16_000),
  ]

  @Test(
    "audio that is multiplexed, demultiplexed and multiplexed again keeps its bytes",
    .tags(.judge),
    Python.hasAVTrait, arguments: kinds)
  func roundTrip(kind: Kind) async throws {
    for container in kind.isMP4Too ? ["mov", "mp4"] : ["mov"] {
      let (first, second) = (folder.path("one.\(container)"), folder.path("two.\(container)"))
      let fed = try await record(
        "audiotestsrc wave=pink-noise num-buffers=30 samplesperbuffer=1600 ! "
          + "audio/x-raw,rate=48000,channels=\(kind.channels) ! audioconvert ! "
          + "\(kind.encoder) ! tee name=t t. ! queue ! fakesink name=sink "
          + "t. ! queue ! mvhevcmux container=\(container) ! filesink location=\(first)")[0]
      // FLAC's headers come as buffers too; the movie has them elsewhere.
      let audio = fed.filter { !$0.buffer.flags.contains(.header) }
      try await play(
        "filesrc location=\(first) ! mvhevcdemux ! mvhevcmux container=\(container) ! "
          + "filesink location=\(second)")
      let (one, two) = (try MovieFile(first), try MovieFile(second))
      let content = one.content(of: try one.audio())
      #expect(content == audio.flatMap(\.buffer.bytes), "\(container)")
      #expect(two.content(of: try two.audio()) == content, "\(container)")
      let entry = try #require(try one.audio().sampleEntries.first)
      let copy = try #require(try two.audio().sampleEntries.first)
      #expect(copy == entry, "\(container)")
      guard case .audio(let entry) = entry else {
        Issue.record("\(entry)")
        continue
      }
      #expect(entry.channelCount == UInt32(kind.channels))
      if kind.codec.hasPrefix("pcm"), kind.channels == 6 { #expect(entry.channelBitmap == 0x3F) }
      #expect(entry.sampleRate == kind.rate)
      let times = (try one.audio().allSamples, try two.audio().allSamples)
      #expect(times.0.map(\.decodeTime) == times.1.map(\.decodeTime), "\(container)")
      let judged = try Python.lines(["-c", Self.judge, second]).last
      #expect(judged == "\(kind.codec) \(kind.rate) \(kind.channels) ok", "\(container)")
    }
  }

  /// What FFmpeg finds: codec, rate and channels, and whether it decodes about a second.
  private static let judge = """
    import sys, av
    with av.open(sys.argv[1]) as movie:
        stream = movie.streams.audio[0]
        count = sum(frame.samples for frame in movie.decode(stream))
        context = stream.codec_context
        state = "ok" if abs(count / context.sample_rate - 1) < 0.09 else str(count)
        print(context.name, context.sample_rate, context.channels, state)
    """

  @Test(
    "the records made from AC-3 and E-AC-3 equal FFmpeg's", .tags(.judge), Python.hasAVTrait)
  func surroundRecords() async throws {
    let names = ["ac3-2.mp4", "ac3-6.mp4", "eac3-2.mp4", "eac3-6.mp4"]
    let script = Repository.url.appending(path: "Tests/Tools/make_audio_movies.py").path
    _ = try Python.lines([script, folder.url.path] + names)
    for name in names {
      let copy = folder.path("copy.mp4")
      // qtdemux does not pass the record on, so that it is made of the first frame.
      try await play(
        "filesrc location=\(folder.path(name)) ! qtdemux ! ac3parse ! mvhevcmux container=mp4 ! "
          + "filesink location=\(copy)")
      let (theirs, ours) = (
        try MovieFile(folder.path(name)).audioCoding(), try MovieFile(copy).audioCoding()
      )
      #expect(ours == theirs, "\(name)")
    }
  }

  @Test(
    "unknown audio is output unchanged with its fourcc, and can be multiplexed again",
    arguments: [MovieContainer.mp4, .quickTime])
  func unknown(container: MovieContainer) async throws {
    var entry = AudioSampleEntry(
      coding: .other("apac"), channelCount: 4, sampleRate: 48_000, framesPerSample: 1024)
    entry.otherBoxes = [
      OpaqueBox("dapa", payload: [1, 2, 3, 4, 5]),
      OpaqueBox("chnl", payload: [0, 0, 0, 0, 1, 13] + Array(repeating: 0, count: 8)),
    ]
    var writer = MovieWriter(container: container)
    let id = try writer.addTrack(TrackDescription(.audio(entry), timescale: 48_000))
    var file = writer.header
    for number in 0..<10 {
      let data = [UInt8](repeating: UInt8(number), count: 100 + number)
      try writer.append(
        SampleDescription(
          size: UInt32(data.count), decodeTime: Int64(number) * 1024, duration: 1024), to: id)
      file += data
    }
    let tail = try writer.finish()
    let start = Int(tail.patch.offset)
    file.replaceSubrange(start..<start + tail.patch.bytes.count, with: tail.patch.bytes)
    let (path, copy) = (folder.path("one.mp4"), folder.path("two.mp4"))
    try Data(file + tail.index).write(to: URL(filePath: path))
    let audio = try await heard(path, "mvhevcdemux")
    #expect(audio.caps.mediaType == "audio/x-gst-fourcc-apac")
    #expect(audio.caps.first?.int("channels") == 4)
    #expect(audio.bytes.count == 1045)
    try await play(
      "filesrc location=\(path) ! mvhevcdemux ! "
        + "mvhevcmux container=\(container == .mp4 ? "mp4" : "mov") ! filesink location=\(copy)")
    let (one, two) = (try MovieFile(path), try MovieFile(copy))
    #expect(try one.audio().sampleEntries == two.audio().sampleEntries)
    #expect(one.content(of: try one.audio()) == two.content(of: try two.audio()))
  }

  @Test("audio with insufficient caps is refused with advice")
  func incomplete() async throws {
    for (caps, advice) in [
      ("audio/x-flac,framed=true", "flacparse"), ("audio/x-ac3,framed=true", "ac3parse"),
      ("audio/x-alac", "codec_data"),
    ] {
      let problem = try await failure(
        of: "fakesrc num-buffers=5 sizetype=fixed sizemax=100 format=time datarate=4800 ! "
          + "\(caps),rate=48000,channels=2 ! mvhevcmux ! filesink location=\(folder.path("x.mov"))")
      #expect(problem.message.contains(advice), "\(problem)")
    }
  }
}

extension MovieFile {
  /// How the first sound of the movie is coded.
  func audioCoding() throws -> AudioCoding {
    guard case .audio(let entry)? = try audio().sampleEntries.first else {
      throw Failure("no audio sample entry")
    }
    return entry.coding
  }
}

extension Python {
  static let hasAVTrait: ConditionTrait = .enabled(
    if: hasAVAndNumPy, "no Python with PyAV; see GST_SPATIAL_PYTHON")
}
