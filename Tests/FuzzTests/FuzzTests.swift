// SPDX-License-Identifier: MPL-2.0

import Foundation
import FuzzTargets
import GStreamer
import TestElements
import TestKit
import Testing

/// Input that no reader may come to harm by: what `make fuzz` found, and a short run with numbers
/// that are the same every time. A trap would end the process, and with it the test.
@Suite(.serialized)
struct FuzzTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

  /// The longest that an input of these sizes may keep the processor busy, in seconds.
  private static let limit = 20.0

  private static func files(_ folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().filter { !$0.hasPrefix(".") }.map { folder.appending(path: $0) }
  }

  private static func bytes(_ file: URL) throws -> [UInt8] { [UInt8](try Data(contentsOf: file)) }

  private func run(_ target: FuzzTarget, _ bytes: [UInt8], _ what: @autoclosure () -> String) {
    let start = clock()
    target.run(bytes)
    let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    #expect(seconds < Self.limit * machineSlowness, "\(target), \(what())")
  }

  init() throws {
    try BuiltPlugin.require()
  }

  @Test("inputs found by fuzzing do no harm", arguments: FuzzTarget.allCases)
  func regressions(target: FuzzTarget) throws {
    for file in Self.files(Self.folder.appending(path: "Regressions/\(target.rawValue)")) {
      run(target, try Self.bytes(file), file.lastPathComponent)
    }
  }

  @Test("damaged seeds do no harm", .tags(.long), arguments: FuzzTarget.allCases)
  func damage(target: FuzzTarget) throws {
    try damage(target, rounds: target.needsPlugin ? 50 : 1000)
  }

  @Test("more damaged seeds do no harm", .tags(.exhaustive), arguments: FuzzTarget.allCases)
  func campaign(target: FuzzTarget) throws {
    try damage(target, rounds: target.needsPlugin ? 150 : 3000)
  }

  private func damage(_ target: FuzzTarget, rounds: Int) throws {
    let seeds = try seeds(target)
    try #require(!seeds.isEmpty)
    var generator = SplitMix(state: 20_261_121)
    for round in 0..<rounds {
      let seed = seeds[round % seeds.count]
      run(target, damaged(seed, &generator), "round \(round)")
    }
  }

  private func seeds(_ target: FuzzTarget) throws -> [[UInt8]] {
    let kind =
      switch target {
      case .boxes, .player, .demuxPush, .demuxPull: "movies"
      case .slices, .flatten, .splitEyes, .weave: "streams"
      case .flattenMVC, .pairMVC: "mvc"
      case .transportStream: "transport-streams"
      case .parameterSets: "parameter-sets"
      case .recovery: "recordings"
      case .playlists: "playlists"
      case .immersive: "immersive"
      case .geometry: "geometry"
      }
    return try Self.files(Self.folder.appending(path: "Seeds/\(kind)")).map(Self.bytes)
  }

  /// A seed with bytes changed, cut out, doubled or cut off.
  private func damaged(_ seed: [UInt8], _ generator: inout SplitMix) -> [UInt8] {
    var bytes = seed
    let extremes: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
    for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      let end = min(place + Int.random(in: 1...40, using: &generator), bytes.count)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: bytes.removeSubrange(place..<end)
      case 1: bytes.insert(contentsOf: bytes[place..<end], at: place)
      case 2: bytes.removeSubrange(place...)
      case 3: bytes[place] = extremes[Int.random(in: 0..<5, using: &generator)]
      case 4: for index in place..<min(place + 4, bytes.count) { bytes[index] = 0xFF }
      case 5: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      default: bytes[place] = UInt8.random(in: 0...255, using: &generator)
      }
    }
    return bytes
  }
}
