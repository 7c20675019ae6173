// SPDX-License-Identifier: MPL-2.0

import Foundation
import FuzzTargets
import GStreamer
import TestElements
import TestKit
import Testing

/// What only a reader that never corrupts memory has to fear: loops, depth, size and nonsense.
@Suite(.serialized)
struct HostileStructureTests {
  let movie: SeedMovie

  init() async throws {
    try BuiltPlugin.require()
    movie = try await SeedMovies.own()
  }

  private static let all = UInt32.max

  @Test("boxes of size 0 and 1, alone and in masses")
  func zeroSizes() {
    for start in [numbers(0), numbers(1)] {
      for type in ["free", "moov", "mdat", "ftyp", "moof"] {
        endure(start + Array(type.utf8) + movie.bytes)
        let bytes = movie.with { moov in
          moov.children.insert(BoxTree("udta", start + Array(type.utf8)), at: 0)
        }
        endure(bytes).arePlayed()
      }
      endure((0..<100_000).flatMap { _ in start + Array("free".utf8) } + movie.bytes)
    }
    let masses = (0..<100_000).flatMap { _ in numbers(8) + Array("free".utf8) }
    endure(masses + movie.bytes)
    endure(movie.bytes + masses).arePlayed()
  }

  @Test("boxes inside boxes, a hundred thousand deep")
  func depth() {
    for type in ["udta", "meta", "vexu", "eyes", "wave", "trak", "moov", "ilst", "traf"] {
      var nested: [UInt8] = []
      // From the inside out, written backwards.
      for level in 0..<100_000 {
        nested += Array(type.utf8.reversed()) + big(UInt32(8 * (level + 1))).reversed()
      }
      nested.reverse()
      endure(movie.with { $0.children.append(BoxTree(type, nested)) })
      endure(movie.with { $0["trak"]?.children.append(BoxTree(type, nested)) })
      endure(movie.withVideo { $0.children.append(BoxTree(type, nested)) })
      endure(movie.bytes + nested)
    }
  }

  @Test("two indexes, and tracks of one number")
  func duplicates() {
    let boxes = BoxTree.read(movie.bytes)
    let index = boxes.filter { $0.type == "moov" }.flatMap(\.bytes)
    endure(movie.bytes + index + index).arePlayed()
    let twice = movie.with { moov in moov.children += moov.children.filter { $0.type == "trak" } }
    endure(twice).arePlayed()
    var fragments = BoxTree.read(movie.fragmented())
    for place in fragments.indices where fragments[place].type == "moov" {
      fragments[place].children += fragments[place].children.filter { $0.type == "trak" }
    }
    endure(fragments.flatMap(\.bytes)).arePlayed()
  }

  @Test("samples outside the file, and over each other")
  func offsets() {
    for offset in [0, 8, UInt32(movie.bytes.count) - 1, UInt32(movie.bytes.count), Self.all] {
      let bytes = movie.with { moov in
        moov.edit("\(SeedMovie.table)/stco") { table in
          let count = (table.content.count - 8) / 4
          table.content.replaceSubrange(8..., with: (0..<count).flatMap { _ in big(offset) })
        }
      }
      for outcome in endure(bytes) {
        #expect(outcome.buffers["audio_0"] ?? 0 > 0, "\(offset): \(outcome)")
      }
    }
    for offset in [UInt64(Int64.max), .max, .max - 1000] {
      let bytes = movie.with { moov in
        moov.edit(SeedMovie.table) { stbl in
          stbl.remove("stco")
          stbl.put(.full("co64", numbers(1), big(offset)))
          stbl.put(.full("stsc", numbers(1, 1, 6, 1)))
        }
      }
      for outcome in endure(bytes) {
        #expect(outcome.buffers["audio_0"] ?? 0 > 0, "\(offset): \(outcome)")
      }
    }
  }

  @Test("times that are negative, nothing, or beyond 64 bits")
  func times() {
    for value in [0, 1, 0x7FFF_FFFF, 0x8000_0000, Self.all] {
      let many = (0..<6).flatMap { _ in numbers(1, value) }
      for version in [0, 1] as [UInt8] {
        endure(
          movie.with { moov in
            moov.edit(SeedMovie.table) {
              $0.put(.full("ctts", version: version, numbers(6), many))
            }
          })
      }
      endure(
        movie.with { moov in moov.edit(SeedMovie.table) { $0.put(.full("stts", numbers(6), many)) }
        })
      for path in ["mvhd", "trak/mdia/mdhd"] {
        endure(
          movie.with { $0.edit(path) { $0.content.replaceSubrange(12..<16, with: big(value)) } })
      }
      for rate in [0, 0x1_0000, 0x8000_0000, Self.all] {
        for duration in [0, 1, Self.all] {
          endure(
            movie.with { moov in
              moov["trak"]?.put(
                BoxTree("edts", [], [.full("elst", numbers(1, duration, value, rate))]))
            })
          let wide = big(UInt64(duration) << 31) + big(UInt64(value) << 31) + big(rate)
          endure(
            movie.with { moov in
              moov["trak"]?.put(
                BoxTree("edts", [], [.full("elst", version: 1, numbers(1), wide)]))
            })
        }
      }
      var boxes = BoxTree.read(movie.fragmented())
      for place in boxes.indices where boxes[place].type == "moof" {
        boxes[place].edit("traf/tfdt") {
          $0.content = numbers(0x0100_0000) + big(UInt64(value) << 32 | UInt64(value))
        }
      }
      endure(boxes.flatMap(\.bytes))
    }
  }

  @Test("an `lhvC` whose counts lie")
  func layeredRecord() {
    for (place, value) in [(4, 0xFF), (5, 0xFF), (6, 0xFF), (7, 0xFF), (8, 0xFF), (9, 0)] {
      let bytes = movie.withVideo { entry in
        entry.edit("lhvC") { box in
          if box.content.indices.contains(place) { box.content[place] = UInt8(value) }
        }
      }
      for outcome in endure(bytes) {
        #expect(outcome.buffers["video_0"] == 6, "\(place): \(outcome)")
        #expect(outcome.buffers["audio_0"] ?? 0 > 0, "\(place): \(outcome)")
      }
    }
  }

  @Test("spatial metadata out of every range, and in boxes of no size")
  func spatialMetadata() {
    let nonsense: [BoxTree] = [
      BoxTree("vexu", numbers(0) + Array("eyes".utf8)),
      BoxTree("vexu", numbers(1) + Array("eyes".utf8)),
      BoxTree("vexu", [], [BoxTree("eyes", numbers(0) + Array("stri".utf8))]),
      BoxTree(
        "vexu", [],
        [
          BoxTree(
            "eyes", [],
            [
              .full("stri", [0xFF]), .full("hero", [0xFF]),
              BoxTree("cams", [], [.full("blin", numbers(Self.all))]),
              BoxTree("cmfy", [], [.full("dadj", numbers(0x8000_0000))]),
            ]), BoxTree("proj", [], [.full("prji", numbers(0))]),
          BoxTree("pack", [], [.full("pkin", numbers(Self.all))]),
        ]),
      BoxTree("hfov", numbers(Self.all)), BoxTree("hfov", numbers(0)),
      .full("st3d", [0xFF]), BoxTree("sv3d", [], [.full("svhd", Array("x".utf8))]),
      BoxTree("sv3d", [], [BoxTree("proj", [], [.full("equi", numbers(9, 9, 9, 9))])]),
    ]
    for box in nonsense {
      endure(
        movie.withVideo {
          $0.remove(box.type)
          $0.children.append(box)
        }
      ).arePlayed()
    }
  }

  @Test("any four bytes for the type of every box, sample entries and handlers too", .tags(.long))
  func types() {
    let boxes = BoxTree.boundaries(movie.bytes[...]).sorted().filter {
      $0 + 8 <= movie.bytes.count
    }
    for place in boxes {
      for type in ["\0\0\0\0", "moov", "trak", "free"] {
        var bytes = movie.bytes
        bytes.replaceSubrange(place + 4..<place + 8, with: Array(type.utf8))
        endure(bytes)
      }
    }
  }
}
