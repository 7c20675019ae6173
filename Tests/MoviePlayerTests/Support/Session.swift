// SPDX-License-Identifier: MPL-2.0

import MoviePlayer
import StereoVideo
import TestKit

/// How the bytes of a file come to a player.
enum Delivery: CustomStringConvertible {
  /// Each read gives memory of its own.
  case read
  /// Each read gives a part of one block of memory.
  case memory
  /// The player is not told how long the file is.
  case readWithoutSize
  /// In chunks of sizes from 1 to this.
  case pushed(upTo: Int)
  /// The same, by a source that goes to any byte.
  case movable(upTo: Int)

  var description: String {
    switch self {
    case .read: "read"
    case .memory: "memory"
    case .readWithoutSize: "read without size"
    case .pushed(let size): "pushed in up to \(size)"
    case .movable(let size): "pushed in up to \(size) by a source that moves"
    }
  }
}

/// A player, and what it is given and gives.
struct Session: ~Copyable {
  var player: MoviePlayer
  let file: [UInt8]
  let delivery: Delivery
  private let whole: ByteSlice
  /// Where the next bytes of a stream lie.
  private(set) var place = 0
  private var hasEnded = false
  private var dice = Dice(17)
  /// The bytes that were read or came.
  private(set) var byteCount = 0
  /// How often the source went elsewhere.
  private(set) var moveCount = 0
  /// Whether the source refuses to go elsewhere although it said that it would.
  var refusesMoves = false

  init(
    _ file: [UInt8], _ delivery: Delivery, isSlow: Bool = false,
    options: PlayerOptions = PlayerOptions()
  ) {
    self.file = file
    self.delivery = delivery
    whole = ByteSlice(file)
    let size = UInt64(file.count)
    let source: MoviePlayer.Source =
      switch delivery {
      case .read, .memory: .file(size: size)
      case .readWithoutSize: .file(size: nil)
      case .pushed: .stream(StreamSource())
      case .movable: .stream(StreamSource(isMovable: true, size: size, isSlow: isSlow))
      }
    player = MoviePlayer(source, options: options)
  }

  /// What comes next that is not asked of the source.
  mutating func next() throws -> PlayerStep {
    while true {
      let step = try player.next()
      switch step {
      case .read(let request): player.supply(read(request))
      case .awaitBytes: try push()
      case .moveSource(let offset):
        moveCount += 1
        if refusesMoves {
          player.sourceStays()
        } else {
          place = Int(offset)
          hasEnded = false
          player.sourceMoved()
        }
      case .output, .end: return step
      }
    }
  }

  private mutating func read(_ request: ReadRequest) -> ByteSlice? {
    let start = Int(clamping: request.range.lowerBound)
    let end = min(Int(clamping: request.range.upperBound), file.count)
    guard start < end else { return nil }
    byteCount += end - start
    if case .memory = delivery { return whole.part(start..<end) }
    return ByteSlice(Array(file[start..<end]))
  }

  private mutating func push() throws {
    guard place < file.count else {
      // A player that asks again after the end would do so for ever.
      guard !hasEnded else { throw Failure("the player waits for more than there is") }
      hasEnded = true
      player.endSource()
      return
    }
    let limit =
      switch delivery {
      case .pushed(let size), .movable(let size): size
      default: 1
      }
    let end = min(place + dice.next(below: limit) + 1, file.count)
    try player.append(ByteSlice(Array(file[place..<end])))
    byteCount += end - place
    place = end
  }

  /// Seeks as the source of this session has it done.
  mutating func seek(_ request: SeekRequest) -> Bool {
    guard let plan = player.plan(request) else { return false }
    place = Int(plan.offset)
    hasEnded = false
    player.begin(plan)
    return true
  }

  /// Everything up to the end.
  mutating func playToEnd() throws -> Recording {
    var recording = Recording()
    try play(into: &recording)
    return recording
  }

  /// Adds everything up to the end.
  mutating func play(into recording: inout Recording) throws {
    while true {
      switch try next() {
      case .output(let output): recording.add(output)
      case .end(let end):
        recording.end = end
        return
      default: break
      }
    }
  }

  /// How playing ends; what comes before is dropped.
  mutating func nextEnd() throws -> PlayerEnd {
    var recording = Recording()
    while true {
      switch try next() {
      case .output(.streams(let streams)): recording.add(.streams(streams))
      case .end(let end): return end
      default: break
      }
    }
  }

  /// Everything up to the end of a file.
  static func play(_ file: [UInt8], _ delivery: Delivery) throws -> Recording {
    var session = Session(file, delivery)
    return try session.playToEnd()
  }
}
