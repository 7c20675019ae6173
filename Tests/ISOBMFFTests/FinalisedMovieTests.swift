// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

/// A file of fragments that becomes an ordinary movie at its end.
struct FinalisedMovieTests {
  @Test(
    "the file plays while it grows, before the patch, and finished",
    arguments: MovieContainer.allCases)
  func states(container: MovieContainer) throws {
    let recording = try RecordedFragments(container)
    try expectPictures(recording.file, 12)
    #expect(try ParsedFile(pulling: recording.file).fragments.count == 3)
    let tail = try recording.whole.finish()
    #expect(tail.offset == UInt64(recording.file.count))
    var file = recording.file + tail.index
    // A crash between the two last writes: the fragments are still there.
    try expectPictures(file, 12)
    file = file.patched(tail.patch)
    try expectPictures(file, 12)
    let parsed = try ParsedFile(pulling: file)
    #expect(parsed.fragments.isEmpty)
    #expect(parsed.movie?.isFragmented == false)
    #expect(parsed.otherBoxes == [container == .quickTime ? "wide" : "free"])
    #expect(parsed.mediaData.count == 1)
    #expect(parsed.mediaData.first?.upperBound == tail.offset)
  }

  @Test("a file cut off within a fragment has the earlier fragments", arguments: [0, 1, 2])
  func torn(fragment: Int) throws {
    let recording = try RecordedFragments(.mp4)
    let starts = try ParsedFile(pulling: recording.file).fragments.map { Int($0.offset) }
    try expectPictures(Array(recording.file.prefix(starts[fragment])), fragment * 4)
  }

  @Test("more than 4 GiB of data take the 64-bit form, which begins in the spare box")
  func large() throws {
    var recording = try RecordedFragments(.mp4)
    try recording.appendPicture(after: 6_000_000_000)
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
