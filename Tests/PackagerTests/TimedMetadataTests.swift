// SPDX-License-Identifier: MPL-2.0

import Foundation
import Packager
import TestKit
import Testing

/// ID3 tags in the segments of a stream.
struct TimedMetadataTests {
  /// A box `emsg` of version 1.
  private struct Message: Equatable {
    var time: Int
    var data: [UInt8]
  }

  /// The messages of a file, by the bytes of their boxes.
  private func messages(_ bytes: [UInt8]) throws -> [Message] {
    func number(_ place: Int, _ size: Int) -> Int {
      bytes[place..<place + size].reduce(0) { $0 << 8 | Int($1) }
    }
    var (found, place): ([Message], Int) = ([], 0)
    while place < bytes.count {
      let size = number(place, 4)
      if bytes[(place + 4)..<(place + 8)].elementsEqual("emsg".utf8) {
        #expect(bytes[place + 8] == 1 && number(place + 12, 4) == 30_000)
        #expect(number(place + 24, 4) == Int(UInt32.max))
        let text = bytes[(place + 32)..<(place + size)]
        let scheme = Array("https://aomedia.org/emsg/ID3\0\0".utf8)
        #expect(text.starts(with: scheme))
        found.append(
          Message(time: number(place + 16, 8), data: Array(text.dropFirst(scheme.count))))
      }
      place += max(size, 8)
    }
    return found
  }

  /// Ten seconds with segments of two, and tags that come when the stream is at a second.
  private func run(
    _ tags: [(at: Int, TimedMetadata)], parts: UInt64 = 0, hasVideo: Bool = true
  ) throws -> Disk {
    var settings = PackagerSettings(.event, target: 2)
    settings.partDuration = parts
    settings.names.manifest = "manifest.mpd"
    let disk = Disk()
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    let sound = try packager.add(audio("a"))
    let eyes =
      hasVideo
      ? [
        try packager.add(video("v")), try packager.add(video("m", isStereo: false, iFrames: true)),
      ]
      : []
    for place in 0..<10 {
      for (at, tag) in tags where at == place {
        let isTaken = packager.append(tag)
        #expect(isTaken)
      }
      var streams = [sound: packets(47, from: place * 47)]
      for eye in eyes { streams[eye] = pictures(30, from: place * 30) }
      try play(&packager, streams, to: disk, ends: false)
    }
    for index in [sound] + eyes { try packager.end(index) }
    try disk.take(&packager)
    return disk
  }

  private func tag(_ seconds: Double, _ byte: UInt8) -> TimedMetadata {
    TimedMetadata(time: Int64(seconds * 1e9), tag: Array("ID3".utf8) + [byte])
  }

  @Test(
    "tags are in the segment of their time in all pictures, or in the next; manifests tell of them",
    arguments: [0, 500_000_000])
  func segments(parts: UInt64) throws {
    let disk = try run(
      [(0, tag(3, 1)), (0, tag(0, 2)), (5, tag(1, 3)), (6, tag(7.5, 4))], parts: parts)
    for name in ["v", "m"] {
      let found = try (0..<5).map { number in
        try messages(try #require(disk.files["\(name)/segment0000\(number).m4s"]))
      }
      #expect(found.map { $0.map { $0.data.last ?? 0 } } == [[2], [1], [3], [4], []], "\(found)")
      #expect(found[1].first?.time == 90_000 && found[2].first?.time == 30_000)
    }
    #expect(
      try (0..<5).allSatisfy {
        try messages(try #require(disk.files["a/segment0000\($0).m4s"])).isEmpty
      })
    let sets = try disk.text("manifest.mpd").components(separatedBy: "<AdaptationSet").dropFirst()
    let told = "<InbandEventStream schemeIdUri=\"https://aomedia.org/emsg/ID3\" value=\"\"/>"
    #expect(sets.map { $0.contains(told) } == sets.map { $0.contains("contentType=\"video\"") })
    // The byte ranges of keyframes are those of the movie fragments.
    #expect(try disk.text("m/iframe.m3u8").contains("BYTERANGE"))
  }

  @Test("without tags, manifests tell of none; without pictures, they are in audio")
  func others() throws {
    #expect(!(try run([]).text("manifest.mpd")).contains("InbandEventStream"))
    var packager = Packager<[UInt8]>(PackagerSettings(.event, target: 2))
    let sound = try packager.add(audio("a"))
    let isTaken = packager.append(tag(1, 1))
    #expect(isTaken)
    let disk = Disk()
    try play(&packager, [sound: packets(300)], to: disk)
    let bytes = try #require(disk.files["a/segment00000.m4s"])
    #expect(bytes.contains("emsg"))
  }

  @Test("floods and times at the ends of their type cost little")
  func hostile() throws {
    var packager = Packager<[UInt8]>(PackagerSettings(.live, target: 1))
    for time in [Int64.min, .max, -1, 0] {
      let isTaken = packager.append(TimedMetadata(time: time, tag: []))
      #expect(isTaken)
    }
    let eyes = try packager.add(video("v"))
    let large = TimedMetadata(time: .max, tag: [UInt8](repeating: 1, count: 300_000))
    let taken = (0..<10).map { _ in packager.append(large) }
    #expect(taken.count { $0 } == 3)
    let disk = Disk()
    try play(&packager, [eyes: pictures(90)], to: disk)
    let later = packager.append(large)
    #expect(!later)
  }
}

extension [UInt8] {
  fileprivate func contains(_ text: String) -> Bool {
    let text = Array(text.utf8)
    return indices.contains { self[$0...].starts(with: text) }
  }
}
