// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import TestKit
import Testing

/// What `FragmentWriter` writes, read by this project's reader and by others.
struct FragmentWriterTests {
  private static let entry = VisualSampleEntry(width: 64, height: 32, hvcC: [1, 2, 3], lhvC: [4])
  private static let video = TrackDescription(.video(entry), timescale: 30_000)
  private static let audio = TrackDescription(
    .audio(
      AudioSampleEntry(
        coding: .aac(audioSpecificConfig: [0x11, 0x90]), channelCount: 2, sampleRate: 48_000)),
    timescale: 48_000)

  /// Pictures with B pictures between them, in decoding order: the first is decoded two frames
  /// before it is shown, as encoders have it.
  private static func picture(_ number: Int, group: Int = 12) -> SampleDescription {
    let offsets: [Int32] = [2, 5, 2, -1, 0, 3, 0]
    let sample = number % group
    return SampleDescription(
      size: UInt32(100 + number % 7), decodeTime: Int64(number - 2) * 1000, duration: 1000,
      compositionOffset: sample == 0 ? 2000 : offsets[sample % 3] * 1000,
      isSync: sample == 0,
      dependency: sample == 0 ? .independent : sample % 3 == 2 ? .disposable : .dependent)
  }

  /// The bytes of a sample, which say whose they are.
  private static func bytes(_ sample: SampleDescription, track: UInt8) -> [UInt8] {
    let count = Int(sample.size) * Int(sample.count)
    return (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ Int(sample.decodeTime)) ^ track }
  }

  /// A file of four groups of pictures, with sound if that goes, and what is in it.
  private struct Written {
    var file: [UInt8] = []
    var fragments: [Fragment] = []
    var samples: [[SampleDescription]] = [[], []]
    var writer: FragmentWriter

    init(
      _ format: FragmentFormat, groups: Int = 4, chunk: Int? = nil, codec: FourCC = "hvc1"
    ) throws {
      writer = FragmentWriter(format: format)
      var description = FragmentWriterTests.video
      if codec != "hvc1" {
        description.sampleEntry = .video(VisualSampleEntry(codec: codec, width: 64, height: 32))
      }
      let video = try writer.addTrack(description)
      let audio = format == .cmaf ? nil : try writer.addTrack(FragmentWriterTests.audio)
      var open: [[UInt8]] = [[], []]
      var audioTime: Int64 = 0
      for number in 0..<groups * 12 {
        let picture = FragmentWriterTests.picture(number)
        try writer.append(picture, to: video)
        samples[0].append(picture)
        open[0] += FragmentWriterTests.bytes(picture, track: 1)
        while let audio, audioTime * 30_000 < Int64(number + 1) * 1000 * 48_000 {
          let packet = SampleDescription(size: 50, decodeTime: audioTime, duration: 1024)
          try writer.append(packet, to: audio)
          samples[1].append(packet)
          open[1] += FragmentWriterTests.bytes(packet, track: 2)
          audioTime += 1024
        }
        let cut = chunk ?? 12
        guard number % cut == cut - 1 else { continue }
        if file.isEmpty { file += try writer.initializationSegment() }
        var options = FragmentOptions()
        options.continuesFragment = number % 12 >= cut
        let fragment = try #require(
          try writer.finishFragment(
            options,
            nextDecodeTimes: [video: FragmentWriterTests.picture(number + 1).decodeTime]))
        #expect(fragment.offset == UInt64(file.count))
        file += fragment.header + open[0] + open[1]
        #expect(writer.position == UInt64(file.count))
        fragments.append(fragment)
        open = [[], []]
      }
    }
  }

  /// What a movie that was read says of a track, on the time line of the movie.
  private func expectSamples(
    _ file: [UInt8], _ index: Int, _ expected: [SampleDescription], shown: Int64 = 0
  ) throws {
    let parsed = try ParsedFile(pulling: file)
    let movie = try #require(parsed.movie)
    let track = movie.tracks[index]
    #expect(movie.issues.isEmpty)
    let start = track.edits.first?.mediaTime ?? 0
    #expect(track.samples.count == expected.count)
    for (sample, old) in zip(track.samples.all, expected) {
      #expect(
        sample.presentationTime - start
          == old.decodeTime + Int64(old.compositionOffset) + shown)
      #expect(sample.isSync == old.isSync)
      let range = Int(sample.offset)..<Int(sample.offset) + Int(sample.size)
      #expect(Array(file[range]) == Self.bytes(old, track: UInt8(index + 1)))
      #expect(sample.duration == old.duration)
    }
    for (sample, next) in zip(track.samples.all, track.samples.all.dropFirst()) {
      #expect(sample.decodeTime + Int64(sample.duration) == next.decodeTime)
    }
  }

  @Test(
    "samples, times and bytes come back, from MP4 and QuickTime", arguments: MovieContainer.allCases
  )
  func movie(container: MovieContainer) throws {
    let written = try Written(.movie(container))
    try expectSamples(written.file, 0, written.samples[0])
    try expectSamples(written.file, 1, written.samples[1])
    let parsed = try ParsedFile(pulling: written.file)
    #expect(parsed.movie?.isFragmented == true)
    #expect(parsed.movie?.duration == 0)
    #expect(parsed.movie?.tracks[0].mediaDuration == 0)
    #expect(parsed.fragments.map(\.sequenceNumber) == [1, 2, 3, 4])
    #expect(parsed.movie?.tracks[0].sampleEntries == [.video(Self.entry)])
    // The file is written with offsets from each moof, so that it may be cut anywhere.
    #expect(parsed.fragments.map(\.offset) == written.fragments.map(\.indexOffset))
  }

  @Test(
    "composition offsets are not negative beside an edit list, which begins at the first picture")
  func editList() throws {
    let written = try Written(.movie(.mp4))
    let parsed = try ParsedFile(pulling: written.file)
    let track = try #require(parsed.movie?.tracks.first)
    #expect(track.edits.map(\.mediaTime) == [2000])
    #expect(track.edits.map(\.duration) == [0])
    #expect(track.samples.all.allSatisfy { $0.presentationTime >= $0.decodeTime })
    #expect(track.samples.sample(at: 0)?.decodeTime == 0)
    // Nothing is to be cut from sound that starts with the movie.
    #expect(parsed.movie?.tracks.last?.edits.isEmpty == true)
    #expect(written.fragments.map { $0.parts[0].decodeTime } == [0, 12_000, 24_000, 36_000])
  }

  @Test("CMAF: fragments begin with their earliest picture, by signed offsets, without edits")
  func cmaf() throws {
    let written = try Written(.cmaf)
    try expectSamples(written.file, 0, written.samples[0])
    let parsed = try ParsedFile(pulling: written.file)
    #expect(parsed.movie?.tracks.first?.edits.isEmpty == true)
    #expect(written.fragments.map { $0.parts[0].decodeTime } == [0, 12_000, 24_000, 36_000])
    for fragment in written.fragments {
      #expect(fragment.parts[0].presentationTime >= Int64(fragment.parts[0].decodeTime) - 1000)
      #expect(fragment.parts[0].duration == 12_000)
      #expect(fragment.parts[0].startsWithSync)
    }
    guard case .video(let entry)? = parsed.movie?.tracks.first?.sampleEntries.first else {
      Issue.record("no video")
      return
    }
    #expect(entry.pixelAspectRatio == PixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 1))
    #expect(parsed.fileType?.majorBrand == "cmf2")
  }

  @Test("the chunks of a fragment have its number, and together its samples")
  func chunks() throws {
    let (whole, chunks) = (try Written(.cmaf), try Written(.cmaf, chunk: 4))
    #expect(chunks.fragments.map(\.sequenceNumber) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    #expect(
      chunks.fragments.map { $0.parts[0].startsWithSync }
        == (0..<12).map { $0 % 3 == 0 })
    let (a, b) = (try ParsedFile(pulling: whole.file), try ParsedFile(pulling: chunks.file))
    let (old, new) = (try #require(a.movie?.tracks.first), try #require(b.movie?.tracks.first))
    #expect(old.samples.all.map(\.presentationTime) == new.samples.all.map(\.presentationTime))
    #expect(old.samples.all.map(\.size) == new.samples.all.map(\.size))
  }

  @Test("runs of equal samples, as PCM has them, take a few bytes")
  func runs() throws {
    var writer = FragmentWriter(format: .movie(.quickTime))
    let track = try writer.addTrack(
      TrackDescription(
        .audio(
          AudioSampleEntry(
            coding: .pcm(PCMFormat(bitsPerSample: 16)), channelCount: 2, sampleRate: 48_000,
            framesPerSample: 1)), timescale: 48_000))
    var file: [UInt8] = []
    for number in 0..<3 {
      for part in 0..<4 {
        var run = SampleDescription(
          size: 4, decodeTime: Int64(number * 4 + part) * 1000, duration: 1)
        run.count = 1000
        try writer.append(run, to: track)
      }
      if number == 0 { file += try writer.initializationSegment() }
      let fragment = try #require(try writer.finishFragment())
      #expect(fragment.header.count < 120)
      #expect(fragment.dataSize == 16_000)
      file += fragment.header + [UInt8](repeating: UInt8(number), count: 16_000)
    }
    let movie = try #require(try ParsedFile(pulling: file).movie)
    #expect(movie.tracks.first?.samples.count == 12_000)
    #expect(movie.tracks.first?.samples.endDecodeTime == 12_000)
    #expect(file[Int(movie.tracks.first?.samples.sample(at: 5000)?.offset ?? 0)] == 1)
  }

  @Test("mfra leads to every fragment that decoding can start at")
  func randomAccess() throws {
    let written = try Written(.movie(.mp4), chunk: 6)
    let file = written.file + written.writer.randomAccessIndex()
    let access = try #require(try ParsedFile(pulling: file).randomAccess)
    let starts = written.fragments.filter { $0.parts[0].startsWithSync }
    #expect(starts.count == 4)
    #expect(
      access.entries.values.first?.map(\.fragmentOffset) == starts.map(\.indexOffset))
    #expect(access.entries.values.first?.map(\.time) == [2000, 14_000, 26_000, 38_000])
    let tail = FragmentRandomAccess.size(fromTail: Array(file.suffix(16)))
    #expect(tail.map(Int.init) == file.count - written.file.count)
  }

  @Test("styp and prft come before moof")
  func segmentType() throws {
    var writer = FragmentWriter(format: .cmaf)
    let track = try writer.addTrack(Self.video)
    try writer.append(Self.picture(0), to: track)
    _ = try writer.initializationSegment()
    var options = FragmentOptions()
    options.startsSegment = true
    options.isLastSegment = true
    options.producerTime = ProducerReferenceTime(
      ntpTime: 0x0102_0304_0506_0708, isCaptureTime: true)
    let fragment = try #require(try writer.finishFragment(options))
    let expected =
      box("styp", Array("msdh".utf8), numbers(0), Array("msdhcmfslmsg".utf8))
      + fullBox(
        "prft", version: 1, flags: 24, numbers(1, 0x0102_0304, 0x0506_0708, 0, 0))
    #expect(fragment.header.starts(with: expected))
    #expect(fragment.indexOffset == fragment.offset + UInt64(expected.count))
  }

  @Test("the bytes of a fragment, field by field")
  func golden() throws {
    var writer = FragmentWriter(format: .movie(.mp4), firstSequenceNumber: 7)
    let track = try writer.addTrack(Self.video)
    for number in 0..<3 { try writer.append(Self.picture(number), to: track) }
    _ = try writer.initializationSegment()
    let fragment = try #require(try writer.finishFragment())
    let trun = fullBox(
      "trun", flags: 0xE01,
      numbers(3, 136, 100, 0x0200_0000, 2000, 101, 0x0101_0000, 5000, 102, 0x0181_0000, 2000))
    let traf = box(
      "traf", fullBox("tfhd", flags: 0x2_0008, numbers(1, 1000)),
      fullBox("tfdt", version: 1, numbers(0, 0)), trun)
    let moof = box("moof", fullBox("mfhd", numbers(7)), traf)
    #expect(moof.count + 8 == 136)
    #expect(fragment.header == moof + numbers(311) + Array("mdat".utf8))
  }

  @Test(
    "an independent reader finds the same pictures at the same times", .tags(.judge),
    .enabled(if: Python.hasAV))
  func independent() throws {
    for format in [FragmentFormat.movie(.mp4), .movie(.quickTime), .cmaf] {
      // A coding that says nothing outside of its pictures.
      let written = try Written(format, codec: "jpeg")
      let lines = try Python.run(
        """
        import av, sys
        with av.open(sys.argv[1]) as movie:
            for p in movie.demux(movie.streams.video[0]):
                if p.size: print(int(p.pts * p.time_base * 30000), p.size)
        """, on: written.file, extension: format == .movie(.quickTime) ? "mov" : "mp4")
      let expected = written.samples[0].map {
        "\($0.decodeTime + Int64($0.compositionOffset)) \($0.size)"
      }
      #expect(lines.split(separator: "\n").map(String.init) == expected, "\(format)")
    }
  }

  // MARK: Errors

  @Test("samples out of order, late tracks and unknown tracks are refused, and change nothing")
  func refused() throws {
    var writer = FragmentWriter(format: .movie(.mp4))
    let track = try writer.addTrack(Self.video)
    try writer.append(Self.picture(1), to: track)
    #expect(throws: MovieWriterError.self) { try writer.append(Self.picture(0), to: track) }
    #expect(throws: MovieWriterError.unknownTrack(TrackID(rawValue: 2))) {
      try writer.append(Self.picture(2), to: TrackID(rawValue: 2))
    }
    #expect(throws: MovieWriterError.mediaTypeChanged(track)) {
      try writer.setSampleEntry(Self.audio.sampleEntry, of: track)
    }
    _ = try writer.initializationSegment()
    #expect(throws: MovieWriterError.trackAddedTooLate) { try writer.addTrack(Self.audio) }
    #expect(try writer.finishFragment()?.parts.map(\.duration) == [1000])
    #expect(try writer.finishFragment() == nil)
    var early = FragmentWriter(format: .cmaf)
    let id = try early.addTrack(Self.video)
    #expect(throws: MovieWriterError.beforeStart(id, time: -1000)) {
      try early.append(
        SampleDescription(size: 1, decodeTime: -3000, duration: 1000, compositionOffset: 2000),
        to: id)
    }
  }

  @Test("a fragment of gigabytes is refused, and can be written in parts")
  func tooLarge() throws {
    var writer = FragmentWriter(format: .movie(.mp4))
    let track = try writer.addTrack(Self.video)
    for number in 0..<4 as Range<Int64> {
      try writer.append(
        SampleDescription(size: 1 << 29, decodeTime: number * 1000, duration: 1000), to: track)
    }
    #expect(throws: MovieWriterError.fragmentTooLarge(1 << 31)) { try writer.finishFragment() }
    // Nothing is lost by that.
    #expect(throws: MovieWriterError.fragmentTooLarge(1 << 31)) { try writer.finishFragment() }
  }

  @Test("a track that comes late begins later; times before the start are kept, too")
  func lateTrack() throws {
    var writer = FragmentWriter(format: .movie(.mp4))
    let video = try writer.addTrack(Self.video)
    let audio = try writer.addTrack(Self.audio)
    var file: [UInt8] = []
    var pictures: [SampleDescription] = []
    for number in 0..<24 {
      let picture = Self.picture(number)
      try writer.append(picture, to: video)
      pictures.append(picture)
      guard number % 12 == 11 else { continue }
      var data = pictures.suffix(12).flatMap { Self.bytes($0, track: 1) }
      if number == 11 {
        file += try writer.initializationSegment()
      } else {
        let packet = SampleDescription(size: 9, decodeTime: 30_000, duration: 1024)
        try writer.append(packet, to: audio)
        data += Self.bytes(packet, track: 2)
      }
      file += try #require(try writer.finishFragment()).header + data
    }
    let movie = try #require(try ParsedFile(pulling: file).movie)
    #expect(movie.tracks[1].samples.count == 1)
    #expect(movie.tracks[1].samples.sample(at: 0)?.presentationTime == 30_000)
    #expect(movie.tracks[1].edits.isEmpty)
    try expectSamples(file, 0, pictures)
  }
}
