// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import ISOBMFF
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// H.264 MVC with a track for each view is one stream of whole access units.
struct SeparateViewTests {
  private static let deliveries: [Delivery] = [
    .read, .memory, .readWithoutSize, .pushed(upTo: 100), .pushed(upTo: 1 << 20),
    .movable(upTo: 100),
  ]

  private func expectJoined(_ file: [UInt8], _ views: SeparateViews, _ name: String) throws {
    let expected = views.pictures.map { $0.base + ($0.dependent ?? []) }
    for delivery in Self.deliveries {
      let recording = try Session.play(file, delivery)
      #expect(recording.names == ["video_0"], "\(name), \(delivery)")
      #expect(recording["video_0"].contents == expected, "\(name), \(delivery)")
      #expect(recording["video_0"].hasEnded && recording.warnings.isEmpty, "\(name), \(delivery)")
      guard case .samples(let format)? = recording["video_0"].format,
        case .video(let entry) = format.entry
      else {
        Issue.record("\(name), \(delivery): no video")
        continue
      }
      #expect(entry.mvcC == views.mvcC)
    }
  }

  @Test(
    "samples of the two tracks are joined by their decode times, however they are stored",
    arguments: SeparateViews.Layout.allCases)
  func joined(layout: SeparateViews.Layout) throws {
    let views = SeparateViews(count: 40)
    let file = try views.movie(layout)
    try expectJoined(file, views, "\(layout)")
    let first = try #require(SeedMovie(file)).indexFirst
    try expectJoined(first, views, "\(layout), index first")
  }

  @Test("in fragments, of both views or of one", arguments: [false, true])
  func fragments(isSplit: Bool) throws {
    let views = SeparateViews(count: 40)
    try expectJoined(try views.fragments(isSplit: isSplit), views, "\(isSplit)")
  }

  @Test("another timescale, and pictures that the second view lacks")
  func incomplete() throws {
    var views = SeparateViews(count: 40, missing: [0, 7, 8, 39])
    views.dependentTimescale = 90_000
    for layout in SeparateViews.Layout.allCases {
      try expectJoined(try views.movie(layout), views, "\(layout)")
    }
    for isSplit in [false, true] {
      try expectJoined(try views.fragments(isSplit: isSplit), views, "fragments, \(isSplit)")
    }
  }

  @Test("after a seek, both views of the pictures from the keyframe on")
  func seek() throws {
    let views = SeparateViews(count: 40)
    for (file, delivery) in [
      (try views.movie(.chunks), Delivery.read), (try views.movie(.oneAfterTheOther), .read),
      (try #require(SeedMovie(try views.movie(.chunks))).indexFirst, .movable(upTo: 100)),
      (try views.fragments(isSplit: true), .read),
    ] {
      var session = Session(file, delivery)
      while case .output(let output) = try session.next() {
        if case .sample = output { break }
      }
      let hasSought = session.seek(SeekRequest(start: .at(25 * ClockTime.second / 30)))
      #expect(hasSought)
      var samples: [[UInt8]] = []
      while case .output(let output) = try session.next() {
        if case .sample(_, let sample) = output { samples.append(sample.data.bytes) }
      }
      #expect(
        samples == views.pictures[20...].map { $0.base + ($0.dependent ?? []) }, "\(delivery)")
    }
  }

  @Test("a track that does not refer to the other one is a stream of its own")
  func noReference() throws {
    var views = SeparateViews(count: 4)
    views.reference = nil
    let recording = try Session.play(try views.movie(.chunks), .read)
    #expect(recording.names == ["video_0", "video_1"])
  }

  @Test("a second view whose samples lie outside the file ends the movie with a warning")
  func cutOff() throws {
    let views = SeparateViews(count: 40)
    let whole = try #require(SeedMovie(try views.movie(.oneAfterTheOther))).indexFirst
    let file = Array(whole.dropLast(300))
    for delivery in Self.deliveries {
      let recording = try Session.play(file, delivery)
      let contents = recording["video_0"].contents
      #expect(contents.count < 40 && contents.count > 20, "\(delivery)")
      #expect(
        contents == views.pictures[..<contents.count].map { $0.base + ($0.dependent ?? []) },
        "\(delivery)")
      #expect(recording.warnings.map(\.kind).contains(.cutOff), "\(delivery)")
    }
  }
}
