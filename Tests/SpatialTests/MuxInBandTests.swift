// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import HEVC
import ISOBMFF
import TestElements
import TestKit
import Testing

/// `mvhevcmux`: H.265 that has its parameter sets inside.
struct MuxInBandTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  /// The movie that the muxer makes of a stream at its pad `video_0`.
  private func movie(_ name: String, of caps: Caps, _ units: [Buffer]) async throws -> MovieFile {
    let path = folder.path(name)
    let pipeline = try pipeline("mvhevcmux name=m ! filesink location=\(path)")
    let muxer = try #require(pipeline.element(named: "m"))
    let sink = try #require(gst_element_request_pad_simple(muxer.pointer, "video_0"))
    defer { gst_object_unref(UnsafeMutableRawPointer(sink)) }
    let source = Pad(
      adopting: gst_object_ref_sink(gst_pad_new("src", GST_PAD_SRC))!
        .assumingMemoryBound(to: GstPad.self))
    source.setActive(true)
    try #require(
      gst_pad_link_full(source.pointer, sink, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK)
    defer { pipeline.setState(.null) }
    pipeline.setState(.playing)
    Thread.detachNewThread {
      source.push(.streamStart(id: "test"))
      source.push(.caps(caps))
      source.push(.segment(Segment(.time)))
      for unit in units where source.push(unit.with(unit.bytes)) != .ok { break }
      source.push(.endOfStream)
    }
    try await messages(of: pipeline)
    return try MovieFile(path)
  }

  @Test("a byte stream of both layers, and hev1, make the movie that hvc1 makes")
  func layered() async throws {
    let coded = try await CodedStereo.make(frames: 24, options: "key-int-max=8")
    let expected = try await movie("hvc1.mov", of: coded.caps, coded.accessUnits)
    let stream = try coded.byteStream()
    // Delimiters are for byte streams alone.
    let delimited = stream.accessUnits.map {
      $0.with([0, 0, 0, 1, 35 << 1, 1, 0x50] + $0.bytes)
    }
    let records = try coded.parameterSets()
    let inside = coded.accessUnits.map { unit in
      guard !unit.flags.contains(.deltaUnit) else { return unit }
      return unit.with(
        records.flatMap { [0, 0, UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 } + unit.bytes)
    }
    let bare = coded.caps.with(
      ["stream-format": "hev1"], removing: ["codec_data", "layered_codec_data"])
    for (name, caps, units) in [
      ("plain", stream.caps, stream.accessUnits), ("delimited", stream.caps, delimited),
      ("hev1", bare, inside), ("record", coded.caps.with(["stream-format": "hev1"]), inside),
      ("size", stream.caps.with(removing: ["width", "height", "profile", "views"]), delimited),
    ] {
      let made = try await movie("\(name).mov", of: caps, units)
      #expect(
        made.content(of: try made.video()) == expected.content(of: try expected.video()), "\(name)")
      #expect(try made.videoEntry() == expected.videoEntry(), "\(name)")
      #expect(try made.video().presentationTimes == expected.video().presentationTimes)
    }
  }

  @Test(
    "the output of a plain H.265 encoder needs no parser", .tags(.judge),
    Python.hasAVTrait)
  func plain() async throws {
    let path = folder.path("plain.mov")
    try await play(
      "videotestsrc num-buffers=12 ! video/x-raw,width=128,height=64,framerate=30/1 ! "
        + "x265enc speed-preset=ultrafast ! m.video_0 mvhevcmux name=m ! "
        + "filesink location=\(path)")
    let file = try MovieFile(path)
    let entry = try file.videoEntry()
    #expect(entry.codec == "hvc1" && entry.lhvC == nil && entry.extendedUsage == nil)
    #expect(entry.width == 128 && entry.height == 64)
    for unit in try LengthPrefixed.nalUnits(in: file.content(of: file.video()).span.bytes) {
      let type = NALUnitHeader(file.content(of: try file.video()).span.bytes.extracting(unit))?.type
      #expect(type?.isParameterSet == false)
    }
    let counted = try Python.lines([
      "-c", "import av, sys; print(sum(1 for f in av.open(sys.argv[1]).decode(video=0)))", path,
    ])
    #expect(counted.last == "12")
  }

  @Test("a stream that begins without parameter sets, or changes them, is refused with a reason")
  func refused() async throws {
    let coded = try await CodedStereo.make(frames: 12, options: "key-int-max=8")
    let stream = try coded.byteStream()
    await #expect {
      _ = try await movie("late.mov", of: stream.caps, Array(stream.accessUnits.dropFirst()))
    } throws: { error in
      (error as? PipelineFailure)?.message.contains("begin with its parameter sets") == true
    }
    var units = stream.accessUnits
    let last = try #require(units.lastIndex { !$0.flags.contains(.deltaUnit) })
    // Another PPS: the one that is there with a bit changed that no parser minds.
    let sets = try coded.parameterSets()
    var pps = try #require(
      sets.first { NALUnitHeader($0.span.bytes)?.type == .pictureParameterSet })
    pps[pps.count - 1] ^= 0x40
    units[last] = units[last].with([0, 0, 0, 1] + pps + units[last].bytes)
    await #expect {
      _ = try await movie("changed.mov", of: stream.caps, units)
    } throws: { error in
      (error as? PipelineFailure)?.message.contains("changed mid-stream") == true
    }
  }

  @Test(
    "a raw layered H.265 file becomes a movie with its frames in order", .tags(.judge),
    Judge.isThere)
  func elementaryFile() async throws {
    let (movie, stream) = (folder.path("movie.mov"), folder.path("stream.hevc"))
    try await OwnMovie.make(movie, frames: 24)
    let file = try MovieFile(movie)
    let entry = try file.videoEntry()
    let content = file.content(of: try file.video())
    try Data(try file.videoByteStream()).write(to: URL(filePath: stream))
    for between in ["", "queue !"] {
      let copy = folder.path("copy.mov")
      try await play(
        "filesrc location=\(stream) ! \(between) mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
          + "mvhevcmux name=m ! filesink location=\(copy)")
      let made = try MovieFile(copy)
      #expect(made.content(of: try made.video()) == content)
      #expect(try made.videoEntry().hvcC == entry.hvcC)
      #expect(try made.videoEntry().lhvC == entry.lhvC)
      #expect(try made.video().presentationTimes == file.video().presentationTimes)
      #expect(try OwnMovie.judged(copy) == OwnMovie.judged(movie))
      // And each eye has its times.
      for eye in ["left", "right"] {
        let frames = try await DemuxRun.decoded(stream, eye, between: between)
        let times = frames.compactMap(\.time)
        #expect(times.count == 24 && times == times.sorted())
      }
    }
  }
}
