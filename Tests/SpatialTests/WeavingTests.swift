// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// `mvhevcmux` with eyes that are coded already, and `mvhevcenc` before it.
struct WeavingTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  /// An eye coded by GStreamer's own encoder element.
  private func eye(
    _ eye: String, _ count: Int = 12, caps: String = "width=320,height=180",
    options: String = "b-adapt=0:scenecut=0:open-gop=0:keyint=6", then: String = ""
  ) -> String {
    "stereotestsrc num-buffers=\(count) ! video/x-raw,format=I420,\(caps),multiview-mode=\(eye) ! "
      + "x265enc speed-preset=ultrafast option-string=\(options) ! h265parse ! \(then) queue ! "
      + "mux.\(eye) "
  }

  private func mux(_ properties: String = "") -> String {
    "mvhevcmux name=mux \(properties) ! filesink location=\(path) "
  }

  @Test(
    "two coded eyes are woven unchanged, in any framing, for either hero eye", .tags(.judge),
    Judge.isThere,
    arguments: [
      ("", Eye.left), ("video/x-h265,stream-format=byte-stream,alignment=au !", .left),
      ("video/x-h265,stream-format=hvc1 !", .right), ("video/x-h265,stream-format=hev1 !", .left),
    ])
  func weave(framing: String, hero: Eye) async throws {
    try await play(
      eye("left", then: framing) + eye("right", then: framing) + mux("hero-eye=\(hero)"))
    let file = try MovieFile(path)
    let video = try file.video()
    #expect(video.samples.count == 12)
    #expect(video.allSamples.filter(\.isSync).count == 2)
    #expect(video.presentationTimes == (0..<12).map { ClockTime(rounding: $0, perSecond: 30) })
    #expect(video.allSamples.allSatisfy { Int($0.duration) == Int(video.timescale) / 30 })
    let entry = try file.videoEntry()
    #expect(entry.hvcC != nil && entry.lhvC != nil)
    try await Judge.expectEyes(
      path, folder, count: 12, width: 320, height: 180, base: hero, above: 25)
  }

  /// What the README tells people to give x265enc, for streams that can be woven.
  private func readmeOptions() throws -> String {
    let page = try DocumentedLines(Repository.url.appending(path: "README.md"))
    let line = try #require(page.commands.first { $0.contains("x265enc") })
    let options = line.matches(of: /option-string=(\S+)/).map { String($0.output.1) }
    #expect(options.count == 2 && Set(options).count == 1)
    return try #require(options.first)
  }

  @Test(
    "with the README's options, a cut in one eye alone does not change the GOP pattern",
    .tags(.long),
    arguments: ["left", "right"].sampled(1))
  func cutInOneEye(cut: String) async throws {
    func eye(_ name: String) throws -> String {
      let caps = "video/x-raw,format=I420,width=320,height=180,framerate=30/1"
      let code =
        "x265enc speed-preset=medium option-string=\(try readmeOptions()) ! h265parse ! queue ! "
        + "mux.\(name) "
      guard name == cut else {
        return "videotestsrc num-buffers=50 pattern=ball ! \(caps) ! \(code)"
      }
      return "concat name=\(name) adjust-base=false ! \(code)"
        + "videotestsrc num-buffers=22 pattern=ball ! \(caps) ! \(name). "
        + "videotestsrc num-buffers=28 timestamp-offset=733333333 pattern=snow ! \(caps) ! "
        + "\(name). "
    }
    try await play(try eye("left") + eye("right") + mux())
    #expect(try MovieFile(path).video().samples.count == 50)
  }

  @Test("B frames keep their order and times when they are woven", .tags(.judge), Judge.isThere)
  func reordering() async throws {
    let options = "b-adapt=0:bframes=3:scenecut=0:open-gop=0:keyint=12"
    try await play(eye("left", 24, options: options) + eye("right", 24, options: options) + mux())
    let video = try MovieFile(path).video()
    #expect(video.samples.count == 24)
    #expect(video.presentationTimes == (0..<24).map { ClockTime(rounding: $0, perSecond: 30) })
    let samples = video.allSamples
    #expect(samples.map(\.presentationTime) != samples.map(\.presentationTime).sorted())
    try await Judge.expectEyes(path, folder, count: 24, width: 320, height: 180, above: 25)
  }

  @Test(
    "streams that cannot be woven are refused with the reason",
    arguments: [
      // The right eye's caps, encoder options and filter, and a word of the message.
      ("width=160,height=180", "b-adapt=0:scenecut=0:open-gop=0:keyint=6", "", "size"),
      (
        "width=320,height=180,format=I420_10LE", "b-adapt=0:scenecut=0:open-gop=0:keyint=6", "",
        "depth"
      ),
      (
        "width=320,height=180", "b-adapt=0:scenecut=0:open-gop=0:keyint=4", "", "do not match"
      ),
      (
        "width=320,height=180", "b-adapt=0:scenecut=0:open-gop=0:keyint=6:bframes=0", "",
        "do not match"
      ),
      (
        "width=320,height=180", "b-adapt=0:scenecut=0:open-gop=0:keyint=6",
        "identity drop-probability=0.4 !", "a picture is missing"
      ),
    ])
  func refusals(caps: String, options: String, filter: String, word: String) async throws {
    let right = eye("right", 30, caps: caps, options: options, then: filter)
      .replacing(caps.contains("format=") ? "format=I420,width" : "\0", with: "width")
    let failure = try await failure(of: eye("left", 30) + right + mux())
    #expect(failure.element == "mux", "\(failure)")
    #expect(failure.message.contains(word), "\(failure)")
  }

  @Test("a raw eye and a coded eye are refused together")
  func mixed() async throws {
    let failure = try await failure(
      of: eye("left") + "stereotestsrc num-buffers=12 ! "
        + "video/x-raw,width=320,height=180,multiview-mode=right ! queue ! mux.right " + mux())
    #expect(failure.message.contains("raw"), "\(failure)")
    #expect(failure.message.contains("coded"))
  }

  @Test("mvhevcenc before mvhevcmux makes the movie that mvhevcmux makes alone")
  func encoderAndMuxer() async throws {
    let settings = "speed-preset=ultrafast quality=20 key-int-max=8 hero-eye=right"
    try await play(eyes(20) + mux(settings))
    let direct = try MovieFile(path)
    try await play(
      eyes(20).replacing("mux.", with: "enc.") + "mvhevcenc name=enc \(settings) ! queue ! "
        + "mux.video_0 " + mux("hero-eye=right"))
    let staged = try MovieFile(path)
    let (a, b) = (try direct.video(), try staged.video())
    #expect(a.timescale == b.timescale)
    #expect(a.samples.count == 20)
    #expect(a.presentationTimes == b.presentationTimes)
    for (one, two) in zip(a.allSamples, b.allSamples) {
      #expect(
        direct.bytes[Int(one.offset)..<Int(one.offset) + Int(one.size)]
          == staged.bytes[Int(two.offset)..<Int(two.offset) + Int(two.size)])
      #expect(one.isSync == two.isSync)
      #expect(one.dependency == two.dependency)
      #expect(one.duration == two.duration)
    }
    let (first, second) = (try direct.videoEntry(), try staged.videoEntry())
    #expect(first == second)
  }

  @Test("mvhevcenc outputs size, rate, profile and both records, with increasing times")
  func encoderCaps() async throws {
    let frames = try await record(
      eyes(12, "format=I420_10LE,width=256,height=64,framerate=25/1").replacing(
        "mux.", with: "enc.")
        + "mvhevcenc name=enc speed-preset=ultrafast ! fakesink name=sink")[0]
    #expect(frames.count == 12)
    let caps = try #require(frames.first?.caps.first)
    #expect(caps.name == "video/x-h265")
    #expect(caps.string("stream-format") == "hvc1")
    #expect(caps.string("alignment") == "au")
    #expect(caps.string("profile") == "multiview-extended-10")
    #expect(caps.int("views") == 2)
    #expect(caps.int("width") == 128)
    #expect(caps.int("height") == 64)
    #expect(caps.fraction("framerate") == Fraction(25, 1))
    #expect(caps.buffer("codec_data")?.size ?? 0 > 23)
    #expect(caps.buffer("layered_codec_data")?.size ?? 0 > 6)
    let decodeTimes = frames.compactMap(\.buffer.dts)
    #expect(decodeTimes.count == 12)
    #expect(decodeTimes == decodeTimes.sorted())
    for frame in frames { #expect(frame.buffer.dts ?? 0 <= frame.buffer.pts ?? 0) }
    #expect(frames.first?.buffer.flags.contains(.deltaUnit) == false)
    #expect(frames.dropFirst().allSatisfy { $0.buffer.flags.contains(.deltaUnit) })
  }

  @Test("a force-key-unit event from downstream makes the next frame a keyframe in both eyes")
  func forceKeyUnit() async throws {
    let pipeline = try pipeline(
      eyes(40, "width=128,height=64").replacing("mux.", with: "enc.")
        + "mvhevcenc name=enc speed-preset=ultrafast tune=zerolatency key-int-max=1000 "
        + "scene-cuts=false ! identity name=i ! fakesink name=sink")
    let pad = try #require(pipeline.element(named: "i")?.staticPad("sink"))
    pad.onEachBuffer { pad, buffer in
      let number = ((buffer.pts ?? 0) + 1_000_000 - 3_600_000 * .second).units(perSecond: 30)
      if number == 10 || number == 20 {
        pad.push(Event(adopting: gst_video_event_new_upstream_force_key_unit(.max, 1, 0)))
      }
      return .passes
    }
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    try await play(pipeline)
    let keys = tap.buffers.indices.filter { !tap.buffers[$0].buffer.flags.contains(.deltaUnit) }
    #expect(keys.count == 3, "\(keys)")
    #expect(keys.first == 0)
    #expect(keys.dropFirst().first.map { (11...16).contains($0) } == true, "\(keys)")
  }

  @Test("a request for a time that already has a keyframe makes no other one, however late it is")
  func lateRequest() async throws {
    let pipeline = try pipeline(
      eyes(40, "width=128,height=64,framerate=30/1").replacing("mux.", with: "enc.")
        + "mvhevcenc name=enc speed-preset=ultrafast tune=zerolatency key-int-max=10 "
        + "scene-cuts=false ! identity name=i ! fakesink name=sink")
    let pad = try #require(pipeline.element(named: "i")?.staticPad("sink"))
    let count = Locked(0)
    pad.onEachBuffer { pad, _ in
      let number = count.withLock {
        $0 += 1
        return $0 - 1
      }
      if number % 10 == 2 {
        pad.push(.forceKeyUnit(at: RunningTime(clamping: ClockTime(number - 2, perSecond: 30))))
      }
      return .passes
    }
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    try await play(pipeline)
    let keys = tap.buffers.indices.filter { !tap.buffers[$0].buffer.flags.contains(.deltaUnit) }
    #expect(keys == [0, 10, 20, 30])
  }

  @Test("a scene cut makes a keyframe, if requested", arguments: [true, false])
  func sceneCut(isWanted: Bool) async throws {
    let scene = "video/x-raw,format=I420,width=320,height=180,framerate=30/1"
    try await play(
      "concat name=c ! sbssplit name=s input-mode-override=side-by-side s.left ! queue ! mux.left "
        + "s.right ! queue ! mux.right "
        + "videotestsrc num-buffers=15 pattern=ball ! \(scene) ! c. "
        + "videotestsrc num-buffers=15 pattern=smpte ! \(scene) ! c. "
        + mux("speed-preset=ultrafast scene-cuts=\(isWanted)"))
    let samples = try MovieFile(path).video().allSamples
    #expect(samples.count == 30)
    #expect(samples.indices.filter { samples[$0].isSync } == (isWanted ? [0, 15] : [0]))
  }

  @Test(
    "frames that one eye lacks are left out, counted and reported, and the eyes never slip",
    arguments: ["left", "right"])
  func missingFrames(eye: String) async throws {
    // Each frame says its number and eye: a slip would pair different numbers.
    let pipeline = try pipeline(
      eyes(30, "width=640,height=180").replacing(
        "s.\(eye) !", with: "s.\(eye) ! identity name=drop !")
        + mux("speed-preset=ultrafast quality=12"))
    let pad = try #require(pipeline.element(named: "drop")?.staticPad("src"))
    pad.onEachBuffer { _, buffer in
      let number = ((buffer.pts ?? 0) + 1_000_000).units(perSecond: 30)
      return [3, 4, 11, 29].contains(number) ? .isDropped : .passes
    }
    let messages = try await play(pipeline)
    #expect(messages.warnings.count >= 1)
    let last = try #require(messages.warnings.last)
    #expect(
      last.contains(
        eye == "left" ? "0 of the left, 4 of the right" : "4 of the left, 0 of the right"))
    let video = try MovieFile(path).video()
    let kept = (0..<30).filter { ![3, 4, 11, 29].contains($0) }
    #expect(video.presentationTimes == kept.map { ClockTime(rounding: $0, perSecond: 30) })
  }

  @Test("coded eyes go on where timestamps are missing, or go back in both")
  func mendedTimes() async throws {
    let pipeline = try pipeline(
      mux().replacing("location=\(path)", with: "name=sink location=\(path)"))
    let mux = try #require(pipeline.element(named: "mux"))
    var coded: [[PassedBuffer]] = []
    for name in ["left", "right"] {
      let line = eye(name, 36, options: "b-adapt=0:scenecut=0:open-gop=0:keyint=6:bframes=2")
      coded += try await record(
        line.replacing("mux.\(name)", with: "fakesink name=sink"), takingReferences: true)
    }
    let sources = try ["left", "right"].map { try TestSource(feeding: mux, $0) }
    pipeline.setState(.playing)
    var segment = Segment()
    segment.start = coded[0][0].buffer.pts ?? 0
    for (source, pictures) in zip(sources, coded) { source.begin(pictures[0].caps, segment) }
    for number in coded[0].indices {
      for (source, pictures) in zip(sources, coded) {
        let buffer = pictures[number].buffer.copied()
        if (13..<16).contains(number) { (buffer.pts, buffer.dts) = (nil, nil) }
        if number >= 24 {
          buffer.pts = buffer.pts.map { $0 - 800 * .millisecond }
          buffer.dts = buffer.dts.map { $0 - 800 * .millisecond }
        }
        source.push(buffer)
      }
    }
    for source in sources { source.end() }
    let warnings = try await messages(of: pipeline).warnings
    pipeline.setState(.null)
    #expect(warnings.contains { $0.contains("Buffers on left had no timestamp") }, "\(warnings)")
    let samples = try MovieFile(path).video().allSamples
    #expect(samples.count == 36)
    #expect(samples.allSatisfy { $0.duration > 0 })
  }

  @Test("an eye that starts later, or ends earlier, costs the frames that it lacks")
  func shorterEye() async throws {
    let caps = "video/x-raw,width=128,height=64,framerate=25/1"
    let messages = try await play(
      "stereotestsrc num-buffers=30 ! \(caps),multiview-mode=left ! queue ! mux.left "
        + "stereotestsrc num-buffers=10 ! \(caps),multiview-mode=right ! "
        + "identity ts-offset=200000000 ! queue ! mux.right " + mux("speed-preset=ultrafast"))
    #expect(messages.warnings.last?.contains("20 of the left, 0 of the right") == true)
    #expect(try MovieFile(path).video().samples.count == 10)
  }
}
