// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import TestKit
import Testing

/// A recording that was cut off anywhere becomes an ordinary movie.
struct MovieRecoveryTests {
  private func recover(_ file: [UInt8]) throws -> RecoveredMovie {
    var recovery = MovieRecovery(fileSize: UInt64(file.count))
    while true {
      switch try recovery.next() {
      case .needBytes(let range):
        try #require(range.upperBound <= UInt64(file.count) && !range.isEmpty)
        recovery.supply(
          Array(file[Int(range.lowerBound)..<Int(range.upperBound)]), at: range.lowerBound)
      case .recovered(let movie):
        return movie
      }
    }
  }

  /// The file after each step that finishes it.
  private func steps(_ file: [UInt8]) throws -> [[UInt8]] {
    let movie = try recover(file)
    var steps: [[UInt8]] = []
    var file = file
    if let closing = movie.closing {
      file = file.patched(closing)
      steps.append(file)
    }
    file = Array(file.prefix(Int(movie.tail.offset)))
    steps.append(file)
    file += movie.tail.index
    steps.append(file)
    steps.append(file.patched(movie.tail.patch))
    return steps
  }

  @Test(
    "an unfinished movie is finished as the recorder would have, byte by byte",
    arguments: MovieContainer.allCases, [false, true])
  func whole(container: MovieContainer, hasAudio: Bool) throws {
    let recording = try RecordedFragments(container, hasAudio: hasAudio)
    #expect(try steps(recording.file).last == recording.finished)
    let movie = try recover(recording.file)
    #expect(movie.lostByteCount == 0)
    #expect(movie.tracks.map(\.sampleCount) == (hasAudio ? [12, 60] : [12]))
    #expect(movie.tracks.allSatisfy { abs($0.duration - 0.4) < 0.001 })
  }

  @Test(
    "cut off at any byte, it has every complete picture, and can be cut off again",
    arguments: [false, true])
  func torn(hasAudio: Bool) throws {
    let recording = try RecordedFragments(.mp4, hasAudio: hasAudio)
    let complete = try #require(try ParsedFile(pulling: recording.finished).movie)
    let ends = try #require(complete.tracks.first).samples.all.map { Int($0.offset) + 10 }
    for cut in (ends[0] - 10)...recording.file.count {
      let torn = Array(recording.file.prefix(cut))
      let count = ends.filter { $0 <= cut }.count
      guard count > 0 else {
        #expect(throws: MovieRecoveryError.isEmpty) { try recover(torn) }
        continue
      }
      for step in try steps(torn) {
        // A player finds them at every moment, but for those of the fragment that is cut off.
        #expect(try ParsedFile(pulling: step).movie != nil)
        let movie = try? recover(step)
        guard let movie else {
          #expect(throws: MovieRecoveryError.isComplete) { try recover(step) }
          try expectPictures(step, count)
          continue
        }
        #expect(movie.tracks.first?.sampleCount == UInt32(count), "cut at \(cut)")
      }
    }
  }

  @Test("trailing zeros, as a power failure leaves them, are removed")
  func zeros() throws {
    let recording = try RecordedFragments(.quickTime)
    let torn = recording.file + [UInt8](repeating: 0, count: 5000)
    #expect(try recover(torn).lostByteCount == 5000)
    #expect(try steps(torn).last == recording.finished)
  }

  @Test("damage in one fragment's index loses nothing of the earlier ones")
  func damage() throws {
    let recording = try RecordedFragments(.mp4)
    let fragments = try ParsedFile(pulling: recording.file).fragments
    let last = Int(try #require(fragments.last).offset)
    let before = fragments.dropLast().flatMap(\.trackFragments).flatMap(\.runs).map(\.count).reduce(
      0, +)
    #expect(before > 0)
    for position in last..<min(last + 200, recording.file.count) {
      for byte: UInt8 in [0, 0x7F, 0xFF] {
        var file = recording.file
        file[position] = byte
        let count = Int(try recover(file).tracks.first?.sampleCount ?? 0)
        #expect((before...12).contains(count), "\(byte) at \(position - last)")
      }
    }
  }

  @Test("other files are refused with a reason")
  func refused() throws {
    let recording = try RecordedFragments(.mp4)
    #expect(throws: MovieRecoveryError.isComplete) { try recover(recording.finished) }
    var plain = MovieWriter(container: .mp4)
    let track = try plain.addTrack(
      TrackDescription(.video(VisualSampleEntry(width: 8, height: 8, hvcC: [1])), timescale: 1))
    var file = plain.header
    try plain.append(
      SampleDescription(size: 4, decodeTime: 0, duration: 1), [1, 2, 3, 4], to: track, file: &file)
    #expect(throws: MovieRecoveryError.hasNoIndex) { try recover(file) }
    #expect(throws: ISOBMFFError.self) { try recover([1, 2, 3]) }
    #expect(throws: ISOBMFFError.self) { try recover([]) }
    var streamed = FragmentWriter(format: .movie(.mp4))
    let other = try streamed.addTrack(
      TrackDescription(.video(VisualSampleEntry(width: 8, height: 8, hvcC: [1])), timescale: 1))
    try streamed.append(SampleDescription(size: 1, decodeTime: 0, duration: 1), to: other)
    let start = try streamed.initializationSegment()
    let fragment = try #require(try streamed.finishFragment())
    #expect(throws: MovieRecoveryError.isFragmentedOnly) {
      try recover(start + fragment.header + [0])
    }
  }

  @Test("a fragment with one sample per byte costs only a few times the file's size")
  func manySamples() throws {
    let count: UInt32 = 8_000_000
    let recording = try RecordedFragments(.mp4)
    let start = try #require(try ParsedFile(pulling: recording.file).fragments.first).offset
    func fragment(_ dataOffset: UInt32) -> [UInt8] {
      // Duration, size and flags by default: 1 each.
      let header = fullBox("tfhd", flags: 0x2_0018, numbers(1, 1, 1))
      let time = fullBox("tfdt", version: 1, number(UInt64(0)))
      let run = fullBox("trun", flags: 1, numbers(count, dataOffset))
      return box("moof", fullBox("mfhd", numbers(1)), box("traf", header, time, run))
    }
    let index = fragment(UInt32(fragment(0).count) + 8)
    let file =
      recording.file.prefix(Int(start)) + index
      + box("mdat", [UInt8](repeating: 0, count: Int(count)))
    var movie: RecoveredMovie?
    let memory = try peakMemory { movie = try recover(Array(file)) }
    #expect(movie?.tracks.map(\.sampleCount) == [count])
    #expect(memory < 6 * file.count, "\(memory)")
  }
}
