// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import HEVC
import ISOBMFF
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// Streams whose source sets the times, and streams that start again with another index, as from
/// adaptive streaming.
struct AdaptiveTests {
  static let frame: ClockTime = 1_000_000_000 / 30

  /// A movie in fragments: its index, and a fragment with its data for each group of pictures.
  private func fragments(
    _ movie: WovenMovie
  ) throws -> (index: [UInt8], fragments: [[UInt8]]) {
    let seed = try #require(SeedMovie(try movie.bytes()))
    let whole = seed.fragmented(length: WovenStream.keyInterval)
    // The length is open, as it is where more may come.
    let edits = whole.movie?.tracks.map(\.edits) ?? []
    let boxes = BoxTree.read(
      SeedMovie.editing(whole) { moov in
        for (number, list) in edits.enumerated() {
          let open = list.map { Edit(duration: 0, mediaTime: $0.mediaTime) }
          moov.setEdits(open, ofTrack: number)
        }
      })
    let index = boxes.filter { ["ftyp", "moov"].contains($0.type) }.flatMap(\.bytes)
    var fragments: [[UInt8]] = []
    for box in boxes {
      if box.type == "moof" { fragments.append(box.bytes) }
      if box.type == "mdat" { fragments[fragments.count - 1] += box.bytes }
    }
    return (index, fragments)
  }

  /// What a player gives up to where it waits for more.
  private func give(
    _ player: inout MoviePlayer, _ recording: inout Recording
  ) throws -> PlayerEnd? {
    while true {
      switch try player.next() {
      case .output(let output): recording.add(output)
      case .awaitBytes: return nil
      case .end(let end): return end
      case .read, .moveSource: throw Failure("the player asks for what a stream does not do")
      }
    }
  }

  private func times(_ start: ClockTime?) -> ChunkTimes {
    var times = ChunkTimes()
    times.presentationTime = start
    return times
  }

  @Test("times are upstream's, and so is the segment; other places begin with any fragment")
  func upstreamTimes() throws {
    let (index, fragments) = try fragments(WovenMovie(hasAudio: true))
    var player = MoviePlayer(.stream(StreamSource()))
    var segment = PlaybackSegment()
    (segment.time, segment.base) = (5, 7)
    player.continueSource(in: segment)
    try player.append(ByteSlice(index), times(nil))
    var recording = Recording()
    for (number, fragment) in fragments.prefix(3).enumerated() {
      // A playlist rounds.
      let start = number * 200 * .millisecond + 3_000_000
      try player.append(ByteSlice(fragment), times(number == 0 ? 0 : start))
      #expect(try give(&player, &recording) == nil)
    }
    #expect(recording.disorder == [] && recording.warnings.isEmpty)
    for name in ["left", "video_0"] {
      #expect(recording[name].segments == [segment], "\(name)")
      let shown = recording[name].shown.compactMap(\.presentationTime).sorted()
      #expect(shown.count == 18)
      for (number, time) in shown.enumerated() {
        #expect(time.units(perSecond: 1000) == UInt64(number) * 1000 / 30, "\(name)")
      }
      #expect(
        recording[name].samples.allSatisfy { $0.decodeTime ?? 0 <= $0.presentationTime ?? 0 })
    }
    #expect(player.seekMap == nil)

    // Upstream seeks: all is dropped, and another fragment comes, possibly after the index again.
    for (repeatsIndex, place) in [(true, 6), (false, 1)] {
      player.flush()
      segment.start = place * 200 * .millisecond + 50_000_000
      player.continueSource(in: segment)
      var rest = Recording(after: recording)
      if repeatsIndex { try player.append(ByteSlice(index), times(nil)) }
      for fragment in fragments[place..<place + 2] { try player.append(ByteSlice(fragment)) }
      #expect(try give(&player, &rest) == nil)
      #expect(rest.disorder == [] && rest.warnings.isEmpty)
      let shown = rest["video_0"].shown.compactMap(\.presentationTime).sorted()
      #expect(shown.first?.units(perSecond: 1000) == UInt64(place) * 200)
      #expect(shown.count == 12)
      #expect(rest["left"].segments == [segment])
      #expect(rest["left"].samples.first?.flags.contains(.discontinuity) == true)
      #expect(rest["left"].formatCount == 0)
    }
    player.endSource()
    #expect(try give(&player, &recording) == .endOfStream)
    #expect(recording.streams.allSatisfy { $0.hasEnded })
  }

  @Test("media whose times are far from upstream's is moved there, by one distance")
  func shift() throws {
    let (index, fragments) = try fragments(WovenMovie())
    var player = MoviePlayer(.stream(StreamSource()))
    player.continueSource(in: PlaybackSegment())
    try player.append(ByteSlice(index), times(nil))
    var recording = Recording()
    // The fourth fragment is what upstream begins with; later it says something a little else.
    for (number, fragment) in fragments[3..<6].enumerated() {
      let start = number * 201 * ClockTime.millisecond
      try player.append(ByteSlice(fragment), times(start))
      _ = try give(&player, &recording)
    }
    let shown = recording["video_0"].shown.compactMap(\.presentationTime).sorted()
    #expect(shown.map { $0.units(perSecond: 1000) } == (0..<18).map { $0 * 1000 / 30 })
  }

  @Test("an incomplete fragment is dropped if another one begins")
  func brokenOff() throws {
    let (index, fragments) = try fragments(WovenMovie())
    var player = MoviePlayer(.stream(StreamSource()))
    player.continueSource(in: PlaybackSegment())
    try player.append(ByteSlice(index + fragments[0]))
    var recording = Recording()
    _ = try give(&player, &recording)
    try player.append(ByteSlice(Array(fragments[1].prefix(fragments[1].count / 2))))
    _ = try give(&player, &recording)
    let before = recording["video_0"].samples.count
    #expect((6..<12).contains(before))
    var begins = times(nil)
    begins.flags = .discontinuity
    try player.append(ByteSlice(fragments[2]), begins)
    _ = try give(&player, &recording)
    #expect(recording["video_0"].samples.count == before + 6)
    #expect(recording["video_0"].samples[before].flags.contains(.discontinuity))
    let expected = try Session.play(index + fragments[2], .pushed(upTo: 1 << 30))["video_0"]
    #expect(recording["video_0"].contents.suffix(6) == expected.contents.suffix(6))
  }

  @Test(
    "a stream continues with another index: other parameter sets, other eyes, another timescale")
  func laterIndex() throws {
    let (index, fragments) = try fragments(WovenMovie(hasAudio: true))
    var other = WovenMovie(baseEye: .right)
    other.hasAudio = true
    let (laterIndex, laterFragments) = try self.fragments(other)
    let expected = try Session.play(try other.bytes(), .read)
    for size in [1, 1000, 1 << 30] {
      var player = MoviePlayer(.stream(StreamSource()))
      let stream =
        index + fragments.flatMap { $0 } + index + fragments[0] + laterIndex
        + laterFragments.flatMap { $0 }
      var recording = Recording()
      var place = 0
      while place < stream.count {
        let end = min(place + size, stream.count)
        try player.append(ByteSlice(Array(stream[place..<end])))
        place = end
        _ = try give(&player, &recording)
      }
      player.endSource()
      #expect(try give(&player, &recording) == .endOfStream)
      #expect(recording.disorder == [] && recording.warnings.isEmpty, "\(size)")
      for name in ["left", "right", "video_0", "audio_0"] {
        let contents = expected[name].contents.flatMap { $0 }
        let given = recording[name].contents.flatMap { $0 }
        #expect(given.suffix(contents.count) == contents[...], "\(name)")
      }
      #expect(recording["left"].shown.count == 48 + 6 + 48)
      // The same index once more changes nothing; the other one does, in every stream.
      #expect(recording["video_0"].formatCount == 1)
      #expect(recording["left"].formatCount >= 1)
      #expect(recording["audio_0"].formatCount == 0)
      let change = try #require(recording["video_0"].lines.firstIndex(of: "format"))
      // Times start again at the first repetition, and running time continues.
      #expect(recording["video_0"].lines.prefix(change).count == 2 + 48 + 6)
      #expect(
        recording["left"].segments.map { $0.base / 1_000_000 } == [0, 1600, 1800], "\(size)")
    }
  }

  @Test("tracks that a later index lacks or adds are named")
  func otherTracks() throws {
    let (index, fragments) = try fragments(WovenMovie(hasAudio: true))
    let (laterIndex, laterFragments) = try self.fragments(WovenMovie())
    for (stream, name) in [
      (index + fragments[0] + laterIndex + laterFragments[0], "has no successor"),
      (laterIndex + laterFragments[0] + index + fragments[0], "is left out"),
    ] {
      let recording = try Session.play(stream, .pushed(upTo: 500))
      #expect(recording.warnings.map(\.kind) == [.tracks])
      #expect(recording.warnings.first?.message.contains(name) == true)
      #expect(recording["left"].shown.count == 12)
    }
  }

  @Test("after a flush without a position, a stream of fragments continues with the next one")
  func lostPlace() throws {
    let (index, fragments) = try fragments(WovenMovie())
    var player = MoviePlayer(.stream(StreamSource()))
    try player.append(ByteSlice(index + fragments[0] + Array(fragments[1].prefix(300))))
    var recording = Recording()
    _ = try give(&player, &recording)
    let before = recording["video_0"].samples.count
    player.flush()
    var rest = Recording(after: recording)
    for fragment in fragments[4...] { try player.append(ByteSlice(fragment)) }
    player.endSource()
    #expect(try give(&player, &rest) == .endOfStream)
    #expect(before >= 6)
    #expect(rest["left"].shown.count == 24)
    #expect(rest["left"].segments.count == 1)
    for stream in rest.streams {
      #expect(stream.samples.first?.flags.contains(.delta) == false)
      #expect(stream.samples.allSatisfy { $0.presentationTime != nil })
    }
    #expect(rest.disorder == [] && rest.warnings.isEmpty)
  }

  @Test(
    "a movie that grows beyond its declared duration reports it, up to its last frame",
    arguments: [0, 2])
  func growing(delay: Int) throws {
    var movie = WovenMovie()
    movie.delay = delay
    let (index, fragments) = try fragments(movie)
    var boxes = BoxTree.read(index)
    let moov = try #require(boxes.firstIndex { $0.type == "moov" })
    // mehd says half a second of four.
    boxes[moov]["mvex/mehd"] = BoxTree("mehd", big(UInt32(0)) + big(UInt32(45_000)))
    let start = boxes.flatMap(\.bytes)
    var player = MoviePlayer(.stream(StreamSource()))
    var recording = Recording()
    try player.append(ByteSlice(start))
    var durations: [ClockTime] = []
    for fragment in fragments {
      try player.append(ByteSlice(fragment))
      let changes = recording.statusChanges
      _ = try give(&player, &recording)
      durations.append(player.duration ?? 0)
      let isNew = durations.count < 2 || durations[durations.count - 2] != durations.last
      #expect(isNew == (recording.statusChanges > changes) || durations.count == 1)
    }
    #expect(
      durations.map { $0.units(perSecond: 1000) } == [500, 500, 600, 800, 1000, 1200, 1400, 1600])
  }
}
