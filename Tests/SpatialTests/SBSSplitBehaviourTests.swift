// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// `sbssplit` at its pads: memory, events, queries, flows.
struct SBSSplitBehaviourTests {
  static let caps = "video/x-raw,format=I420,width=64,height=16,framerate=25/1"
  private let left: Harness
  private let right: Harness

  init() throws {
    try BuiltPlugin.require()
    left = try #require(Harness("sbssplit", sourcePad: "left"))
    right = try #require(Harness(sharing: left, sourcePad: "right"))
    left.element.set("input-mode-override", "side-by-side")
  }

  private func frame(at pts: ClockTime = 0) -> Buffer {
    let frame = Buffer((0..<64 * 16 * 3 / 2).map { UInt8(truncatingIfNeeded: $0) })
    frame.pts = pts
    frame.duration = 40_000_000
    return frame
  }

  @Test("if the peers accept GstVideoMeta, both eyes are the packed frame's own memory")
  func references() throws {
    for harness in [left, right] { harness.proposeVideoMeta() }
    left.play()
    left.setSourceCaps(Self.caps)
    let packed = frame()
    let memory = gst_buffer_peek_memory(packed.pointer, 0)
    #expect(left.push(packed) == .ok)
    for (harness, offset) in [(left, 0), (right, 32)] {
      let eye = try #require(harness.pull())
      #expect(gst_buffer_n_memory(eye.pointer) == 1)
      #expect(gst_buffer_peek_memory(eye.pointer, 0) == memory)
      let layout = try #require(eye.videoLayout)
      #expect(layout.width == 32)
      #expect(layout.height == 16)
      #expect(layout.strides == [64, 32, 32])
      #expect(layout.offsets == [offset, 1024 + offset / 2, 1280 + offset / 2])
    }
  }

  @Test("if a peer does not accept GstVideoMeta, only its eye is a copy, tightly packed")
  func copies() throws {
    left.proposeVideoMeta()
    left.play()
    left.setSourceCaps(Self.caps)
    let packed = frame()
    #expect(left.push(packed) == .ok)
    let reference = try #require(left.pull())
    let copy = try #require(right.pull())
    let memory = gst_buffer_peek_memory(packed.pointer, 0)
    #expect(gst_buffer_peek_memory(reference.pointer, 0) == memory)
    #expect(gst_buffer_peek_memory(copy.pointer, 0) != memory)
    #expect(copy.videoLayout == nil)
    #expect(copy.size == 32 * 16 * 3 / 2)
    #expect(copy.isWritable)
  }

  @Test(
    "frame by frame, a peer without GstVideoMeta gets frames with the layout of their caps",
    arguments: [true, false])
  func frameByFrame(takesReferences: Bool) throws {
    if takesReferences { for harness in [left, right] { harness.proposeVideoMeta() } }
    left.element.setState(.null)
    left.element.set("input-mode-override", "none")
    left.play()
    left.setSourceCaps("video/x-raw,format=GRAY8,width=8,height=2,multiview-mode=frame-by-frame")
    for (harness, seed) in [(left, 1), (right, 2)] as [(Harness, UInt8)] {
      let row = [UInt8](repeating: seed, count: 8)
      let padding = [UInt8](repeating: 0xEE, count: 5)
      let frame = Buffer(padding + row + padding + row)
      frame.pts = 0
      frame.setVideoLayout(
        VideoLayout(width: 8, height: 2, offsets: [5], strides: [13]),
        format: VideoFormat(name: "GRAY8"))
      #expect(left.push(frame) == .ok)
      let eye = try #require(harness.pull())
      if takesReferences {
        #expect(eye.videoLayout?.strides == [13])
      } else {
        #expect(eye.bytes == row + row)
        #expect(eye.videoLayout == nil)
      }
      // Less than it says.
      let short = Buffer(padding + row + padding)
      short.setVideoLayout(
        VideoLayout(width: 8, height: 2, offsets: [5], strides: [13]),
        format: VideoFormat(name: "GRAY8"))
      if seed == 2 { #expect(left.push(short) == .error) }
    }
  }

  @Test("an eye's copy belongs to its receiver, who can change it in place")
  func ownership() throws {
    left.play()
    left.setSourceCaps(Self.caps)
    #expect(left.push(frame()) == .ok)
    for harness in [left, right] { #expect(try #require(harness.pull()).isWritable) }
  }

  @Test("times, flags and metas pass; metas of the picture's place do not")
  func header() throws {
    left.proposeVideoMeta()
    left.play()
    left.setSourceCaps(Self.caps)
    let packed = frame(at: 120_000_000)
    packed.dts = 80_000_000
    packed.flags = [.discont, .multipleView]
    let mark = CustomMeta("GstSpatialTestMark")
    mark.register()
    mark.set(["number": 7], on: packed)
    gst_buffer_add_video_region_of_interest_meta(packed.pointer, "face", 1, 2, 3, 4)
    #expect(left.push(packed) == .ok)
    for harness in [left, right] {
      let eye = try #require(harness.pull())
      #expect(eye.pts == 120_000_000)
      #expect(eye.dts == 80_000_000)
      #expect(eye.duration == 40_000_000)
      #expect(eye.flags.contains(.discont))
      #expect(!eye.flags.contains(.multipleView))
      #expect(mark.fields(of: eye)?.int("number") == 7)
      let region = gst_video_region_of_interest_meta_api_get_type()
      #expect(gst_buffer_get_meta(eye.pointer, region) == nil)
    }
  }

  @Test("a buffer that is too small for its caps is an error, not a critical")
  func shortBuffer() throws {
    left.play()
    left.setSourceCaps(Self.caps)
    #expect(left.push(Buffer([1, 2, 3])) == .error)
    #expect(left.push(frame()) == .error)
  }

  @Test(
    "a frame that is smaller than its caps or its meta is an error, as reference and as copy",
    arguments: ["GRAY8", "RGB", "I420", "NV12", "I420_10LE"], [true, false])
  func cutOff(format: String, takesReferences: Bool) throws {
    if takesReferences { for harness in [left, right] { harness.proposeVideoMeta() } }
    let caps = "video/x-raw,format=\(format),width=64,height=16,framerate=25/1"
    let info = try #require(Caps(parsing: caps).flatMap { VideoInfo($0) })
    // Within the last plane, at its last byte, and before it.
    for size in [info.size - 1, info.size * 9 / 10, info.size / 2, 1] {
      for isDescribed in [true, false] {
        left.play()
        left.setSourceCaps(caps)
        let packed = Buffer([UInt8](repeating: 7, count: size))
        if isDescribed { packed.setVideoLayout(VideoLayout(info), format: info.format) }
        #expect(left.push(packed) == .error, "\(size) of \(info.size) bytes")
        for harness in [left, right] { #expect(harness.tryPull() == nil) }
        left.element.setState(.null)
      }
    }
    left.play()
    left.setSourceCaps(caps)
    #expect(left.push(Buffer([UInt8](repeating: 7, count: info.size))) == .ok)
  }

  @Test("a frame in several memories is split, too", arguments: [true, false])
  func severalMemories(takesReferences: Bool) throws {
    if takesReferences { for harness in [left, right] { harness.proposeVideoMeta() } }
    left.play()
    left.setSourceCaps(Self.caps)
    let whole = frame()
    let packed = Buffer(Array(whole.bytes.prefix(500)))
    packed.append(Array(whole.bytes.dropFirst(500)))
    #expect(packed.memoryCount == 2)
    #expect(left.push(packed) == .ok)
    #expect(left.push(whole) == .ok)
    let eye = Caps(parsing: "video/x-raw,format=I420,width=32,height=16")
    let info = try #require(eye.flatMap { VideoInfo($0) })
    for harness in [left, right] {
      let (first, second) = (try #require(harness.pull()), try #require(harness.pull()))
      var rows: [[UInt8]] = []
      for buffer in [first, second] {
        let frame = try VideoFrame(buffer, info)
        rows.append(
          (0..<16).flatMap { row -> [UInt8] in
            guard let plane = frame.plane(0) else { return [] }
            return Array(
              UnsafeRawBufferPointer(start: plane + row * frame.stride(0), count: 32))
          })
      }
      #expect(rows[0] == rows[1])
      #expect(rows[0].count == 512)
    }
  }

  @Test("a flush that re-enters in the pushing thread neither traps nor stops the stream")
  func flushFromDownstream() throws {
    left.play()
    left.setSourceCaps(Self.caps)
    let sink = try #require(left.element.staticPad("sink"))
    let source = try #require(left.element.staticPad("left"))
    gst_pad_add_probe(
      source.pointer, GST_PAD_PROBE_TYPE_BUFFER,
      { _, _, data in
        guard let sink = data?.assumingMemoryBound(to: GstPad.self) else {
          return GST_PAD_PROBE_REMOVE
        }
        gst_pad_send_event(sink, gst_event_new_flush_start())
        gst_pad_send_event(sink, gst_event_new_flush_stop(1))
        return GST_PAD_PROBE_REMOVE
      }, UnsafeMutableRawPointer(sink.pointer), nil)
    _ = left.push(frame())
    for harness in [left, right] { while harness.tryPull() != nil {} }
    left.push(.segment(Segment()))
    #expect(left.push(frame()) == .ok)
    for harness in [left, right] { #expect(harness.pull() != nil) }
  }

  @Test("a meta with offsets outside the memory is an error, not a trap")
  func lyingMeta() throws {
    left.play()
    left.setSourceCaps(Self.caps)
    let packed = frame()
    packed.setVideoLayout(
      VideoLayout(width: 64, height: 16, offsets: [.max, .max, .max], strides: [64, 32, 32]),
      format: VideoFormat(name: "I420"))
    #expect(left.push(packed) == .error)
  }

  @Test("a meta with too few planes is an error")
  func planesMissing() throws {
    left.proposeVideoMeta()
    left.play()
    left.setSourceCaps(Self.caps)
    let packed = frame()
    packed.setVideoLayout(
      VideoLayout(width: 64, height: 16, offsets: [0], strides: [64]),
      format: VideoFormat(name: "I420")
    )
    #expect(left.push(packed) == .error)
  }

  @Test("data before caps is refused")
  func noCaps() throws {
    left.play()
    left.push(.streamStart(id: "test"))
    left.push(.segment(Segment()))
    #expect(left.push(frame()) != .ok)
  }

  @Test("caps may change mid-stream, and each eye's follow")
  func capsChange() throws {
    left.play()
    for width in [64, 128, 32] {
      left.setSourceCaps("video/x-raw,format=GRAY8,width=\(width),height=4,framerate=25/1")
      #expect(left.push(Buffer([UInt8](repeating: 9, count: width * 4))) == .ok)
      for harness in [left, right] {
        #expect(try #require(harness.pull()).size == width * 2)
        #expect(harness.sourceCaps?.first?.int("width") == width / 2)
      }
    }
  }

  @Test("stream-start, segment, tags and EOS reach both eyes, with streams of their own")
  func events() throws {
    left.play()
    left.setSourceCaps(Self.caps)
    let tags = TagList()
    tags.set(GST_TAG_TITLE, "Boats")
    left.push(.tags(tags))
    left.push(.endOfStream)
    var streams: Set<String> = []
    for harness in [left, right] {
      var types: [String] = []
      while let event = harness.tryPullEvent() {
        types.append(event.name)
        if event.type == GST_EVENT_STREAM_START {
          var id: UnsafePointer<CChar>?
          gst_event_parse_stream_start(event.pointer, &id)
          streams.insert(id.map { String(cString: $0) } ?? "")
        }
        if event.type == GST_EVENT_TAG { #expect(event.tags?.string(GST_TAG_TITLE) == "Boats") }
      }
      #expect(types == ["stream-start", "caps", "segment", "tag", "eos"])
    }
    #expect(streams.count == 2)
  }

  @Test("after a flush, frames flow again")
  func flush() throws {
    left.play()
    left.setSourceCaps(Self.caps)
    #expect(left.push(frame()) == .ok)
    left.push(Event(adopting: gst_event_new_flush_start()))
    left.push(Event(adopting: gst_event_new_flush_stop(1)))
    left.push(.segment(Segment()))
    #expect(left.push(frame()) == .ok)
    for harness in [left, right] { #expect(harness.pull() != nil) }
  }

  @Test("upstream events of either eye reach the source")
  func upstreamEvents() throws {
    left.play()
    left.setSourceCaps(Self.caps)
    for harness in [left, right] {
      let event = Event(
        adopting: gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 0, 0))
      harness.pushUpstream(event)
    }
    var count = 0
    while let event = left.tryPullUpstreamEvent() {
      if event.type == GST_EVENT_QOS { count += 1 }
    }
    #expect(count == 2)
  }

  @Test("a CAPS query at the sink returns frames with two of the eyes that the peers accept")
  func capsQuery() throws {
    left.setSinkCaps("video/x-raw,format=NV12,width=100,height=50")
    right.setSinkCaps("video/x-raw,format={NV12,I420},width=[50,200],height=50")
    left.play()
    let sink = try #require(left.element.staticPad("sink"))
    let caps = Caps(adopting: gst_pad_query_caps(sink.pointer, nil))
    func takes(_ text: String) throws -> Bool {
      try #require(Caps(parsing: "video/x-raw," + text)).canIntersect(caps)
    }
    #expect(try takes("format=NV12,width=200,height=50"))
    #expect(try takes("format=NV12,width=100,height=100"))
    #expect(try takes("format=NV12,width=100,height=50"))
    #expect(try !takes("format=I420,width=200,height=50"))
    #expect(try !takes("format=NV12,width=300,height=50"))
  }

  @Test("if a peer accepts only GPU memory, there are no caps")
  func capsFeatures() throws {
    left.setSinkCaps("video/x-raw(memory:GLMemory),format=RGBA")
    left.play()
    let sink = try #require(left.element.staticPad("sink"))
    #expect(Caps(adopting: gst_pad_query_caps(sink.pointer, nil)).isEmpty)
  }

  @Test("raw video in system memory is accepted, other video is not")
  func acceptCaps() throws {
    left.play()
    let sink = try #require(left.element.staticPad("sink"))
    for (text, accepted) in [
      (Self.caps, true), ("video/x-h264", false),
      ("video/x-raw(memory:GLMemory),format=RGBA,width=64,height=16", false),
    ] {
      let caps = try #require(Caps(parsing: text))
      #expect((gst_pad_query_accept_caps(sink.pointer, caps.pointer) != 0) == accepted)
    }
  }

  @Test("with one eye unlinked the other flows; with none the source gets not-linked")
  func unlinked() async throws {
    let source = "stereotestsrc num-buffers=3 ! video/x-raw,width=64,height=32 ! sbssplit name=s"
    for eye in ["left", "right"] {
      let frames = try await record("\(source) s.\(eye) ! fakesink name=sink")[0]
      #expect(frames.count == 3)
    }
    let failure = try await failure(of: source)
    #expect(failure.debug.contains("not-linked"))
  }

  @Test(
    "unsplittable video is refused with a reason",
    arguments: [
      ("width=65,height=16,format=I420", "side-by-side", "odd width 65"),
      ("width=64,height=17,format=I420", "top-bottom", "odd height 17"),
      ("width=64,height=16,format=I420", "checkerboard", "checkerboard"),
      ("width=64,height=16,format=I420", "row-interleaved", "row-interleaved"),
      ("width=74,height=16,format=YUY2", "side-by-side", "YUY2"),
      ("width=96,height=16,format=v210", "side-by-side", "v210"),
      ("width=64,height=16,format=I420,interlace-mode=interleaved", "top-bottom", "deinterlace"),
    ])
  func refusals(caps: String, mode: String, word: String) async throws {
    let failure = try await failure(
      of: "videotestsrc num-buffers=1 ! video/x-raw,\(caps) ! "
        + "sbssplit name=s input-mode-override=\(mode) s.left ! fakesink")
    #expect(failure.message.contains(word), "\(failure)")
  }

  @Test("an eye becomes a reference when its new peer accepts GstVideoMeta, mid-stream")
  func renegotiation() throws {
    left.play()
    left.setSourceCaps(Self.caps)
    #expect(left.push(frame()) == .ok)
    #expect(try #require(left.pull()).videoLayout == nil)
    left.proposeVideoMeta()
    left.pushUpstream(Event(adopting: gst_event_new_reconfigure()))
    let packed = frame()
    #expect(left.push(packed) == .ok)
    let eye = try #require(left.pull())
    #expect(gst_buffer_peek_memory(eye.pointer, 0) == gst_buffer_peek_memory(packed.pointer, 0))
  }

  @Test("an eye that is linked in mid stream gets its caps and flows")
  func lateLink() async throws {
    let pipeline = try pipeline(
      "stereotestsrc ! video/x-raw,width=64,height=16,framerate=100/1 ! "
        + "sbssplit name=s s.left ! fakesink name=left async=false "
        + "queue name=q ! fakesink name=right async=false")
    let left = try Tap(pipeline.element(named: "left")?.staticPad("sink"))
    let right = try Tap(pipeline.element(named: "right")?.staticPad("sink"))
    pipeline.setState(.playing)
    try await left.waitForBuffers(5)
    let source = try #require(pipeline.element(named: "s")?.staticPad("right"))
    let sink = try #require(pipeline.element(named: "q")?.staticPad("sink"))
    #expect(gst_pad_link(source.pointer, sink.pointer) == GST_PAD_LINK_OK)
    try await right.waitForBuffers(5)
    pipeline.send(.endOfStream)
    try await messages(of: pipeline)
    pipeline.setState(.null)
    #expect(left.buffers.count > right.buffers.count)
    #expect(right.buffers.first?.caps.first?.string("multiview-mode") == "right")
  }

  @Test("no frame is copied on the way through references", .tags(.process))
  func performance() throws {
    let eye = "videoconvert ! video/x-raw,format=RGB ! fakesink async=false"
    let line =
      "gst-launch-1.0 -q stereotestsrc num-buffers=5 ! video/x-raw,format=I420 ! sbssplit name=s "
      + "s.left ! \(eye) s.right ! \(eye)"
    let ended = try Program.run(
      line.split(separator: " ").map(String.init),
      environment: ["GST_DEBUG": "GST_PERFORMANCE:7,sbssplit:4", "GST_DEBUG_NO_COLOR": "1"])
    #expect(ended.status == 0)
    #expect(ended.output.contains("left: references"))
    #expect(ended.output.contains("right: references"))
    #expect(!ended.output.contains("memcpy"))
  }
}
