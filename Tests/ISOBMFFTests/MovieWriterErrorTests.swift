// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

struct MovieWriterErrorTests {
  private func movie() throws -> (MovieWriter, TrackID) {
    var movie = MovieWriter(container: .quickTime)
    let entry = VisualSampleEntry(width: 64, height: 32, hvcC: [1])
    let track = try movie.addTrack(TrackDescription(.video(entry), timescale: 10))
    return (movie, track)
  }

  private func sample(_ decodeTime: Int64, offset: Int32 = 0) -> SampleDescription {
    SampleDescription(size: 1, decodeTime: decodeTime, duration: 1, compositionOffset: offset)
  }

  @Test("samples out of order are refused, by number and time, and change nothing")
  func backwards() throws {
    var (movie, track) = try movie()
    try movie.append(sample(5), to: track)
    let before = try movie.finish()
    #expect(
      throws: MovieWriterError.decodeTimeBackwards(track, sample: 2, previous: 5, this: 4)
    ) {
      try movie.append(self.sample(4), to: track)
    }
    #expect(try movie.finish() == before)
  }

  @Test("values beyond the fields of the tables are refused")
  func outOfRange() throws {
    var (movie, track) = try movie()
    #expect(throws: MovieWriterError.compositionOffsetTooLarge(track, sample: 1, offset: .min)) {
      try movie.append(self.sample(0, offset: .min), to: track)
    }
    #expect(throws: MovieWriterError.timeTooLarge(track, sample: 1)) {
      try movie.append(self.sample(.min), to: track)
    }
    try movie.append(sample(0), to: track)
    #expect(
      throws: MovieWriterError.durationTooLarge(track, sample: 1, duration: 0x1_0000_0000)
    ) {
      try movie.append(self.sample(0x1_0000_0000), to: track)
    }
  }

  @Test("an unknown track, a track without timescale and a late track are refused")
  func tracks() throws {
    var (movie, track) = try movie()
    let stranger = TrackID(rawValue: 7)
    #expect(throws: MovieWriterError.unknownTrack(stranger)) {
      try movie.append(self.sample(0), to: stranger)
    }
    let audio = AudioSampleEntry(coding: .mp3, channelCount: 2, sampleRate: 44_100)
    #expect(throws: MovieWriterError.timescaleZero(TrackID(rawValue: 2))) {
      _ = try movie.addTrack(TrackDescription(.audio(audio), timescale: 0))
    }
    #expect(throws: MovieWriterError.mediaTypeChanged(track)) {
      try movie.setSampleEntry(.audio(audio), of: track)
    }
    try movie.append(sample(0), to: track)
    #expect(throws: MovieWriterError.trackAddedTooLate) {
      _ = try movie.addTrack(TrackDescription(.audio(audio), timescale: 1))
    }
  }

  @Test("a track has at most 256 formats, and returning to one of them needs no other")
  func formats() throws {
    var (movie, track) = try movie()
    func entry(_ width: UInt16) -> SampleEntry {
      .video(VisualSampleEntry(width: width, height: 16, hvcC: []))
    }
    for width in 1...255 { try movie.changeSampleEntry(entry(UInt16(width)), of: track) }
    try movie.changeSampleEntry(entry(1), of: track)
    #expect(throws: MovieWriterError.tooManyFormats(track)) {
      try movie.changeSampleEntry(entry(256), of: track)
    }
  }

  @Test("a track with runs takes equal samples only")
  func unevenRun() throws {
    var (movie, track) = try movie()
    var run = sample(0)
    run.count = .max
    try movie.append(run, to: track)
    var other = sample(0x1_0000_0000)
    #expect(throws: MovieWriterError.tooManySamples(track)) {
      try movie.append(other, to: track)
    }
    (movie, track) = try self.movie()
    run.count = 1_000_000_000
    try movie.append(run, to: track)
    other = sample(1_000_000_000)
    other.size = 2
    #expect(throws: MovieWriterError.unevenRun(track, sample: 1_000_000_001)) {
      try movie.append(other, to: track)
    }
  }
}
