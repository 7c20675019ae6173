// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import HEVC
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// What arrives at `mvhevcmux` beside frames: gaps, late pads, tags, coded video as it is.
struct MuxInputTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func mux(_ properties: String = "") -> String {
    "mvhevcmux name=mux \(properties) ! filesink location=\(path) "
  }

  /// Puts GAP events in the place of frames of these numbers, at 30 frames a second.
  private func putGaps(at numbers: Set<UInt64>, _ pad: Pad) {
    pad.putGaps { numbers.contains(($0 + 1_000_000).units(perSecond: 30)) }
  }

  @Test("a GAP event in both eyes is no frame, and none is missing", arguments: ["mux", "enc"])
  func gaps(element: String) async throws {
    let encoder =
      element == "mux" ? "" : "mvhevcenc name=enc speed-preset=ultrafast ! queue ! mux.video_0 "
    let pipeline = try pipeline(
      eyes(10, "width=128,height=64").replacing("mux.", with: "\(element).") + encoder
        + mux("speed-preset=ultrafast"))
    let split = try #require(pipeline.element(named: "s"))
    for eye in ["left", "right"] { putGaps(at: [0, 4, 9], try #require(split.staticPad(eye))) }
    let messages = try await play(pipeline)
    #expect(messages.warnings.isEmpty)
    #expect(try MovieFile(path).video().samples.count == 7)
  }

  @Test("a GAP event in one eye is a missing frame of that eye")
  func oneGap() async throws {
    let pipeline = try pipeline(eyes(10, "width=128,height=64") + mux("speed-preset=ultrafast"))
    let pad = try #require(pipeline.element(named: "s")?.staticPad("left"))
    putGaps(at: [4], pad)
    let messages = try await play(pipeline)
    #expect(messages.warnings.last?.contains("0 of the left, 1 of the right") == true)
    #expect(try MovieFile(path).video().samples.count == 9)
  }

  @Test("audio that starts after a long silence does not delay the pictures", arguments: [1, 60])
  func lateAudio(factor: Int) async throws {
    // What waits in the queues lasts for less than the silence.
    let (frames, start) = (30 * factor, factor * 700_000_000)
    let movie = folder.path("late.mov")
    try await play(
      eyes(frames, "width=64,height=64")
        + "audiotestsrc num-buffers=10 timestamp-offset=\(start) ! "
        + "audio/x-raw,format=S16LE,rate=44100 ! mux.audio_0 "
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(movie)")
    try await play(
      "filesrc location=\(movie) ! mvhevcdemux name=d d.video_0 ! queue ! mux.video_0 "
        + "d.audio_0 ! queue ! mux.audio_0 " + mux())
    let file = try MovieFile(path)
    #expect(try file.video().samples.count == frames)
    #expect(try file.audio().samples.count == 10240)
    let silence = try #require(try file.audio().edits.first)
    #expect(silence.mediaTime == nil)
    #expect(Double(silence.duration) / Double(file.movie.timescale) == 0.7 * Double(factor))
  }

  @Test("a stream that ends before its caps is left out, with a warning")
  func emptyAudio() async throws {
    let messages = try await play(
      eyes(10, "width=128,height=64")
        + "audiotestsrc num-buffers=0 ! avenc_aac ! aacparse ! mux.audio_0 " + mux())
    #expect(messages.warnings.contains { $0.contains("audio_0 ended before") })
    let file = try MovieFile(path)
    #expect(try file.video().samples.count == 10)
    #expect(file.tracks("soun").isEmpty)
  }

  @Test("no pad can be requested after the first frame, and the movie continues")
  func latePad() async throws {
    let live = try LiveRun(
      "mvhevcmux name=x speed-preset=ultrafast tune=zerolatency ! "
        + "filesink async=false location=\(path)")
    let tap = try Tap(live.element.staticPad("src"))
    try live.start()
    live.push(0..<10)
    try await tap.waitForBuffers(1)
    let mux = live.element
    let templates = ["audio_%u", "video_%u"]
    #expect(templates.allSatisfy { mux.requestPad($0) == nil })
    live.push(10..<20)
    _ = try await live.finish()
    #expect(try MovieFile(path).video().samples.count == 20)
    // Another movie of the same element may have other pads.
    #expect(mux.requestPad("audio_%u") != nil)
  }

  @Test(
    "data without a time segment is refused with advice",
    arguments: ["mux", "enc", "pack"])
  func bytes(element: String) async throws {
    let frames =
      "fakesrc num-buffers=5 sizetype=fixed sizemax=6144 format=bytes ! "
      + "video/x-raw,format=I420,width=64,height=64,framerate=30/1 "
    let elements = [
      "mux": mux(), "enc": "mvhevcenc name=enc ! fakesink ",
      "pack": "stereopack name=pack ! fakesink ",
    ]
    let problem = try await failure(
      of: frames + "! queue ! \(element).left " + frames + "! queue ! \(element).right "
        + (elements[element] ?? ""))
    #expect(problem.message.contains("is in bytes, not in time"), "\(problem)")
  }

  /// The error that a movie ends with whose sound is buffers of no content.
  ///
  /// - Parameter audio: how large they are, and their caps.
  private func refusal(ofAudio audio: String) async throws -> PipelineFailure {
    try await failure(
      of: eyes(10, "width=128,height=64") + mux("speed-preset=ultrafast")
        + "fakesrc num-buffers=5 sizetype=fixed format=time \(audio) ! mux.audio_0")
  }

  @Test("PCM that is no whole number of frames is an error")
  func unevenPCM() async throws {
    let problem = try await refusal(
      ofAudio: "sizemax=1001 datarate=176400 ! "
        + "audio/x-raw,format=S16LE,layout=interleaved,rate=44100,channels=2")
    #expect(problem.message.contains("1001 bytes"), "\(problem)")
  }

  @Test("AAC without codec_data is refused with advice")
  func unparsedAAC() async throws {
    let problem = try await refusal(
      ofAudio: "sizemax=100 datarate=4800 ! "
        + "audio/mpeg,mpegversion=4,stream-format=raw,framed=true,rate=44100,channels=2")
    #expect(problem.message.contains("aacparse"), "\(problem)")
  }

  @Test("tags that an application sets on the muxer are in the file")
  func tagSetter() async throws {
    let pipeline = try pipeline(eyes(2, "width=128,height=64") + mux("speed-preset=ultrafast"))
    let element = try #require(pipeline.element(named: "mux"))
    let tags = TagList()
    tags.set(GST_TAG_TITLE, "Set by hand")
    tags.set("stereo-baseline", .double(12.5))
    gst_tag_setter_merge_tags(
      OpaquePointer(element.pointer), tags.pointer, GST_TAG_MERGE_REPLACE)
    try await play(pipeline)
    let file = try MovieFile(path)
    #expect(file.movie.metadata.contains { $0.value.string == "Set by hand" })
    #expect(try file.videoEntry().spatialMetadata.baseline?.millimetres == 12.5)
  }

  @Test(
    "packed coded video is written unchanged, and the file has its packing",
    arguments: [
      ("side-by-side", 0), ("side-by-side", 1), ("top-bottom", 0), ("side-by-side", 0x4001),
    ])
  func packedVideo(mode: String, flags: Int) async throws {
    let bits = String(flags, radix: 16)
    try await play(
      "stereotestsrc num-buffers=10 ! video/x-raw,width=128,height=64 ! "
        + "x265enc speed-preset=ultrafast ! h265parse ! video/x-h265,stream-format=hvc1 ! "
        + "capssetter caps=\"video/x-h265,multiview-mode=\(mode),"
        + "multiview-flags=(GstVideoMultiviewFlagsSet)\(bits):ffffffff\" ! mux.video_0 " + mux())
    let file = try MovieFile(path)
    #expect(try file.video().samples.count == 10)
    let packing = try #require(try file.videoEntry().packing)
    #expect(packing.arrangement == (mode == "top-bottom" ? .topBottom : .sideBySide))
    #expect(packing.rightViewFirst == (flags & 1 != 0))
    #expect(try file.videoEntry().lhvC == nil)
  }

  @Test("plain coded video is not called stereo")
  func plainVideo() async throws {
    try await play(
      "videotestsrc num-buffers=10 ! video/x-raw,width=128,height=64 ! "
        + "x265enc speed-preset=ultrafast ! h265parse ! video/x-h265,stream-format=hvc1 ! "
        + "mux.video_0 " + mux())
    #expect(try MovieFile(path).videoEntryBoxes().contains("vexu") == false)
  }

  @Test(
    "records and vexu have the structure of AVFoundation's, field by field",
    .enabled(if: MuxInputTests.foreignFile != nil, "the folder ../shared/media is absent"))
  func structure() async throws {
    let theirs = try MovieFile(try #require(Self.foreignFile)).videoEntry()
    try await play(
      "stereotestsrc num-buffers=4 ! video/x-raw,width=640,height=180 ! sbssplit name=s "
        + "s.left ! queue ! mux.left s.right ! queue ! mux.right "
        + mux(
          "speed-preset=ultrafast inter-view-prediction=none horizontal-field-of-view=64 "
            + "baseline=19.24 disparity-adjustment=0.02"))
    let ours = try MovieFile(path).videoEntry()
    #expect(ours.extendedUsage == theirs.extendedUsage)
    #expect(ours.horizontalFieldOfView == theirs.horizontalFieldOfView)
    let (ourBase, theirBase) = try (
      HEVCDecoderConfigurationRecord(bytes: #require(ours.hvcC)),
      HEVCDecoderConfigurationRecord(bytes: #require(theirs.hvcC))
    )
    #expect(ourBase.chromaFormatIDC == theirBase.chromaFormatIDC)
    #expect(ourBase.bitDepthLuma == theirBase.bitDepthLuma)
    #expect(ourBase.lengthSize == theirBase.lengthSize)
    #expect(ourBase.temporalLayerCount == theirBase.temporalLayerCount)
    #expect(ourBase.arrays.map(\.type) == theirBase.arrays.map(\.type))
    let (ourTop, theirTop) = try (
      LHEVCDecoderConfigurationRecord(bytes: #require(ours.lhvC)),
      LHEVCDecoderConfigurationRecord(bytes: #require(theirs.lhvC))
    )
    #expect(ourTop.lengthSize == theirTop.lengthSize)
    #expect(ourTop.temporalLayerCount == theirTop.temporalLayerCount)
    #expect(ourTop.arrays.map(\.type) == theirTop.arrays.map(\.type))
    // nuh_layer_id of each NAL unit.
    func layers(_ units: [[UInt8]]) -> [Int] { units.map { Int($0[0] & 1) << 5 | Int($0[1] >> 3) } }
    #expect(layers(ourBase.nalUnits) == layers(theirBase.nalUnits))
    #expect(layers(ourTop.nalUnits) == layers(theirTop.nalUnits))
  }

  private static let foreignFile: String? = {
    let path = Repository.url.deletingLastPathComponent()
      .appending(path: "shared/media/water-1934x2160-right-base.mov").path
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }()

  @Test("a movie of live sources ends well when the pipeline is told to", .tags(.realTime))
  func live() async throws {
    let pipeline = try pipeline(
      "stereotestsrc is-live=true ! video/x-raw,width=128,height=64 ! sbssplit name=s "
        + "s.left ! queue ! mux.left s.right ! queue ! mux.right "
        + "audiotestsrc is-live=true ! audio/x-raw,channels=1,rate=44100 ! queue ! mux.audio_0 "
        + mux("speed-preset=ultrafast tune=zerolatency"))
    let taps = try ["left", "audio_0"].map {
      try Tap(pipeline.element(named: "mux")?.staticPad($0))
    }
    pipeline.setState(.playing)
    for tap in taps { try await tap.waitForBuffers(5) }
    try await finish(pipeline)
    let file = try MovieFile(path)
    #expect(try file.video().samples.count > 0)
    #expect(try file.audio().samples.count > 0)
  }
}
