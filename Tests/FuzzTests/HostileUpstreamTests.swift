// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import FuzzTargets
import GStreamer
import TestElements
import TestKit
import Testing

/// Upstreams that fail, flush, lie or give less than they are asked for, and applications that seek
/// anywhere.
@Suite(.serialized)
struct HostileUpstreamTests {
  let movie: SeedMovie

  init() async throws {
    try BuiltPlugin.require()
    movie = try await SeedMovies.own()
  }

  private var forms: [[UInt8]] {
    [movie.bytes, movie.indexFirst, movie.fragmented(), movie.byteStream]
  }

  /// Places in a file, about a hundred of them.
  private func places(_ bytes: [UInt8]) -> [Int] {
    Array(stride(from: 0, to: bytes.count, by: max(1, bytes.count / 100)))
  }

  @Test(
    "upstream fails at any byte", .tags(.long),
    arguments: [GST_FLOW_ERROR.rawValue, GST_FLOW_NOT_NEGOTIATED.rawValue, GST_FLOW_EOS.rawValue])
  func failure(flow: Int32) {
    for bytes in forms {
      for place in places(bytes) {
        for pulls in [true, false] {
          var upstream = Upstream(byPulling: pulls)
          upstream.failure = (place, GstFlowReturn(flow))
          endure(bytes, upstream)
        }
      }
    }
  }

  @Test("upstream flushes at any byte: pull mode stops, push mode continues")
  func flushing() {
    for bytes in forms {
      for place in places(bytes) {
        var upstream = Upstream(byPulling: true)
        upstream.failure = (place, GST_FLOW_FLUSHING)
        let pulled = play(bytes, upstream)
        #expect(pulled.errors == [])
        #expect(!pulled.hangs)
        upstream.byPulling = false
        endure(bytes, upstream)
      }
    }
  }

  @Test("reads that return less than requested, down to a byte", arguments: [1, 7, 100, 4096])
  func shortReads(size: Int) {
    for bytes in forms {
      var upstream = Upstream(byPulling: true)
      upstream.longestRead = size
      endure(bytes, upstream)
      upstream.knowsSize = false
      endure(bytes, upstream)
    }
  }

  @Test("a file of unknown size is played")
  func unknownSize() {
    for bytes in forms {
      var upstream = Upstream(byPulling: true)
      upstream.knowsSize = false
      endure(bytes, upstream).arePlayed(audio: bytes != movie.byteStream)
    }
  }

  @Test("seeks to anywhere at any speed, in intact and in damaged files")
  func seeks() {
    let flags = [
      GST_SEEK_FLAG_FLUSH.rawValue,
      GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue,
      GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_KEY_UNIT.rawValue
        | GST_SEEK_FLAG_SNAP_NEAREST.rawValue,
      GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_SEGMENT.rawValue,
      GST_SEEK_FLAG_SEGMENT.rawValue,
    ].map { GstSeekFlags($0) }
    let times = [0, 1, 100_000_000, 199_999_999, 200_000_000, 1 << 40, .max - 1, .max]
    let rates = [
      1, -1, 0.5, -2, 1000, -1e9, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
      .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .infinity, .nan,
    ]
    var dice = SplitMix(state: 9)
    func seek() -> Upstream.SeekRequest {
      Upstream.SeekRequest(
        rate: rates.randomElement(using: &dice) ?? 1,
        flags: flags.randomElement(using: &dice) ?? GST_SEEK_FLAG_FLUSH,
        start: times.randomElement(using: &dice) ?? 0,
        stop: Bool.random(using: &dice) ? -1 : times.randomElement(using: &dice) ?? -1)
    }
    for bytes in forms {
      for round in 0..<60 {
        var damaged = bytes
        if round > 10 {
          for _ in 0..<round / 10 {
            damaged[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(
              in: 0...255, using: &dice)
          }
        }
        var upstream = Upstream(byPulling: true)
        upstream.seeks = (0..<6).map { _ in seek() }
        let outcome = play(damaged, upstream)
        #expect(!outcome.hangs, "round \(round): \(upstream.seeks)")
      }
    }
  }

  @Test("unlinked audio ends with a file that is cut off, and the eyes play")
  func unlinkedBeyondTheEnd() {
    let bytes = movie.with { moov in
      guard let place = moov.children.lastIndex(where: { $0.type == "trak" }) else { return }
      moov.children[place].remove("edts")
      moov.children[place].edit("mdia/minf/stbl") { stbl in
        stbl.put(.full("stts", numbers(1, 1_000_000, 1)))
        stbl.put(.full("stsc", numbers(1, 1, 1_000_000, 1)))
        stbl.put(.full("stsz", numbers(2, 1_000_000)))
        stbl.put(.full("stco", numbers(1, 100)))
      }
    }
    for mode in DamageCampaign.Mode.allCases {
      let outcome = play(bytes, mode.upstream, leaving: ["audio_0", "video_0"])
      #expect(outcome.errors == [], "\(mode)")
      #expect(outcome.buffers["left"] == 6, "\(mode): \(outcome)")
      #expect(outcome.endedPads == ["left", "right"], "\(mode): \(outcome)")
    }
  }

  // MARK: Caps

  private func isEndured(
    codecData: [UInt8]?, layered: [UInt8]? = nil, format: String = "hvc1",
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> DemuxOutcome? {
    func hex(_ bytes: [UInt8]) -> String {
      bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    let units = movie.accessUnits
    var upstream = Upstream(byPulling: false)
    upstream.caps = "video/x-h265, stream-format=\(format), alignment=au"
    if let codecData { upstream.caps? += ", codec_data=(buffer)\(hex(codecData))" }
    if let layered { upstream.caps? += ", layered_codec_data=(buffer)\(hex(layered))" }
    upstream.firstChunks = units.map(\.count)
    return endure(units.flatMap { $0 }, upstream, sourceLocation: sourceLocation).first
  }

  @Test("caps with `codec_data` that is broken in every way")
  func codecData() {
    let (base, layered) = movie.records
    let audio = isEndured(codecData: base, layered: layered)
    #expect(audio?.buffers["left"] == 6, "\(String(describing: audio))")
    for size in 1..<base.count { _ = isEndured(codecData: Array(base.prefix(size))) }
    for size in 1..<layered.count {
      let outcome = isEndured(codecData: base, layered: Array(layered.prefix(size)))
      #expect(outcome?.errors != [] || outcome?.bufferCount ?? 0 > 0)
    }
    for place in base.indices {
      for byte in [0, 0x7F, 0xFF] as [UInt8] {
        var broken = base
        broken[place] = byte
        _ = isEndured(codecData: broken, layered: layered)
      }
    }
    for place in layered.indices {
      for byte in [0, 0x7F, 0xFF] as [UInt8] {
        var broken = layered
        broken[place] = byte
        _ = isEndured(codecData: base, layered: broken)
      }
    }
    _ = isEndured(codecData: nil)
    _ = isEndured(codecData: base, format: "byte-stream")
    _ = isEndured(codecData: base, format: "hev1")
    _ = isEndured(codecData: [UInt8](repeating: 0xFF, count: 60_000))
  }

  @Test("access units in length prefixes that are damaged")
  func accessUnits() {
    let (base, _) = movie.records
    var dice = SplitMix(state: 5)
    for _ in 0..<300 {
      var units = movie.accessUnits.flatMap { $0 }
      for _ in 0..<3 {
        units[Int.random(in: 0..<units.count, using: &dice)] = UInt8.random(
          in: 0...255, using: &dice)
      }
      var upstream = Upstream(byPulling: false)
      upstream.caps =
        "video/x-h265, stream-format=hvc1, alignment=au, codec_data=(buffer)"
        + base.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      upstream.firstChunks = movie.accessUnits.map(\.count)
      endure(units, upstream)
    }
  }
}
