// SPDX-License-Identifier: MPL-2.0

import Foundation
import FuzzTargets
import GStreamer
import TestElements
import TestKit
import Testing

/// What GStreamer's own demuxers were once broken by, one test for each class of advisories on
/// MP4. Each file gives an error or what can be read of it.
@Suite(.serialized)
struct AdvisoryTests {
  let movie: SeedMovie

  init() async throws {
    try BuiltPlugin.require()
    movie = try await SeedMovies.own()
  }

  private static let all = UInt32.max
  private static let zeros = [UInt8](repeating: 0, count: 64)

  /// The movie with a table of its video in another form.
  private func withTable(_ table: BoxTree) -> [UInt8] {
    movie.with { $0.edit(SeedMovie.table) { $0.put(table) } }
  }

  @Test("CVE-2022-2122: a compressed index is refused, whatever size it promises")
  func compressedIndex() {
    let bomb = movie.with { moov in
      moov.children = [
        BoxTree(
          "cmov", [],
          [
            BoxTree("dcom", Array("zlib".utf8)), BoxTree("cmvd", numbers(Self.all, 0x789C_0300)),
          ])
      ]
    }
    endure(bomb).areRefused("compressed")
  }

  @Test(
    "CVE-2024-47537: a run of so many samples that their rows overflow 32 bits",
    arguments: [0x1000_0001, 0x4000_0001, 0xFFFF_FFFF] as [UInt32])
  func runOverflow(count: UInt32) {
    var boxes = BoxTree.read(movie.fragmented())
    guard let second = boxes.lastIndex(where: { $0.type == "moof" }) else { return }
    boxes[second].edit("traf/trun") { $0.content.replaceSubrange(4..<8, with: big(count)) }
    endure(boxes.flatMap(\.bytes)).areWarned("damaged or cut off")
  }

  @Test(
    "CVE-2024-47598: tables of raw audio that are shorter than their counts",
    arguments: ["stts", "stsc", "stco"])
  func shortAudioTables(type: String) {
    let bytes = movie.with { moov in
      guard let place = moov.children.lastIndex(where: { $0.type == "trak" }) else { return }
      moov.children[place].edit("mdia/minf/stbl/\(type)") {
        $0.content.replaceSubrange(4..<8, with: big(0x1000_0000 as UInt32))
      }
    }
    endure(bytes).arePlayed(audio: false)
  }

  @Test("CVE-2024-47539, CVE-2024-47546: captions in boxes of odd and of too small sizes")
  func captions() {
    for handler in ["clcp", "text", "sbtl"] {
      let bytes = movie.with { moov in
        guard let place = moov.children.lastIndex(where: { $0.type == "trak" }) else { return }
        moov.children[place].edit("mdia/hdlr") {
          $0.content.replaceSubrange(8..<12, with: Array(handler.utf8))
        }
        moov.children[place].edit("mdia/minf/stbl/stsd") { stsd in
          stsd.children = [BoxTree(handler == "clcp" ? "c608" : "tx3g", numbers(0, 1))]
        }
        // At the movie's `mdat`: sizes of anything.
        moov.children[place].edit("mdia/minf/stbl/stsz") { $0.content = numbers(0, 7, 5) }
      }
      let outcomes = endure(bytes)
      outcomes.arePlayed(audio: false)
      for outcome in outcomes { #expect(outcome.buffers["meta_0"] ?? 0 > 0, "\(outcome)") }
    }
  }

  @Test("CVE-2024-47543: a sound description whose `wave` is shorter than its own header")
  func shortWave() {
    for wave in [[], [0], numbers(4), numbers(12) + Array("fr".utf8)] as [[UInt8]] {
      let version1 = numbers(1, 2, 2, 2)
      endure(
        movie.withAudio(
          audio("mp4a", version: 1, extra: version1, BoxTree("wave", wave)))
      ).arePlayed(audio: false)
      // The last box of the entry is cut off within its header.
      endure(
        movie.withAudio(
          audio("mp4a", version: 1, extra: version1 + numbers(12) + Array("wav".utf8)))
      ).arePlayed(audio: false)
    }
  }

  @Test(
    "CVE-2024-47545: sample entries longer than their box, and shorter than their own fields",
    arguments: [0, 1, 7, 8, 15, 16, 40, 85, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32])
  func entrySizes(size: UInt32) {
    let bytes = movie.with { moov in
      moov.edit("\(SeedMovie.table)/stsd") { stsd in
        var all = stsd.content + stsd.children.flatMap(\.bytes)
        all.replaceSubrange(8..<12, with: big(size))
        stsd = BoxTree("stsd", all)
      }
    }
    for outcome in endure(bytes) {
      #expect(outcome.errors != [] || outcome.buffers["audio_0"] ?? 0 > 0, "\(outcome)")
    }
  }

  @Test("CVE-2024-47544: encrypted entries and key groups whose parts are missing")
  func encryption() {
    let parts: [[BoxTree]] = [
      [], [BoxTree("sinf")], [BoxTree("sinf", [], [BoxTree("schm", [0])])],
      [
        BoxTree(
          "sinf", [],
          [BoxTree("frma", Array("hvc1".utf8)), BoxTree("schi", [], [BoxTree("tenc", [0, 0])])])
      ],
    ]
    for part in parts {
      let bytes = movie.with { moov in
        moov.edit("\(SeedMovie.table)/stsd") { stsd in
          for index in stsd.children.indices {
            stsd.children[index].type = "encv"
            stsd.children[index].children += part
          }
        }
        moov.edit(SeedMovie.table) { stbl in
          stbl.children += [
            .full("sgpd", version: 1, Array("seig".utf8), numbers(20, 2), [0, 0, 1]),
            .full("sbgp", Array("seig".utf8), numbers(Self.all, Self.all, 0x10001)),
            .full("senc", flags: 2, numbers(Self.all)),
            .full("saiz", [9], numbers(Self.all)), .full("saio", numbers(Self.all)),
          ]
        }
      }
      for outcome in endure(bytes) {
        #expect(outcome.buffers["audio_0"] ?? 0 > 0, "\(outcome)")
        #expect(outcome.buffers["video_0"] == 6, "\(outcome)")
      }
    }
  }

  @Test(
    "CVE-2024-47597: sample tables cut off within their rows",
    arguments: ["stsc", "stts", "ctts", "stss", "stco", "stsz", "sdtp", "stsd"])
  func cutTables(type: String) {
    for keep in [0, 3, 4, 6, 8, 10, 11] {
      let bytes = movie.with { moov in
        moov.edit("\(SeedMovie.table)/\(type)") { table in
          table = BoxTree(type, Array((table.content + Self.zeros).prefix(keep)))
        }
      }
      for outcome in endure(bytes) {
        #expect(outcome.buffers["audio_0"] ?? 0 > 0, "\(keep): \(outcome)")
      }
      // As the first of its kind, with a count of rows that are not there.
      endure(withTable(.full(type, numbers(Self.all, 1))))
    }
  }

  @Test("CVE-2024-47606: sizes near 2^32 and 2^64 that would be handed to an allocator")
  func hugeSizes() {
    for size in [0x7FFF_FFFF, 0xFFFF_FFF0, 0xFFFF_FFFF] as [UInt32] {
      let outcomes = endure(withTable(.full("stsz", numbers(size, 6))))
      for outcome in outcomes { #expect(outcome.buffers["audio_0"] ?? 0 > 0, "\(outcome)") }
      let rows = numbers(size, size, size, size, size, size)
      endure(withTable(.full("stsz", numbers(0, 6), rows)))
    }
    for size in [17, 1 << 32, UInt64(Int64.max), .max - 7, .max] as [UInt64] {
      let bytes = movie.withVideo { entry in
        let last = BoxTree("lhvC", big(size) + Self.zeros)
        var all = entry.content + entry.children.flatMap(\.bytes)
        all += numbers(1) + Array(last.type.utf8) + last.content
        entry = BoxTree("hvc1", all)
      }
      for outcome in endure(bytes) {
        #expect(outcome.errors != [] || outcome.buffers["audio_0"] ?? 0 > 0, "\(outcome)")
      }
      // At the top level.
      endure(numbers(1) + Array("mdat".utf8) + big(size) + movie.bytes)
      endure(numbers(1) + Array("moov".utf8) + big(size) + movie.bytes)
    }
  }

  @Test(
    "CVE-2024-47596: codec configurations of no more than a few bytes", .tags(.long),
    arguments: [
      ("mp4a", "esds"), ("Opus", "dOps"), ("fLaC", "dfLa"), ("alac", "alac"), ("ac-3", "dac3"),
      ("ec-3", "dec3"), (".mp3", "esds"), ("ipcm", "pcmC"), ("lpcm", "pcmC"),
    ])
  func shortConfigurations(entry: String, configuration: String) {
    for size in [0, 1, 3, 4, 5, 11, 18] {
      for byte in [0, 0xFF] as [UInt8] {
        let box = BoxTree(configuration, [UInt8](repeating: byte, count: size))
        endure(movie.withAudio(audio(entry, box))).arePlayed(audio: false)
      }
    }
  }

  @Test(
    "CVE-2024-47596: video configurations of no more than a few bytes", .tags(.long),
    arguments: ["hvcC", "lhvC", "vexu", "hfov", "colr", "pasp", "clap", "mdcv", "clli", "st3d"])
  func shortVideoConfigurations(type: String) {
    for size in [0, 1, 3, 4, 5, 8, 21, 22, 23, 24] {
      for byte in [0, 1, 0xFF] as [UInt8] {
        let bytes = movie.withVideo {
          $0.remove(type)
          $0.children.append(BoxTree(type, [UInt8](repeating: byte, count: size)))
        }
        for outcome in endure(bytes) {
          #expect(outcome.buffers["audio_0"] ?? 0 > 0, "\(size): \(outcome)")
          #expect(outcome.buffers["video_0"] == 6, "\(size): \(outcome)")
        }
      }
    }
  }

  @Test(
    "CVE-2025-47219, CVE-2025-47183: boxes shorter than their version demands",
    arguments: [
      "mvhd", "trak/tkhd", "trak/mdia/mdhd", "trak/edts/elst", "trak/mdia/hdlr", "meta",
      "trak/mdia/minf/stbl/stts",
    ])
  func versions(path: String) {
    for version in [1, 2, 255] as [UInt8] {
      endure(
        movie.with { moov in
          moov.edit(path) { box in
            if box.content.isEmpty { box.content = [version] } else { box.content[0] = version }
          }
        })
    }
    for size in [0, 3, 4, 8, 12, 19, 20, 24] {
      endure(
        movie.with { moov in
          moov.edit(path) { $0 = BoxTree($0.type, Array($0.content.prefix(size))) }
        })
    }
  }

  @Test("CVE-2026-46471: a protection header with more key identifiers than bytes")
  func protection() {
    let headers = [
      BoxTree.full("pssh", version: 1, [UInt8](repeating: 7, count: 16), numbers(Self.all)),
      BoxTree.full("pssh", version: 1, [1, 2, 3]), BoxTree("pssh"),
      BoxTree.full("pssh", [UInt8](repeating: 7, count: 16), numbers(Self.all, 1)),
    ]
    endure(movie.with { $0.children += headers }).arePlayed()
    endure(movie.bytes + headers.flatMap(\.bytes)).arePlayed()
  }

  @Test("CVE-2026-5056, SA-2026-0025: uncompressed video with hostile components and strides")
  func uncompressed() {
    for count in [1, 0xFFFF, Self.all] {
      let boxes = [
        BoxTree("cmpd", numbers(count, 0, Self.all)),
        .full("uncC", numbers(0, count), Self.zeros.map { _ in 0xFF }),
        .full("cpat", big(0xFFFF as UInt16), big(0xFFFF as UInt16), numbers(Self.all)),
      ]
      let bytes = movie.with { moov in
        moov.edit("\(SeedMovie.table)/stsd") { stsd in
          for index in stsd.children.indices {
            stsd.children[index].type = "uncv"
            stsd.children[index].children = boxes
          }
        }
      }
      for outcome in endure(bytes) { #expect(outcome.buffers["video_0"] == 6, "\(outcome)") }
    }
    // Width and height in the sample entry.
    for size in [0, 1, 0xFFFF] as [UInt16] {
      endure(movie.withVideo { $0.content.replaceSubrange(24..<28, with: big(size) + big(size)) })
        .arePlayed()
    }
  }

  @Test(
    "CVE-2026-46469, CVE-2026-46470, CVE-2026-46472: hostile channel layouts and rates",
    .tags(.long, .exhaustive))
  func channels() {
    let layouts: [BoxTree] = [
      .full("chan", numbers(0, 0, Self.all)), .full("chan", numbers(1 << 16, Self.all, 0)),
      .full("chan", numbers(Self.all, 0, 2), Self.zeros.map { _ in 0xFF }), .full("chan"),
      .full("chnl", [1, 0xFF], Self.zeros), .full("chnl", [1, 0] + Self.zeros.map { _ in 200 }),
      .full("chnl", [3]), .full("srat", numbers(0)), .full("pcmC", [1, 0]),
    ]
    for type in ["lpcm", "sowt", "ipcm", "twos", "in24", "fl64"] {
      for layout in layouts {
        for (channels, bits, rate) in [
          (0, 16, 8000 << 16), (64, 16, 8000 << 16), (0xFFFF, 0xFFFF, Self.all), (1, 0, 0),
          (1, 8, 1),
        ] as [(UInt16, UInt16, UInt32)] {
          endure(
            movie.withAudio(audio(type, channels: channels, bits: bits, rate: rate, layout))
          ).arePlayed(audio: false)
        }
      }
    }
    // Version 2 of QuickTime's sound description.
    let rate = big(Double.infinity.bitPattern)
    for tail in [numbers(0, 0, 0, 0), numbers(Self.all, Self.all, Self.all, Self.all)] {
      for start in [numbers(72) + rate, numbers(Self.all) + big(UInt64(0)), [0, 0]] {
        endure(movie.withAudio(audio("lpcm", version: 2, extra: start + tail + Self.zeros)))
          .arePlayed(audio: false)
      }
    }
  }

  @Test("SA-2026-0050: files that end within what their sizes promise are not rebuilt from them")
  func lyingSizes() {
    for size in [0x10, 0x1000, 0x7FFF_FFFF, Self.all] {
      var bytes = movie.bytes
      if let place = bytes.firstRange(of: Array("mdat".utf8))?.lowerBound {
        bytes.replaceSubrange(place - 4..<place, with: big(size))
      }
      endure(bytes)
      var first = movie.indexFirst
      if let place = first.lastRange(of: Array("mdat".utf8))?.lowerBound {
        first.replaceSubrange(place - 4..<place, with: big(size))
      }
      endure(first).arePlayed()
    }
  }

  @Test("2026-03: descriptors of `esds` with lengths that lie, and matrices that overflow")
  func descriptorsAndMatrices() {
    for length in [[0x7F], [0xFF, 0xFF, 0xFF, 0x7F], [0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x80]] {
      for tag in [3, 4, 5, 6] as [UInt8] {
        let box = BoxTree.full(
          "esds", [tag] + length.map { UInt8($0) } + [0, 1, 0, 4, 0x11, 0x40, 0x15, 5, 2])
        endure(movie.withAudio(audio("mp4a", box))).arePlayed(audio: false)
      }
    }
    for value in [0x8000_0000, 0x7FFF_FFFF, Self.all] {
      let matrix = (0..<9).flatMap { _ in big(value) }
      endure(
        movie.with { moov in
          moov.edit("trak/tkhd") { $0.content.replaceSubrange(40..<76, with: matrix) }
          moov.edit("mvhd") { $0.content.replaceSubrange(36..<72, with: matrix) }
        }
      ).arePlayed()
    }
  }
}
