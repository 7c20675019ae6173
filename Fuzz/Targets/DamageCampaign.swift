// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Glibc

/// Every way in which a file is cut off or has one wrong byte, played with `mvhevcdemux` in both
/// modes, and pushed by an upstream that seeks: each has to give an error or the part that can be
/// read, soon.
public struct DamageCampaign {
  /// A file, and what it is called.
  public struct Seed: Sendable {
    public let name: String
    public let bytes: [UInt8]

    public init(_ name: String, _ bytes: [UInt8]) {
      (self.name, self.bytes) = (name, bytes)
    }

    /// The forms of one movie.
    public static func all(_ name: String, _ movie: SeedMovie) -> [Seed] {
      [
        Seed(name, movie.bytes), Seed("\(name), index first", movie.indexFirst),
        Seed("\(name), fragmented", movie.fragmented()),
        Seed("\(name), byte stream", movie.byteStream),
      ]
    }
  }

  public enum Damage: Sendable {
    case cut(at: Int)
    case byte(at: Int, UInt8)
  }

  /// How the file comes.
  public enum Mode: String, CaseIterable, Sendable {
    case pulled, pushed
    /// Pushed by an upstream that goes to any byte.
    case seekable

    public var upstream: Upstream {
      var upstream = Upstream(byPulling: self == .pulled)
      upstream.isSeekable = self == .seekable
      return upstream
    }
  }

  public struct Case: Sendable, CustomStringConvertible {
    public let seed: Int
    public let damage: Damage
    public let mode: Mode
    public let description: String
  }

  public let seeds: [Seed]
  public let cases: [Case]

  /// - Parameters:
  ///   - boundaryShare: one of so many box boundaries is cut at.
  ///   - cuts: random places at which each seed is cut.
  ///   - bytes: random single-byte corruptions of all seeds together.
  public init(_ seeds: [Seed], boundaryShare: Int = 1, cuts: Int, bytes: Int, number: UInt64) {
    self.seeds = seeds
    var generator = SplitMix(state: number)
    var all: [(seed: Int, damage: Damage)] = []
    for (index, seed) in seeds.enumerated() {
      let boundaries = BoxTree.boundaries(seed.bytes[...]).sorted()
      for (place, boundary) in boundaries.enumerated() where place % max(1, boundaryShare) == 0 {
        all.append((index, .cut(at: boundary)))
      }
      for _ in 0..<cuts {
        all.append((index, .cut(at: Int.random(in: 0..<seed.bytes.count, using: &generator))))
      }
    }
    // Half of the places are in the index, where more depends on a byte.
    let indexes = seeds.map { Self.indexPlaces($0.bytes) }
    for round in 0..<bytes {
      let index = round % seeds.count
      let seed = seeds[index].bytes
      let anywhere = Int.random(in: 0..<seed.count, using: &generator)
      let place =
        Bool.random(using: &generator)
        ? anywhere : indexes[index].randomElement(using: &generator) ?? anywhere
      let extreme = ([0, 1, 0x7F, 0x80, 0xFF] as [UInt8]).randomElement(using: &generator) ?? 0
      let value =
        Bool.random(using: &generator) ? extreme : UInt8.random(in: 0...255, using: &generator)
      all.append((index, .byte(at: place, value == seed[place] ? value ^ 1 : value)))
    }
    cases = all.flatMap { one in
      Mode.allCases.map { mode in
        Case(
          seed: one.seed, damage: one.damage, mode: mode,
          description: "\(seeds[one.seed].name), \(one.damage), \(mode)")
      }
    }
  }

  /// The places of a file that are not those of samples.
  private static func indexPlaces(_ bytes: [UInt8]) -> [Int] {
    var places: [Int] = []
    var start = 0
    for box in BoxTree.read(bytes) {
      let end = start + box.bytes.count
      places += start..<(box.type == "mdat" ? min(start + 8, end) : end)
      start = end
    }
    return places
  }

  /// The bytes of a case.
  public func bytes(of one: Case) -> [UInt8] {
    var bytes = seeds[one.seed].bytes
    switch one.damage {
    case .cut(let place): bytes.removeSubrange(place...)
    case .byte(let place, let value): bytes[place] = value
    }
    return bytes
  }

  /// What is wrong with what a case gives; nil where all is well.
  public func complaint(about one: Case) -> String? {
    let bytes = bytes(of: one)
    let start = clock()
    let outcome = play(bytes, one.mode.upstream)
    let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    if outcome.hangs { return "\(one): does not end" }
    if seconds > 2 { return "\(one): takes \(seconds) s" }
    return outcome.isSilent ? "\(one): no error, and nothing to see: \(outcome)" : nil
  }
}

/// Numbers that are the same in every run.
public struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  public init(state: UInt64) { self.state = state }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
