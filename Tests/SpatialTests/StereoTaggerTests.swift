// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import Testing

/// `stereotagger`: what it says of a stream, and that it does nothing else.
struct StereoTaggerTests {
  static let raw = "video/x-raw,format=GRAY8,width=4,height=4,framerate=25/1"
  static let coded =
    "video/x-h265,stream-format=byte-stream,alignment=au,width=64,height=64,framerate=25/1"
  private let harness: Harness

  init() throws {
    try BuiltPlugin.require()
    harness = try #require(Harness("stereotagger"))
  }

  private func frame() -> Buffer {
    let frame = Buffer([UInt8](repeating: 3, count: 16))
    frame.pts = 40_000_000
    return frame
  }

  private func sentTags() -> [TagList] {
    var tags: [TagList] = []
    while let event = harness.tryPullEvent() { if let list = event.tags { tags.append(list) } }
    return tags
  }

  @Test("the eye goes into caps and buffers, raw or coded", arguments: [raw, coded])
  func eye(caps: String) throws {
    harness.element.set("eye", "right")
    harness.element.set("view-id", "1")
    harness.element.set("layer-id", "0")
    harness.play()
    harness.setSourceCaps(caps)
    let pushed = frame()
    let memory = gst_buffer_peek_memory(pushed.pointer, 0)
    #expect(harness.push(pushed) == .ok)
    let pulled = try #require(harness.pull())
    #expect(gst_buffer_peek_memory(pulled.pointer, 0) == memory)
    #expect(pulled.pts == 40_000_000)
    let fields = try #require(CustomMeta("GstStereoViewMeta").fields(of: pulled))
    #expect(fields.string("eye") == "right")
    #expect(fields.int("view-id") == 1)
    #expect(fields.int("layer-id") == 0)
    let expected = try #require(Caps(parsing: caps + ",multiview-mode=right"))
    #expect(harness.sourceCaps?.isEqual(to: expected) == true)
  }

  @Test("the eye replaces the one in the caps")
  func eyeReplaces() throws {
    harness.element.set("eye", "left")
    harness.play()
    harness.setSourceCaps(
      Self.raw
        + ",multiview-mode=mono,multiview-flags=(GstVideoMultiviewFlagsSet)1:ffffffff")
    #expect(harness.push(frame()) == .ok)
    let caps = try #require(harness.sourceCaps?.first)
    #expect(caps.string("multiview-mode") == "left")
    #expect(!caps.has("multiview-flags"))
  }

  @Test("with nothing set, buffers and caps pass unchanged, without messages")
  func passthrough() throws {
    harness.play()
    harness.setSourceCaps(Self.raw)
    let pushed = frame()
    #expect(harness.push(pushed) == .ok)
    #expect(try #require(harness.pull()).pointer == pushed.pointer)
    #expect(harness.sourceCaps?.isEqual(to: try #require(Caps(parsing: Self.raw))) == true)
    #expect(sentTags().isEmpty)
  }

  @Test("values that are set become stream tags, before the first buffer, once")
  func tags() throws {
    for (property, value) in [
      ("hero-eye", "right"), ("horizontal-field-of-view", "71.5"), ("baseline", "19.24"),
      ("disparity-adjustment", "-0.02"), ("projection", "half-equirectangular"),
    ] { harness.element.set(property, value) }
    harness.play()
    harness.setSourceCaps(Self.raw)
    for _ in 0..<3 { #expect(harness.push(frame()) == .ok) }
    let lists = sentTags()
    #expect(lists.count == 1)
    let tags = try #require(lists.first)
    #expect(!tags.isGlobal)
    #expect(tags.string("stereo-hero-eye") == "right")
    #expect(tags.double("stereo-horizontal-field-of-view") == 71.5)
    #expect(tags.double("stereo-baseline") == 19.24)
    #expect(tags.double("stereo-disparity-adjustment") == -0.02)
    #expect(tags.string("stereo-projection") == "half-equirectangular")
  }

  @Test("unset values are not written; a disparity adjustment of 0 is, if it is set")
  func unset() throws {
    harness.element.set("disparity-adjustment", "0")
    harness.play()
    harness.setSourceCaps(Self.raw)
    let tags = try #require(sentTags().first)
    #expect(tags.double("stereo-disparity-adjustment") == 0)
    for tag in ["hero-eye", "horizontal-field-of-view", "baseline", "projection"] {
      #expect(tags["stereo-" + tag] == nil)
    }
  }

  @Test("the element's tags join those from upstream, and win")
  func merging() throws {
    harness.element.set("baseline", "65")
    harness.play()
    harness.setSourceCaps(Self.raw)
    _ = sentTags()
    let upstream = TagList()
    upstream.set(GST_TAG_TITLE, "Boats")
    upstream.set("stereo-baseline", .double(10))
    upstream.set("stereo-hero-eye", "left")
    harness.push(.tags(upstream))
    let global = TagList()
    global.isGlobal = true
    global.set(GST_TAG_ARTIST, "Somebody")
    harness.push(.tags(global))
    let lists = sentTags()
    #expect(lists.first?.string(GST_TAG_TITLE) == "Boats")
    #expect(lists.first?.double("stereo-baseline") == 65)
    #expect(lists.first?.string("stereo-hero-eye") == "left")
    #expect(lists.last?.isGlobal == true)
    #expect(lists.last?["stereo-baseline"] == nil)
  }

  @Test(
    "an orientation replaces that from upstream",
    arguments: ["rotate-0", "rotate-90", "flip-rotate-0", "flip-rotate-270"])
  func orientation(tag: String) throws {
    harness.element.set("orientation", tag)
    harness.play()
    harness.setSourceCaps(Self.raw)
    #expect(sentTags().first?.string("image-orientation") == tag)
    let upstream = TagList()
    upstream.set("image-orientation", "rotate-180")
    harness.push(.tags(upstream))
    #expect(sentTags().first?.string("image-orientation") == tag)
  }

  @Test("each stream that follows another gets the tags")
  func nextStream() throws {
    harness.element.set("baseline", "65")
    harness.play()
    harness.setSourceCaps(Self.raw)
    harness.push(.streamStart(id: "second"))
    harness.push(.caps(try #require(Caps(parsing: Self.raw))))
    harness.push(.segment(Segment()))
    #expect(sentTags().count == 2)
  }

  @Test(
    "a value outside its range is ignored",
    arguments: [
      ("horizontal-field-of-view", "361"), ("horizontal-field-of-view", "-1"),
      ("horizontal-field-of-view", "nan"), ("baseline", "-1"), ("baseline", "nan"),
      ("baseline", "inf"), ("disparity-adjustment", "1.5"), ("disparity-adjustment", "nan"),
      ("view-id", "70000"), ("layer-id", "64"),
    ])
  func ranges(property: String, value: String) throws {
    harness.element.offer(property, value)
    harness.play()
    harness.setSourceCaps(Self.raw)
    #expect(harness.push(frame()) == .ok)
    for tags in sentTags() {
      for (tag, range) in [
        ("horizontal-field-of-view", 0.0...360), ("baseline", 0...100_000),
        ("disparity-adjustment", -1...1),
      ] {
        if let number = tags.double("stereo-" + tag) { #expect(range.contains(number)) }
      }
    }
    if let buffer = harness.tryPull(),
      let fields = CustomMeta("GstStereoViewMeta").fields(of: buffer)
    {
      #expect((fields.int("view-id") ?? 0) <= 65535)
      #expect((fields.int("layer-id") ?? 0) <= 63)
    }
  }

  @Test("an ALLOCATION query gets downstream's answer")
  func allocation() throws {
    harness.element.set("eye", "left")
    harness.proposeVideoMeta()
    harness.play()
    harness.setSourceCaps(Self.raw)
    let sink = try #require(harness.element.staticPad("sink"))
    let query = Query.allocation(try #require(Caps(parsing: Self.raw)), needsPool: false)
    #expect(gst_pad_query(sink.pointer, query.pointer) != 0)
    let acceptsVideoMeta = query.acceptsVideoMeta
    #expect(acceptsVideoMeta)
  }

  @Test("tags and view metas pass a decoder's and a converter's pipeline")
  func throughPipeline() async throws {
    let pipeline = try pipeline(
      "stereotestsrc num-buffers=2 ! video/x-raw,multiview-mode=left,width=64,height=64 ! "
        + "stereotagger eye=left baseline=63.5 ! videoconvert ! video/x-raw,format=NV12 ! queue ! "
        + "fakesink name=sink")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    try await play(pipeline)
    #expect(
      tap.buffers.allSatisfy {
        CustomMeta("GstStereoViewMeta").fields(of: $0.buffer)?.string("eye") == "left"
      })
    let baselines = tap.events.compactMap { $0.tags?.double("stereo-baseline") }
    #expect(baselines == [63.5])
  }
}
