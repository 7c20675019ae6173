// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import HEVC
import ISOBMFF
import StereoVideo
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
    try await push(
      units, caps, to: "video_0", of: pipeline("mvhevcmux name=m ! filesink location=\(path)"))
    return try MovieFile(path)
  }

  /// Plays a stream into a pad of the element that is named `m`.
  private func push(
    _ units: [Buffer], _ caps: Caps, to pad: String, of pipeline: Pipeline
  ) async throws {
    let element = try #require(pipeline.element(named: "m"))
    let sink = try #require(
      gst_element_get_static_pad(element.pointer, pad)
        ?? gst_element_request_pad_simple(element.pointer, pad))
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
  }

  /// Each access unit as `h265parse` of GStreamer 1.28 gives it: in a buffer for each layer, of
  /// which the second has no presentation time.
  private func split(_ units: [Buffer], _ framing: NALUnitFraming) throws -> [Buffer] {
    try units.flatMap { buffer in
      let bytes = buffer.bytes
      let second = try #require(
        framing.nalUnits(in: bytes.span.bytes).first { range in
          let header = NALUnitHeader(bytes[range].span.bytes)
          return header.map { $0.type.isSliceSegment && $0.layerID == 1 } ?? false
        })
      let cut = second.lowerBound - 4
      let (base, dependent) = (buffer.with(Array(bytes[..<cut])), Buffer(Array(bytes[cut...])))
      dependent.dts = buffer.dts
      dependent.duration = buffer.duration
      dependent.flags.insert(.deltaUnit)
      return [base, dependent]
    }
  }

  /// Without presentation times, the parser counts each buffer as a picture, of 40 ms here.
  private func untimed(_ buffers: [Buffer]) -> [Buffer] {
    let duration = 40 * ClockTime.millisecond
    return buffers.enumerated().map { index, buffer in
      let copy = buffer.copied()
      (copy.pts, copy.dts, copy.duration) = (nil, duration * index, duration)
      return copy
    }
  }

  @Test("the layers of a picture that a parser has put into two buffers are one again")
  func splitLayers() async throws {
    let coded = try await CodedStereo.make(frames: 24, options: "key-int-max=8")
    let stream = try coded.byteStream()
    let halves = try split(stream.accessUnits, .annexB)
    // Some pictures have one eye alone.
    let some = halves.enumerated().filter { ![11, 13, 47].contains($0.offset) }.map(\.element)
    let expected = try await movie("whole.mov", of: stream.caps, stream.accessUnits)
    let track = try expected.video()
    for (name, caps, units) in [
      ("stream", stream.caps, halves),
      ("hvc1", coded.caps, try split(coded.accessUnits, coded.framing)),
      ("some", stream.caps, some),
    ] {
      let made = try await movie("\(name).mov", of: caps, units)
      #expect(try made.video().presentationTimes == track.presentationTimes, "\(name)")
      let isWhole = try made.content(of: made.video()) == expected.content(of: track)
      #expect(isWhole == (name != "some"), "\(name)")
    }

    await #expect {
      _ = try await movie("untimed.mov", of: stream.caps, untimed(halves))
    } throws: { error in
      (error as? PipelineFailure)?.message.contains("have no presentation timestamps") == true
    }
    let inOrder = try await CodedStereo.make(frames: 12, x265: ":bframes=0").byteStream()
    let counted = untimed(try split(inOrder.accessUnits, .annexB))
    let made = try await movie("order.mov", of: inOrder.caps, counted)
    #expect(try made.video().presentationTimes.suffix(1) == [440 * .millisecond])
  }

  @Test("the decoder and the packager put the layers of a picture together, too")
  func splitLayersElsewhere() async throws {
    let stream = try await CodedStereo.make(frames: 24, options: "key-int-max=8").byteStream()
    let halves = try split(stream.accessUnits, .annexB)
    var frames: [[[UInt8]]] = []
    var files: [[[UInt8]]] = []
    for units in [stream.accessUnits, halves] {
      let decoding = try pipeline(
        "mvhevcdec name=m m.left ! fakesink name=l async=false "
          + "m.right ! fakesink name=r async=false")
      let taps = try ["l", "r"].map { try Tap(decoding.element(named: $0)?.staticPad("sink")) }
      try await push(units, stream.caps, to: "sink", of: decoding)
      frames.append(taps.flatMap { $0.buffers.map(\.buffer.bytes) })
      let place = try TemporaryFolder()
      try await push(
        units, stream.caps, to: "video_0",
        of: pipeline(
          "mvhevchlssink name=m location=\(place.path("%s-%05d.m4s")) "
            + "init-location=\(place.path("%s-%05d.mp4")) "
            + "playlist-location=\(place.path("%s.m3u8")) "
            + "multivariant-playlist-location=\(place.path("main.m3u8"))"))
      files.append(
        try FileManager.default.contentsOfDirectory(atPath: place.url.path).sorted()
          .filter { !$0.hasSuffix("m3u8") }
          .map { Array(try Data(contentsOf: URL(filePath: place.path($0)))) })
    }
    #expect(frames[0].count == 48 && frames[1] == frames[0])
    #expect(files[0].count > 2 && files[1] == files[0])
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

  @Test("a file of H.265 alone gets its times from mvhevcdemux; a parser's are refused")
  func untimedFile() async throws {
    let (stream, path) = (folder.path("stream.h265"), folder.path("movie.mov"))
    let source = "videotestsrc num-buffers=12 ! video/x-raw,width=128,height=64,framerate=25/1"
    try await play(
      "\(source) ! x265enc option-string=b-adapt=0:bframes=3 ! filesink location=\(stream)")
    try await play(
      "filesrc location=\(stream) ! mvhevcdemux ! mvhevcmux ! filesink location=\(path)")
    let file = try MovieFile(path)
    let track = try file.video()
    let coded = track.allSamples.map(\.presentationTime)
    #expect(coded != coded.sorted())
    #expect(track.presentationTimes == (0..<12).map { 40 * .millisecond * $0 })
    await #expect {
      try await play(
        "filesrc location=\(stream) ! h265parse ! mvhevcmux ! filesink location=\(path)")
    } throws: { error in
      (error as? PipelineFailure)?.message.contains("read it with mvhevcdemux") == true
    }
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
