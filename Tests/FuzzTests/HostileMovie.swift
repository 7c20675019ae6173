// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import GStreamer
import Glibc
import TestKit
import Testing

extension BoxTree {
  /// A box that begins with a version and flags.
  static func full(
    _ type: String, version: UInt8 = 0, flags: UInt32 = 0, _ contents: [UInt8]...
  ) -> BoxTree {
    BoxTree(type, big(UInt32(version) << 24 | flags) + contents.flatMap { $0 })
  }

  /// Changes the box at a path below this one.
  mutating func edit(
    _ path: String, _ change: (inout BoxTree) -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard var box = self[path] else {
      Issue.record("there is no \(path)", sourceLocation: sourceLocation)
      return
    }
    change(&box)
    self[path] = box
  }

  /// Replaces the first box of its type, or adds the box after the others.
  mutating func put(_ box: BoxTree) {
    if self[box.type] != nil { self[box.type] = box } else { children.append(box) }
  }
}

func numbers(_ values: UInt32...) -> [UInt8] { values.flatMap { big($0) } }

extension SeedMovie {
  static let table = "trak/mdia/minf/stbl"

  /// The movie with another index; where the samples lie does not change.
  func with(index change: (inout BoxTree) -> Void) -> [UInt8] {
    var boxes = BoxTree.read(bytes)
    for place in boxes.indices where boxes[place].type == "moov" { change(&boxes[place]) }
    return boxes.flatMap(\.bytes)
  }

  /// The movie with its video alone, and with other sample tables.
  func withTables(_ tables: BoxTree..., timescale: UInt32? = nil) -> [UInt8] {
    with { moov in
      moov.keepFirstTrack()
      moov["trak"]?.remove("edts")
      moov.edit(Self.table) { stbl in
        stbl.children = stbl.children.filter { $0.type == "stsd" } + tables
      }
      if let timescale {
        moov.edit("trak/mdia/mdhd") { $0.content.replaceSubrange(12..<16, with: big(timescale)) }
      }
    }
  }
}

extension BoxTree {
  mutating func remove(_ type: String) { children.removeAll { $0.type == type } }

  mutating func keepFirstTrack() {
    guard let track = self["trak"] else { return }
    children.removeAll { $0.type == "trak" }
    children.append(track)
  }
}

/// Plays a hostile file in every mode, and sees to it that this takes neither time nor memory.
///
/// - Returns: what came out in pull mode, in push mode, and pushed by an upstream that seeks.
@discardableResult
func endure(
  _ bytes: [UInt8], _ upstream: Upstream? = nil, seeks: [Upstream.SeekRequest] = [],
  sourceLocation: SourceLocation = #_sourceLocation
) -> [DemuxOutcome] {
  let upstreams =
    upstream.map { [$0] }
    ?? DamageCampaign.Mode.allCases.map { mode in
      var upstream = mode.upstream
      upstream.chunkSize = 65536
      upstream.seeks = seeks
      return upstream
    }
  return upstreams.map { upstream in
    var played: DemuxOutcome?
    var seconds = 0.0
    let memory = try? peakMemory {
      let start = clock()
      played = play(bytes, upstream)
      seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    }
    guard let outcome = played else {
      Issue.record("The kernel does not tell how much memory there is.")
      return play(bytes, upstream)
    }
    let mode = upstream.byPulling ? "pulled" : upstream.isSeekable ? "seekable" : "pushed"
    #expect(!outcome.hangs, "\(mode)", sourceLocation: sourceLocation)
    // Many times what it takes on a slow machine: what is not bounded takes minutes.
    #expect(seconds < 60 * machineSlowness, "\(mode)", sourceLocation: sourceLocation)
    #expect(memory ?? .max < 64 << 20, "\(mode)", sourceLocation: sourceLocation)
    #expect(!outcome.isSilent, "\(mode): \(outcome)", sourceLocation: sourceLocation)
    return outcome
  }
}

extension SeedMovie {
  /// The movie with another description of its sound.
  func withAudio(_ entry: BoxTree) -> [UInt8] {
    with { moov in
      guard let place = moov.children.lastIndex(where: { $0.type == "trak" }) else { return }
      moov.children[place].edit("mdia/minf/stbl/stsd") { $0.children = [entry] }
    }
  }

  /// The movie with another description of its video.
  func withVideo(_ change: (inout BoxTree) -> Void) -> [UInt8] {
    with { $0.edit("\(Self.table)/stsd/hvc1", change) }
  }
}

/// An audio sample entry of version 0, with boxes after its fields.
func audio(
  _ type: String, version: UInt16 = 0, channels: UInt16 = 1, bits: UInt16 = 16,
  rate: UInt32 = 8000 << 16, extra: [UInt8] = [], _ children: BoxTree...
) -> BoxTree {
  BoxTree(
    type,
    numbers(0, 1) + big(version) + [UInt8](repeating: 0, count: 6) + big(channels) + big(bits)
      + numbers(0, rate) + extra, children)
}

extension [DemuxOutcome] {
  /// Checks that what could be read was: frames of both eyes, and sound where `audio` says so.
  func arePlayed(audio: Bool = true, sourceLocation: SourceLocation = #_sourceLocation) {
    for outcome in self {
      #expect(outcome.errors == [], sourceLocation: sourceLocation)
      #expect(outcome.buffers["left"] == 6, "\(outcome)", sourceLocation: sourceLocation)
      #expect(outcome.buffers["right"] ?? 0 >= 6, "\(outcome)", sourceLocation: sourceLocation)
      if audio {
        #expect(outcome.buffers["audio_0"] ?? 0 > 0, "\(outcome)", sourceLocation: sourceLocation)
      }
    }
  }

  /// Checks that the one error says this.
  func areRefused(_ reason: String, sourceLocation: SourceLocation = #_sourceLocation) {
    for outcome in self {
      #expect(
        outcome.errors.contains { $0.contains(reason) }, "\(outcome)",
        sourceLocation: sourceLocation)
    }
  }

  /// Checks that a part was played, with a warning that says this.
  func areWarned(_ reason: String, sourceLocation: SourceLocation = #_sourceLocation) {
    for outcome in self {
      #expect(outcome.bufferCount > 0, "\(outcome)", sourceLocation: sourceLocation)
      #expect(
        outcome.warnings.contains { $0.contains(reason) }, "\(outcome)",
        sourceLocation: sourceLocation)
    }
  }
}
