// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF
import MoviePlayer
import StereoVideo

/// Plays a movie or a layered stream with each kind of source, with seeks.
func playMovie(_ bytes: [UInt8]) {
  for isMovable in [nil, false, true] as [Bool?] {
    var session = PlayingSession(bytes, isMovable: isMovable)
    session.play()
    session.flushMidway()
    for seek in session.seeks { session.play(seek) }
  }
}

/// A player with a source of bytes and a consumer of all output.
private struct PlayingSession: ~Copyable {
  private let bytes: [UInt8]
  private let whole: ByteSlice
  /// Whether a streaming source can seek; nil for a source with random access.
  private let isMovable: Bool?
  private var player: MoviePlayer
  private var place = 0
  private var hasEnded = false
  private var stepCount = 0
  private var hasSegment: Set<StreamID> = []
  /// Streams that have ended.
  private var ended: Set<StreamID> = []

  init(_ bytes: [UInt8], isMovable: Bool?) {
    self.bytes = bytes
    self.isMovable = isMovable
    whole = ByteSlice(bytes)
    let size = UInt64(bytes.count)
    player = MoviePlayer(
      isMovable.map { .stream(StreamSource(isMovable: $0, size: size)) } ?? .file(size: size))
  }

  /// Seeks for any input: to the start, to another time, backwards, and keyframes only.
  var seeks: [SeekRequest] {
    let time = bytes.count * ClockTime.millisecond / 10
    var keyUnit = SeekRequest(to: time)
    keyUnit.precision = .keyUnit(.nearest)
    var fast = SeekRequest(rate: 8, start: .at(0))
    fast.flags.formUnion([.keyUnitsOnly, .withoutAudio])
    return [
      SeekRequest(to: 0), SeekRequest(to: time), keyUnit, SeekRequest(rate: -1, start: .at(0)),
      fast,
      SeekRequest(rate: 2, start: .fromEnd(-1_000_000_000), stop: .at(time)),
    ]
  }

  mutating func play(_ seek: SeekRequest) {
    guard let plan = player.plan(seek) else { return }
    place = Int(clamping: plan.offset)
    hasEnded = false
    (hasSegment, ended) = ([], [])
    player.begin(plan)
    play()
  }

  /// Flushes the player and continues in the middle of the file.
  mutating func flushMidway() {
    guard isMovable != nil else { return }
    player.flush()
    (hasSegment, ended, hasEnded) = ([], [], false)
    place = bytes.count / 2
    if bytes.count.isMultiple(of: 2) { player.continueSource(at: UInt64(place)) }
    play()
  }

  mutating func play() {
    do {
      while try step() {}
    } catch {
      guard error is MoviePlayerError else { fatalError("\(error)") }
    }
  }

  private mutating func step() throws -> Bool {
    stepCount += 1
    // Each sample causes a few outputs, and there are at most as many samples as bytes.
    guard stepCount < 1_000_000 + bytes.count * 1000 else { fatalError("the player hangs") }
    switch try player.next() {
    case .read(let request): player.supply(read(request))
    case .awaitBytes: try push()
    case .moveSource(let offset):
      place = Int(clamping: offset)
      if isMovable == true, place <= bytes.count {
        hasEnded = false
        player.sourceMoved()
      } else {
        player.sourceStays()
      }
    case .end: return false
    case .output(.segment(let stream, _)): hasSegment.insert(stream)
    case .output(.gap(let stream, _, _)): check(stream)
    case .output(.sample(let stream, let sample)):
      check(stream)
      _ = sample.data.bytes
    case .output(.endOfStream(let stream)):
      check(stream)
      ended.insert(stream)
    case .output: break
    }
    return true
  }

  private func check(_ stream: StreamID) {
    guard hasSegment.contains(stream), !ended.contains(stream) else {
      fatalError("output before the segment or after the end of a stream")
    }
  }

  private func read(_ request: ReadRequest) -> ByteSlice? {
    let start = Int(clamping: request.range.lowerBound)
    let end = min(Int(clamping: request.range.upperBound), bytes.count)
    return start < end ? whole.part(start..<end) : nil
  }

  private mutating func push() throws {
    guard place < bytes.count else {
      guard !hasEnded else { fatalError("the player waits for data after the end") }
      hasEnded = true
      player.endSource()
      return
    }
    let end = min(place + 1 + place % 4093, bytes.count)
    if let part = whole.part(place..<end) { try player.append(part) }
    place = end
  }
}
