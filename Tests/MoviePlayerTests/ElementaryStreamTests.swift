// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// H.265 without a container: its times, and those that another demuxer gives.
struct ElementaryStreamTests {
  @Test(
    "a stream without timestamps gets those of the requested framerate",
    arguments: [(25, 2, 80_000_000), (50, 1, 20_000_000)] as [(Int, Int, ClockTime)],
    [Delivery.read, .pushed(upTo: 1), .pushed(upTo: 1000)])
  func frameRate(rate: (Int, Int, duration: ClockTime), delivery: Delivery) throws {
    var options = PlayerOptions()
    options.frameRate = Ratio(rate.0, rate.1)
    let units = try WovenStream().units
    let bytes = units.flatMap(\.byteStream)
    var session = Session(bytes, delivery, options: options)
    let recording = try session.playToEnd()
    #expect(recording.names == ["left", "right", "video_0"])
    let shown = recording["video_0"].samples.sorted {
      $0.presentationTime ?? 0 < $1.presentationTime ?? 0
    }
    #expect(
      shown.map(\.data.bytes)
        == units.sorted { $0.displayOrder < $1.displayOrder }.map(\.byteStream))
    for stream in recording.streams {
      let start = try #require(stream.segments.first?.start)
      let times = stream.shown.compactMap(\.presentationTime).sorted()
      #expect(times == (0..<12).map { start + rate.duration * $0 }, "\(stream.name)")
      let found: Ratio? =
        switch stream.format {
        case .eye(let format): format.description.frameRate
        case .elementary(let format): format.frameRate
        default: nil
        }
      #expect(found == options.frameRate, "\(stream.name)")
    }
  }

  @Test("access units of another demuxer have its times and segments, also after its seeks")
  func segments() throws {
    let stream = try WovenStream()
    var player = MoviePlayer(
      .elementaryStream(
        try ElementaryStreamSource(record: stream.records.base, layered: stream.records.layered)))
    var recording = Recording()
    let starts: [(rate: Double, frame: Int)] = [(1, 0), (2, 6), (0.5, 6), (1, 0)]
    for (number, start) in starts.enumerated() {
      var segment = PlaybackSegment()
      segment.rate = start.rate
      segment.start = 5_000_000_000 + ClockTime(nanoseconds: start.frame) * 40_000_000
      segment.time = segment.start - 5_000_000_000
      if number > 0 { player.flush() }
      player.continueSource(in: segment)
      var part = Recording(after: recording)
      for (place, unit) in stream.units.enumerated().dropFirst(start.frame) {
        var times = ChunkTimes()
        let shown = place - place % 6 + unit.displayOrder % 6
        times.presentationTime = 5_000_000_000 + ClockTime(nanoseconds: shown) * 40_000_000
        times.decodeTime = 4_900_000_000 + ClockTime(nanoseconds: place) * 40_000_000
        times.duration = 40_000_000
        times.flags = unit.isSync ? [] : .delta
        try player.append(ByteSlice(unit.bytes), times)
        while case .output(let output) = try player.next() { part.add(output) }
      }
      if number == starts.count - 1 {
        player.endSource()
        while case .output(let output) = try player.next() { part.add(output) }
        #expect(part.streams.allSatisfy { $0.hasEnded })
      }
      #expect(part.names == ["left", "right", "video_0"] && part.disorder == [])
      for stream in part.streams {
        #expect(stream.segments == [segment], "\(stream.name)")
        #expect(stream.samples.count == 12 - start.frame, "\(stream.name)")
        let times = stream.streamTimes.map { $0 / 40_000_000 }
        #expect(
          times.sorted() == (start.frame..<12).map { ClockTime(nanoseconds: $0) }, "\(stream.name)")
        #expect(stream.samples.first?.flags.contains(.delta) == false)
        #expect(stream.samples.allSatisfy { $0.duration == 40_000_000 })
        if number > 0 {
          #expect(stream.samples.first?.flags.contains(.discontinuity) == true)
        }
      }
      recording = part
    }
  }

  @Test(
    "pictures of a predicted eye are each decoded later than the one before, and before their time",
    arguments: [Delivery.read, .pushed(upTo: 1000)])
  func predicted(delivery: Delivery) throws {
    let url = Repository.url.appending(path: "Tests/HEVCTests/Streams/interlayer-128x96.hevc")
    let recording = try Session.play([UInt8](try Data(contentsOf: url)), delivery)
    let right = recording["right"]
    // Those of the other eye come along, hidden.
    #expect(right.samples.count == 48 && right.shown.count == 24)
    let decoded = right.samples.compactMap(\.decodeTime)
    let shown = right.samples.compactMap(\.presentationTime)
    #expect(decoded.count == 48 && zip(decoded, decoded.dropFirst()).allSatisfy { $0 < $1 })
    #expect(shown.count == 48 && Set(shown).count == 48)
    // The first hidden picture has nearly the time of the first shown one, for muxers.
    #expect(shown.first.map { $0 - 1 } == shown.min())
    #expect(zip(decoded, shown).allSatisfy { $0 <= $1 })
    // Both eyes are shown at the same times.
    let times = ["left", "right"].map { name in
      let stream = recording[name]
      return stream.shown.compactMap { sample in
        sample.presentationTime.map { $0 - (stream.segments.last?.start ?? 0) }
      }.sorted()
    }
    #expect(times[0].count == 24)
    #expect(times[0] == times[1])
    #expect(["left", "right"].allSatisfy { recording[$0].segments.map(\.base) == [0] })
  }
}
