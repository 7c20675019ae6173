// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import TestElements
import TestKit
import Testing

/// What goes wrong is one clear error, in bounded time.
struct ErrorTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func mux(_ properties: String = "", to sink: String? = nil) -> String {
    "mvhevcmux name=mux speed-preset=ultrafast \(properties) ! "
      + (sink ?? "filesink location=\(path)") + " "
  }

  private func enc(_ description: String) -> String {
    description.replacing("mux.", with: "enc.") + "mvhevcenc name=enc speed-preset=ultrafast "
  }

  @Test("an end before the first frame says that there is nothing to write")
  func empty() async throws {
    let audio = "audiotestsrc num-buffers=0 ! mux.audio_0 "
    for description in [
      eyes(0) + mux(), eyes(0) + audio + mux(), audio + mux(), enc(eyes(0)) + "! fakesink",
    ] {
      let failure = try await failure(of: description)
      #expect(["mux", "enc"].contains(failure.element), "\(failure)")
      #expect(failure.message.contains("ended before"), "\(failure)")
    }
  }

  @Test(
    "a stream without a picture is not taken for one that was decoded",
    arguments: ["h264 mvcdec", "h264 mvcflatten", "h264 mvcautodec", "h265 mvhevcdec"])
  func noPicture(decoder: String) async throws {
    let (coding, element) = (decoder.prefix(4), decoder.dropFirst(5))
    let profile = coding == "h264" ? "stereo-high" : "multiview-main"
    let random = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 >> 3) }
    let delimiter: [UInt8] = coding == "h264" ? [0, 0, 0, 1, 9, 16] : [0, 0, 0, 1, 70, 1, 80]
    for (bytes, said) in [
      ([], "first byte"), (random, "no picture"), (delimiter + delimiter, "no picture"),
    ] as [([UInt8], String)] {
      let file = folder.path("stream")
      try Data(bytes).write(to: URL(filePath: file))
      let failure = try await failure(
        of:
          "filesrc location=\(file) blocksize=1000 ! "
          + "video/x-\(coding),stream-format=byte-stream,profile=\(profile) ! "
          + "\(element) ! fakesink")
      #expect(failure.message.contains(said), "\(failure)")
    }
  }

  @Test("if one eye has no frame at all, there is an error, not a movie of one eye")
  func oneEyeEmpty() async throws {
    let caps = "video/x-raw,width=128,height=64,framerate=25/1"
    for (left, right) in [(0, 5), (5, 0)] {
      let failure = try await failure(
        of: "stereotestsrc num-buffers=\(left) ! \(caps),multiview-mode=left ! queue ! mux.left "
          + "stereotestsrc num-buffers=\(right) ! \(caps),multiview-mode=right ! queue ! mux.right "
          + mux())
      #expect(failure.element == "mux", "\(failure)")
      #expect(failure.message.contains("ended before"), "\(failure)")
    }
  }

  @Test("an eye without frames is an error even with audio")
  func oneEyeEmptyWithAudio() async throws {
    let caps = "video/x-raw,width=128,height=64,framerate=25/1"
    let pipeline = try pipeline(
      "stereotestsrc num-buffers=5 ! \(caps),multiview-mode=left ! queue ! mux.left "
        + "stereotestsrc num-buffers=5 ! \(caps),multiview-mode=right ! "
        + "valve drop=true drop-mode=transform-to-gap ! queue ! mux.right "
        + "audiotestsrc num-buffers=5 ! mux.audio_0 " + mux())
    let failure = try await failure(of: pipeline)
    #expect(failure.message.contains("first pair of frames"), "\(failure)")
  }

  @Test("only one eye linked is an error that names the other", arguments: ["left", "right"])
  func oneEye(eye: String) async throws {
    let failure = try await failure(
      of: "stereotestsrc num-buffers=5 ! video/x-raw,multiview-mode=\(eye),width=64,height=64 ! "
        + "mux.\(eye) " + mux())
    #expect(failure.message.contains("link the pad \(eye == "left" ? "right" : "left")"))
  }

  @Test(
    "pictures that the muxer does not take are answered with the element that converts them",
    arguments: ["RGB", "BGRx", "Y42B", "GRAY8"], ["mux", "enc"])
  func otherFormat(format: String, element: String) async throws {
    let line =
      "videotestsrc num-buffers=5 ! video/x-raw,format=\(format),width=128,height=64 ! "
      + "sbssplit name=s input-mode-override=side-by-side s.left ! queue ! mux.left "
      + "s.right ! queue ! mux.right "
    let whole = element == "mux" ? line + mux() : enc(line) + "! fakesink"
    var warnings = ""
    await #expect(throws: (any Error).self) {
      try await pipeline(whole).run {
        if case .warning(let warning) = $0.content { warnings += warning.message }
      }
    }
    #expect(
      warnings.contains("take pictures in \(format); put videoconvert before sbssplit"),
      "\(warnings)")
  }

  /// A packed stream whose caps change after ten frames.
  private func changing(_ second: String) -> String {
    "concat name=c ! sbssplit name=s input-mode-override=side-by-side s.left ! queue ! mux.left "
      + "s.right ! queue ! mux.right "
      + "videotestsrc num-buffers=10 ! "
      + "video/x-raw,format=I420,width=256,height=64,framerate=30/1 ! c. "
      + "videotestsrc num-buffers=10 ! video/x-raw,\(second) ! c. "
  }

  @Test(
    "caps that change mid-stream are an error, and the file is complete up to there",
    arguments: [
      "format=I420,width=320,height=64,framerate=30/1",
      "format=I420_10LE,width=256,height=64,framerate=30/1",
    ])
  func capsChange(second: String) async throws {
    let failure = try await failure(
      of: changing(second) + mux("option-string=rc-lookahead=15:bframes=3"))
    #expect(failure.message.contains("changed mid-stream"), "\(failure)")
    #expect(try MovieFile(path).video().samples.count == 10)
  }

  @Test("a rate that changes mid-stream is no error: times have it")
  func rateChange() async throws {
    try await play(changing("format=I420,width=256,height=64,framerate=15/1") + mux())
    #expect(try MovieFile(path).video().samples.count == 20)
  }

  @Test("audio whose caps change mid-stream is an error, and the file is complete up to there")
  func audioCapsChange() async throws {
    let pipeline = try pipeline(
      eyes(60, "width=128,height=64") + mux()
        + "concat name=a ! mux.audio_0 "
        + "audiotestsrc num-buffers=10 ! audio/x-raw,format=S16LE,rate=44100,channels=1 ! a. "
        + "audiotestsrc num-buffers=10 ! audio/x-raw,format=S16LE,rate=48000,channels=2 ! a. ")
    let tap = try Tap(pipeline.element(named: "mux")?.staticPad("src"))
    let failure = try await failure(of: pipeline)
    #expect(failure.message.contains("audio_0 changed"), "\(failure)")
    // Else filesink could lose it: it may be stopped while it writes what it has kept back.
    #expect(tap.buffers.last?.buffer.flags.contains(.syncAfter) == true)
    #expect(try MovieFile(path).audio().samples.count == 10 * 1024)
  }

  @Test("a full disk is an error, not a hang", arguments: ["fakesrc", "large"])
  func fullDisk(kind: String) async throws {
    let large = "format=I420,width=1280,height=360"
    let source = kind == "large" ? eyes(300, large) : eyes(5)
    let failure = try await failure(
      of: source + mux("quality=1", to: "filesink location=/dev/full"))
    #expect(["filesink", "mux"].contains { failure.element.hasPrefix($0) }, "\(failure)")
  }

  @Test(
    "a small file system that fills up is an error, not a hang", .tags(.process),
    .enabled(if: SmallDisk.isAllowed, "only root may mount one"))
  func smallFileSystem() async throws {
    let disk = try SmallDisk(kibibytes: 256, at: folder.path("small"))
    let failure = try await failure(
      of: eyes(300) + mux("quality=1", to: "filesink location=\(disk.path)/movie.mov"))
    #expect(failure.message.lowercased().contains("space"), "\(failure)")
  }

  @Test("a sink that cannot be seeked in is refused by a message that says so")
  func notSeekable() async throws {
    for sink in ["fdsink fd=PIPE", "fakesink"] {
      var pipe: [Int32] = [0, 0]
      #expect(Glibc.pipe(&pipe) == 0)
      defer { for end in pipe { close(end) } }
      let failure = try await failure(
        of: eyes(5) + mux(to: sink.replacing("PIPE", with: "\(pipe[1])")))
      #expect(failure.element == "mux", "\(failure)")
      #expect(failure.message.contains("needs a seekable sink"), "\(failure)")
    }
  }

  @Test("an element that fails upstream ends the pipeline", arguments: ["left", "right"])
  func upstreamError(eye: String) async throws {
    let failure = try await failure(
      of: eyes(100).replacing("s.\(eye) !", with: "s.\(eye) ! identity name=i error-after=7 !")
        + mux())
    #expect(failure.element == "i", "\(failure)")
  }

  @Test(
    "formats that cannot be encoded do not link, or are refused",
    arguments: ["RGB", "Y444", "GRAY8", "I420_12LE"])
  func formats(format: String) async throws {
    await #expect(throws: (any Error).self) {
      try await play(
        "videotestsrc num-buffers=2 ! video/x-raw,format=\(format),width=128,height=64 ! "
          + "tee name=t t. ! queue ! mux.left t. ! queue ! mux.right " + mux())
    }
  }

  @Test("an unknown x265 option, a bad value and a forbidden option are named")
  func options() async throws {
    for (option, word) in [
      ("nonsense=1", "nonsense"), ("crf=many", "crf"), ("ctu=7", "ctu"), ("=", "option"),
    ] {
      for description in [
        eyes(3) + mux("option-string=\(option)"),
        enc(eyes(3)) + "option-string=\(option) ! fakesink",
      ] {
        let failure = try await failure(of: description)
        #expect(failure.message.lowercased().contains(word), "\(option): \(failure)")
      }
    }
  }

  @Test(
    "numbers at the ends of their ranges neither trap nor hang",
    arguments: [
      "quality=0", "quality=51", "bitrate=1", "bitrate=1600000", "bitrate=1600000 max-bitrate=1",
      "bitrate=1000 vbv-buffer-size=160000000", "key-int-max=1", "key-int-max=1000000",
      "dependent-eye-quality-offset=24", "dependent-eye-quality-offset=-24", "baseline=100000",
      "horizontal-field-of-view=360", "disparity-adjustment=-1",
    ])
  func extremes(properties: String) async throws {
    do {
      try await play(eyes(4, "width=128,height=64") + mux(properties))
      #expect(try MovieFile(path).video().samples.count == 4)
    } catch let failure as PipelineFailure {
      #expect(failure.element == "mux", "\(failure)")
    }
  }

  @Test(
    "caps and times at the ends of their ranges neither trap nor hang",
    arguments: [
      ("", "framerate=2147483647/1"), ("", "framerate=1/2147483647"), ("", "framerate=0/1"),
      ("", "pixel-aspect-ratio=2147483647/1"), ("", "pixel-aspect-ratio=1/2147483647"),
      ("timestamp-offset=9223372036854775000", "framerate=30/1"),
    ])
  func extremeCaps(source: String, caps: String) async throws {
    do {
      try await play(
        "videotestsrc num-buffers=3 \(source) ! "
          + "video/x-raw,format=I420,width=64,height=64,\(caps) ! "
          + "tee name=t t. ! queue ! mux.left t. ! queue ! mux.right " + mux())
      // Without a rate, videotestsrc gives one frame; at more than one a nanosecond, all have one
      // time, and the first is kept. At the end of time, there is none for the third.
      let isOne = ["framerate=0/1", "framerate=2147483647/1"].contains(caps)
      let count = isOne ? 1 : source.isEmpty ? 3 : 2
      #expect(try MovieFile(path).video().samples.count == count)
    } catch let failure as PipelineFailure {
      #expect(failure.element == "mux", "\(failure)")
    }
  }

  @Test(
    "small and odd pictures work or are refused by a message",
    arguments: ["16x16", "8x8", "1x1", "17x16", "16x17", "31x33", "130x66", "16384x8", "8x16384"])
  func sizes(size: String) async throws {
    let parts = size.split(separator: "x")
    let caps = "video/x-raw,format=I420,width=\(parts[0]),height=\(parts[1]),framerate=25/1"
    do {
      try await play(
        "videotestsrc num-buffers=3 ! \(caps) ! tee name=t t. ! queue ! mux.left "
          + "t. ! queue ! mux.right " + mux())
      let file = try MovieFile(path)
      #expect(try file.video().samples.count == 3)
      // The last column or row of odd pictures is left out.
      #expect(try file.videoEntry().width == UInt16(parts[0]).map { $0 & ~1 })
      #expect(try file.videoEntry().height == UInt16(parts[1]).map { $0 & ~1 })
    } catch let failure as PipelineFailure {
      #expect(failure.element == "mux", "\(failure)")
      #expect(!failure.message.isEmpty)
      #expect(size != "16x16" && size != "130x66", "\(failure)")
    }
  }

  @Test("eyes of different sizes, formats or media types are refused, naming both")
  func differentEyes() async throws {
    let left =
      "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=64 ! queue ! "
      + "mux.left "
    for (right, word) in [
      ("format=I420,width=64,height=32", "64x32"), ("format=I420_10LE,width=64,height=64", "10LE"),
    ] {
      let failure = try await failure(
        of: left + "videotestsrc num-buffers=3 ! video/x-raw,\(right) ! queue ! mux.right " + mux())
      #expect(failure.message.contains("differ"), "\(failure)")
      #expect(failure.message.contains(word), "\(failure)")
    }
  }

  @Test("interlaced video is refused")
  func interlaced() async throws {
    let failure = try await failure(
      of: "videotestsrc num-buffers=3 ! "
        + "video/x-raw,format=I420,width=64,height=64,interlace-mode=interleaved ! tee name=t "
        + "t. ! queue ! mux.left t. ! queue ! mux.right " + mux())
    #expect(failure.message.contains("deinterlace"), "\(failure)")
  }

  @Test("coded bytes that are no H.265 are an error", arguments: ["byte-stream", "hvc1"])
  func damaged(framing: String) async throws {
    let record = framing == "hvc1" ? ",codec_data=(buffer)0102030405" : ""
    let caps = "video/x-h265,stream-format=\(framing),alignment=au\(record),width=64,height=64"
    let source =
      "fakesrc num-buffers=5 sizetype=fixed sizemax=300 filltype=random datarate=3000 "
      + "format=time ! \(caps) ! queue ! "
    let failure = try await failure(of: source + "mux.left " + source + "mux.right " + mux())
    #expect(failure.element == "mux", "\(failure)")
    let words = framing == "hvc1" ? ["codec_data"] : ["H.265", "woven"]
    #expect(words.contains { failure.message.contains($0) }, "\(failure)")
  }

  @Test("a pad can be requested once; numbered pads get free numbers")
  func pads() throws {
    try BuiltPlugin.require()
    let mux = try Element("mvhevcmux")
    #expect(mux.requestPad("left") != nil)
    #expect(mux.requestPad("audio_%u")?.name == "audio_0")
    #expect(mux.requestPad("audio_7")?.name == "audio_7")
    #expect(mux.requestPad("audio_%u")?.name == "audio_1")
    #expect(mux.requestPad("video_%u")?.name == "video_0")
    #expect(mux.requestPad("centre") == nil)
    let template = gst_element_get_pad_template(mux.pointer, "left")
    // Without a name, the second request is that for the other eye.
    let other = gst_element_request_pad(mux.pointer, template, nil, nil)
    #expect(other != nil && mux.staticPad("right") != nil)
    if let other { gst_object_unref(other) }
    #expect(gst_element_request_pad(mux.pointer, template, nil, nil) == nil)
  }
}
