import ISOBMFF
import Testing

/// A file of fragments that becomes an ordinary movie at its end.
@Suite struct FinalisedMovieTests {
  private static let entry = VisualSampleEntry(width: 64, height: 32, hvcC: [1, 2, 3])

  /// Three fragments of four pictures, the bytes of each being its number.
  private struct Recording {
    var whole: MovieWriter
    var fragments: FragmentWriter
    var file: [UInt8] = []
    let track: TrackID

    init(_ container: MovieContainer) throws {
      whole = MovieWriter(finalising: container)
      fragments = FragmentWriter(format: .movie(container), position: whole.position)
      let description = TrackDescription(.video(FinalisedMovieTests.entry), timescale: 30)
      track = try whole.addTrack(description)
      #expect(try fragments.addTrack(description) == track)
      file = whole.header
      for number in 0..<3 {
        let pictures = (0..<4).map { index in
          SampleDescription(
            size: 10, decodeTime: Int64(number * 4 + index) - 1, duration: 1,
            compositionOffset: 1, isSync: index == 0)
        }
        for picture in pictures { try fragments.append(picture, to: track) }
        if number == 0 {
          let segment = try fragments.initializationSegment(hasFileType: false)
          whole.skip(UInt64(segment.count))
          file += segment
        }
        let fragment = try #require(try fragments.finishFragment())
        whole.skip(UInt64(fragment.header.count))
        file += fragment.header
        for (index, picture) in pictures.enumerated() {
          #expect(whole.position == UInt64(file.count))
          try whole.append(picture, to: track)
          file += [UInt8](repeating: UInt8(number * 4 + index), count: 10)
        }
      }
    }
  }

  private func expectPictures(_ file: [UInt8], _ count: Int) throws {
    let track = try #require(try ParsedFile(pulling: file).movie?.tracks.first)
    #expect(track.samples.count == count)
    let start = track.edits.first?.mediaTime ?? 0
    for (index, sample) in track.samples.all.enumerated() {
      #expect(sample.presentationTime - start == Int64(index))
      #expect(sample.isSync == (index % 4 == 0))
      #expect(file[Int(sample.offset)] == UInt8(index))
    }
  }

  @Test(
    "the file plays while it grows, before the patch, and finished",
    arguments: MovieContainer.allCases)
  func states(container: MovieContainer) throws {
    let recording = try Recording(container)
    try expectPictures(recording.file, 12)
    #expect(try ParsedFile(pulling: recording.file).fragments.count == 3)
    let tail = try recording.whole.finish()
    #expect(tail.offset == UInt64(recording.file.count))
    var file = recording.file + tail.index
    // A crash between the two last writes: the fragments are still there.
    try expectPictures(file, 12)
    let start = Int(tail.patch.offset)
    file.replaceSubrange(start..<start + tail.patch.bytes.count, with: tail.patch.bytes)
    try expectPictures(file, 12)
    let parsed = try ParsedFile(pulling: file)
    #expect(parsed.fragments.isEmpty)
    #expect(parsed.movie?.isFragmented == false)
    #expect(parsed.otherBoxes == [container == .quickTime ? "wide" : "free"])
    #expect(parsed.mediaData.count == 1)
    #expect(parsed.mediaData.first?.upperBound == tail.offset)
  }

  @Test("what is cut off within a fragment has those before", arguments: [0, 1, 2])
  func torn(fragment: Int) throws {
    let recording = try Recording(.mp4)
    let starts = try ParsedFile(pulling: recording.file).fragments.map { Int($0.offset) }
    try expectPictures(Array(recording.file.prefix(starts[fragment])), fragment * 4)
  }

  @Test("more than 4 GiB of data take the 64-bit form, which begins in the spare box")
  func large() throws {
    var recording = try Recording(.mp4)
    recording.whole.skip(6_000_000_000)
    let last = SampleDescription(size: 10, decodeTime: 20, duration: 1)
    try recording.whole.append(last, to: recording.track)
    let tail = try recording.whole.finish()
    let header = recording.whole.header
    let spare = try #require(header.firstRange(of: Array("free".utf8))).lowerBound - 4
    #expect(tail.patch.offset == UInt64(spare))
    #expect(
      tail.patch.bytes
        == numbers(1) + Array("mdat".utf8) + number(tail.offset - UInt64(spare)))
    let movie = try Movie(content: Array(tail.index.dropFirst(8)))
    let offset = movie.tracks.first?.samples.sample(at: 12)?.offset
    #expect(offset == tail.offset - 10)
  }
}
