// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Packager
import Testing

/// Keys in playlists and manifests.
struct ContentKeyTests {
  private static let one = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://one\",KEYFORMAT=\"a\""
  private static let other = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://two\",KEYFORMAT=\"b\""

  private static func playlist(_ keys: [[String]]) -> MediaPlaylist {
    var playlist = MediaPlaylist(.live, targetDuration: 2)
    for (number, keyTags) in keys.enumerated() {
      var segment = MediaSegment(
        "segment\(number).m4s", duration: 2_000_000_000, map: InitializationSection("init.mp4"))
      segment.keyTags = keyTags
      playlist.append(segment)
    }
    return playlist
  }

  @Test("a key is listed where it begins, and its end is told")
  func places() throws {
    let keys = [[], [Self.one, Self.other], [Self.one, Self.other], [Self.one], []]
    let playlist = Self.playlist(keys)
    let lines = playlist.text.split(separator: "\n").filter {
      $0.hasPrefix("#EXT-X-KEY") || !$0.hasPrefix("#")
    }
    #expect(
      lines.map(String.init) == [
        "segment0.m4s", Self.one, Self.other, "segment1.m4s", "segment2.m4s", Self.one,
        "segment3.m4s", "#EXT-X-KEY:METHOD=NONE", "segment4.m4s",
      ])
    // A run that continues the playlist reads it.
    let read = try MediaPlaylist(parsing: playlist.text)
    #expect(read.segments.map(\.keyTags) == keys)
    #expect(read.text == playlist.text)
  }

  @Test("when segments leave the window, the first one that stays has its key")
  func window() throws {
    var playlist = Self.playlist(Array(repeating: [Self.one], count: 6))
    _ = playlist.removeAll(but: 3)
    let lines = playlist.text.split(separator: "\n")
    #expect(lines.count { $0 == Self.one } == 1)
    let segment = try #require(lines.firstIndex { !$0.hasPrefix("#") })
    #expect(try #require(lines.firstIndex { $0 == Self.one }) < segment)
  }

  @Test("a manifest names the key, and each key system that has one")
  func manifests() throws {
    let bytes = [UInt8](repeating: 7, count: 16)
    let protection = try #require(TrackProtection(keyID: bytes, initializationVector: bytes))
    var representation = representation("video_0", stereo: true)
    let system = [0, 0, 0, 0] + (1...16).map { UInt8($0) } + [0, 0, 0, 0]
    representation.key = ContentKey(
      protection, deliveries: [KeyDelivery(uri: "skd://one")], systems: [system, [1, 2]])
    let text = manifest(representation)
    // One that is cut off is left out.
    #expect(text.matches(of: #/<ContentProtection /#).count == 2)
    #expect(text.contains("cenc:default_KID=\"07070707-0707-0707-0707-070707070707\""))
    #expect(text.contains("schemeIdUri=\"urn:uuid:01020304-0506-0708-090a-0b0c0d0e0f10\""))
    #expect(
      text.contains("<cenc:pssh>AAAAIHBzc2gAAAAAAQIDBAUGBwgJCgsMDQ4PEAAAAAA=</cenc:pssh>"))
  }
}
