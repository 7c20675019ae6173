// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Glibc

/// Plays files that are cut off or have one wrong byte with `mvhevcdemux`: pulled, pushed, and
/// pushed by an upstream that seeks. Each case must soon give an error or the readable part.
public struct DamageCampaign {
  /// A file and its name.
  public struct Seed: Sendable {
    /// The name of the file, for messages.
    public let name: String
    /// The content of the file.
    public let bytes: [UInt8]

    /// Creates a seed.
    public init(_ name: String, _ bytes: [UInt8]) {
      (self.name, self.bytes) = (name, bytes)
    }

    /// Returns all forms of one movie.
    public static func all(_ name: String, _ movie: SeedMovie) -> [Seed] {
      [
        Seed(name, movie.bytes), Seed("\(name), index first", movie.indexFirst),
        Seed("\(name), fragmented", movie.fragmented()),
        Seed("\(name), byte stream", movie.byteStream),
      ]
    }
  }

  /// A change to a file: the end cut off, or one byte replaced.
  public enum Damage: Sendable {
    case cut(at: Int)
    case byte(at: Int, UInt8)
  }

  /// How the demuxer gets the file.
  public enum Mode: String, CaseIterable, Sendable {
    case pulled, pushed
    /// Pushed by an upstream that can seek to any byte.
    case seekable

    /// The upstream of this mode.
    public var upstream: Upstream {
      var upstream = Upstream(byPulling: self == .pulled)
      upstream.isSeekable = self == .seekable
      return upstream
    }
  }

  /// A damaged file and a mode to play it in.
  public struct Case: Sendable, CustomStringConvertible {
    /// Index in ``DamageCampaign/seeds``.
    public let seed: Int
    /// The change to the file.
    public let damage: Damage
    /// How the demuxer gets the file.
    public let mode: Mode
    /// File, damage and mode, for messages.
    public let description: String
  }

  /// The undamaged files.
  public let seeds: [Seed]
  /// All cases; their order only depends on the parameters.
  public let cases: [Case]

  /// Creates a campaign.
  ///
  /// - Parameters:
  ///   - seeds: the undamaged files.
  ///   - boundaryShare: cuts at every n-th box boundary.
  ///   - cuts: number of random places at which each seed is cut.
  ///   - bytes: number of random single-byte corruptions of all seeds together.
  ///   - number: seed of the random number generator.
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
    // Half of the places are in the index, where more depends on each byte.
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

  /// Returns the offsets in a file that are outside the sample data.
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

  /// Returns the damaged bytes of a case.
  public func bytes(of one: Case) -> [UInt8] {
    var bytes = seeds[one.seed].bytes
    switch one.damage {
    case .cut(let place): bytes.removeSubrange(place...)
    case .byte(let place, let value): bytes[place] = value
    }
    return bytes
  }

  /// Plays a case and returns what is wrong with the result; nil if nothing is.
  public func complaint(about one: Case) -> String? {
    let bytes = bytes(of: one)
    let start = clock()
    let outcome = play(bytes, one.mode.upstream)
    let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    if outcome.hangs { return "\(one): hangs" }
    if seconds > 2 { return "\(one): takes \(seconds) s" }
    return outcome.isSilent ? "\(one): no error, but no complete output: \(outcome)" : nil
  }
}

/// A random number generator with the same sequence in every run.
public struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  /// Creates a generator that starts at `state`.
  public init(state: UInt64) { self.state = state }

  /// Returns the next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
