// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import ISOBMFF
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// What a player asks of its source, and what it makes of a source that does not do as it said.
struct SourceTests {
  @Test("samples are slices of the memory that was read")
  func sharing() throws {
    let file = try WovenMovie(hasAudio: true).bytes()
    let whole = OwnedBytes(file)
    var player = MoviePlayer(.file(size: UInt64(file.count)))
    var kept = 0
    var copied = 0
    playing: while true {
      switch try player.next() {
      case .read(let request):
        let range = Int(request.range.lowerBound)..<Int(request.range.upperBound)
        player.supply(ByteSlice(whole).part(range))
      case .output(.sample(_, let sample)):
        for part in sample.data.parts {
          if part.chunk === whole { kept += part.count } else { copied += part.count }
        }
      case .end: break playing
      default: break
      }
    }
    // Only slice headers are rewritten.
    #expect(kept > file.count / 2)
    #expect(copied < kept / 20)
  }

  @Test("a sample that is read alone is memory that only the caller references")
  func ownership() throws {
    let file = try WovenMovie().bytes()
    var player = MoviePlayer(.file(size: UInt64(file.count)))
    var taken = 0
    playing: while true {
      let step = try player.next()
      switch consume step {
      case .read(let request):
        let end = min(Int(request.range.upperBound), file.count)
        player.supply(ByteSlice(Chunk(file[Int(request.range.lowerBound)..<end])))
      case .output(.streams(let streams)):
        for stream in streams { player.select(stream.id, stream.role == .samples) }
        var seek = SeekRequest(to: 0)
        seek.flags.insert(.keyUnitsOnly)
        guard let plan = player.plan(seek) else { throw Failure("the seek is refused") }
        player.begin(plan)
      case .output(.sample(_, let sample)):
        if sample.data.partCount == 1, takeChunk(consume sample) { taken += 1 }
      case .end: break playing
      default: break
      }
    }
    // The first was read to examine its layers, and is kept with the following samples.
    #expect(taken == 7)
  }

  private func takeChunk(_ sample: consuming Sample) -> Bool {
    guard sample.data.first.isWhole, var chunk = (consume sample).data.first.chunk as? Chunk
    else { return false }
    return isKnownUniquelyReferenced(&chunk)
  }

  @Test("unselected streams are not read")
  func selection() throws {
    let file = try WovenMovie(repetitions: 100, hasAudio: true).bytes()
    var session = Session(file, .read)
    var recording = Recording()
    while recording.streams.isEmpty {
      if case .output(let output) = try session.next() { recording.add(output) }
    }
    let opened = session.byteCount
    for stream in recording.descriptions where stream.kind == .video {
      session.player.select(stream.id, false)
    }
    try session.play(into: &recording)
    #expect(recording["audio_0"].contents.flatMap { $0 }.count == 2 * 8000 * 40)
    #expect(recording["video_0"].samples.isEmpty)
    // Sound lies between the pictures.
    #expect(session.byteCount - opened < file.count)
    session.player.select(recording.descriptions[3].id, false)
    guard session.seek(SeekRequest(to: 0)) else { throw Failure("the seek is refused") }
    #expect(try session.nextEnd() == .nothingSelected)
  }

  @Test("an eye that is selected late begins at a random access point")
  func lateSelection() throws {
    var session = Session(try WovenMovie().bytes(), .read)
    var recording = Recording()
    while recording["video_0"].samples.count < 20 {
      guard case .output(let output) = try session.next() else { continue }
      recording.add(output)
      if case .streams(let streams) = output { session.player.select(streams[1].id, false) }
    }
    session.player.select(recording.descriptions[1].id)
    try session.play(into: &recording)
    let first = try #require(recording["right"].samples.first)
    #expect(!first.flags.contains(.delta) && first.flags.contains(.discontinuity))
    #expect(recording["right"].shown.count == 48 - 24)
    #expect(recording["left"].shown.count == 48)
  }

  @Test("a seekable source is moved to the index and back; a slow one not for a short distance")
  func jumps() throws {
    let file = try WovenMovie(repetitions: 30).bytes()
    var session = Session(file, .movable(upTo: 1000))
    let expected = try Session.play(file, .read)
    let moved = try session.playToEnd()
    #expect(session.moveCount == 2)
    #expect(moved["left"].lines == expected["left"].lines)
    var slow = Session(file, .movable(upTo: 1000), isSlow: true)
    #expect(try slow.playToEnd()["left"].lines == expected["left"].lines)
    #expect(slow.moveCount == 0)
    var stubborn = Session(file, .movable(upTo: 1000))
    stubborn.refusesMoves = true
    #expect(try stubborn.playToEnd()["left"].lines == expected["left"].lines)
    let fragmented = try #require(SeedMovie(file)).fragmented()
    for isSlow in [true, false] {
      var fragments = Session(fragmented, .movable(upTo: 1000), isSlow: isSlow)
      fragments.refusesMoves = true
      let recording = try fragments.playToEnd()
      #expect(recording["left"].contents == expected["left"].contents)
      #expect(recording.warnings.isEmpty)
    }
  }

  @Test("a source whose seeks deliver nothing is named, and the file is not called truncated")
  func deadEnd() throws {
    let file = try WovenMovie(repetitions: 30).bytes()
    var player = MoviePlayer(
      .stream(StreamSource(isMovable: true, size: UInt64(file.count))))
    let error = #expect(throws: MoviePlayerError.self) {
      while true {
        switch try player.next() {
        case .awaitBytes: try player.append(ByteSlice(Array(file.prefix(1000))))
        case .moveSource:
          player.sourceMoved()
          player.endSource()
        default: break
        }
      }
    }
    guard case .deadEnd? = error else { throw Failure("\(String(describing: error))") }
    #expect(error?.description.contains("cut off") == false)
  }

  @Test("bytes kept before the index arrives are counted")
  func heldBytes() throws {
    let file = try WovenMovie().bytes()
    var player = MoviePlayer(.stream(StreamSource()))
    let index = file.count / 2
    try player.append(ByteSlice(Array(file.prefix(index))))
    while case .output = try player.next() {}
    #expect(player.heldByteCount == UInt64(index))
    try player.append(ByteSlice(Array(file.dropFirst(index))))
    while case .output = try player.next() {}
    #expect(player.heldByteCount == 0)
  }

  @Test("a file that is cut off anywhere is played up to there, or refused, in every delivery")
  func truncated() throws {
    let movie = try #require(SeedMovie(try WovenMovie(repetitions: 1, hasAudio: true).bytes()))
    let whole = try Session.play(movie.indexFirst, .read)
    for bytes in [movie.bytes, movie.indexFirst, movie.fragmented(), movie.byteStream] {
      for length in stride(from: 0, to: bytes.count, by: 97) {
        let part = Array(bytes.prefix(length))
        for delivery in [
          Delivery.read, .readWithoutSize, .pushed(upTo: 500), .movable(upTo: 500),
        ] {
          do {
            let recording = try Session.play(part, delivery)
            #expect(recording.disorder == [], "\(length), \(delivery)")
            #expect(recording["left"].samples.count <= whole["left"].samples.count)
          } catch is MoviePlayerError {}
        }
      }
    }
    var cut = Array(movie.indexFirst.dropLast(3000))
    let readable = try Session.play(cut, .read)
    #expect(readable.warnings.map(\.kind) == [.cutOff] && !readable["left"].samples.isEmpty)
    cut = Array(movie.indexFirst.prefix(100))
    #expect(throws: MoviePlayerError.self) { try Session.play(cut, .read) }
  }

  @Test(
    "after a flush by a source that says where it continues, the segment is sent again",
    arguments: [1, 2, 3])
  func flush(quarter: Int) throws {
    let movie = try #require(SeedMovie(try WovenMovie(hasAudio: true).bytes()))
    for bytes in [movie.indexFirst, movie.fragmented(length: WovenStream.keyInterval)] {
      let whole = try Session.play(bytes, .pushed(upTo: 1000))
      var session = Session(bytes, .pushed(upTo: 1000))
      var before = Recording()
      while before["video_0"].samples.count < 12 * quarter {
        if case .output(let output) = try session.next() { before.add(output) }
      }
      session.player.flush()
      var rest = Recording(after: before)
      session.player.continueSource(at: UInt64(session.place))
      try session.play(into: &rest)
      #expect(rest.end == .endOfStream && rest.disorder == [])
      for stream in rest.streams {
        #expect(stream.segments == whole[stream.name].segments, "\(stream.name)")
        #expect(stream.samples.allSatisfy { $0.presentationTime != nil })
        #expect(stream.samples.first?.flags.contains(.discontinuity) == true, "\(stream.name)")
        let (some, all) = (stream.contents.flatMap { $0 }, whole[stream.name].contents)
        #expect(!some.isEmpty && some == Array(all.flatMap { $0 }.suffix(some.count)))
      }
    }
  }

  @Test("an empty source, and one that is no movie, are refused")
  func refused() throws {
    for delivery in [Delivery.read, .readWithoutSize, .pushed(upTo: 10), .movable(upTo: 10)] {
      #expect(throws: MoviePlayerError.self) { try Session.play([], delivery) }
      #expect(throws: MoviePlayerError.self) {
        try Session.play([UInt8](repeating: 7, count: 10_000), delivery)
      }
      #expect(throws: MoviePlayerError.self) {
        try Session.play([0, 0, 0, 1] + [UInt8](repeating: 7, count: 10_000), delivery)
      }
    }
  }
}

/// A caller's own memory.
private final class Chunk: ByteChunk {
  nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
  init(_ array: ArraySlice<UInt8>) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: array.count, alignment: 1)
    memory.copyBytes(from: array)
    bytes = UnsafeRawBufferPointer(memory)
  }
  deinit { bytes.deallocate() }
}
