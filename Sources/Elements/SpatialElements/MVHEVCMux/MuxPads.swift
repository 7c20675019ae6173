// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Sink pads of the muxer by content: the eyes, if any, form the first track.
struct MuxPads {
  static let eyesTrack = 0

  let left: AggregatorPad?
  let right: AggregatorPad?
  /// The pad of an eye whose partner has been released.
  let orphan: AggregatorPad?
  /// Video, then audio, then subtitles, then all else, by name.
  let streams: [AggregatorPad]

  /// The source of the next data.
  enum Source {
    case eyes(left: AggregatorPad, right: AggregatorPad)
    /// A pad whose buffers are written to a track of their own.
    case stream(AggregatorPad)
  }

  /// Sorts pads by content.
  ///
  /// - Throws: an ``ElementError`` if only one eye has a pad and the movie has not begun. Later,
  ///   the other eye's pad has been released, which ends both eyes.
  init(_ pads: [AggregatorPad], hasBegun: Bool) throws {
    let named = pads.map { (name: $0.name, pad: $0) }
    let eyes = Eye.allCases.compactMap { eye in named.first { $0.name == eye.rawValue } }
    let isPair = eyes.count == 2
    left = isPair ? eyes.first { $0.name == Eye.left.rawValue }?.pad : nil
    right = isPair ? eyes.first { $0.name == Eye.right.rawValue }?.pad : nil
    orphan = isPair ? nil : eyes.first?.pad
    if let orphan, !hasBegun {
      let missing: Eye = orphan.name == Eye.left.rawValue ? .right : .left
      throw ElementError(
        .mux,
        "Only the \(missing.other) eye is linked; link the pad \(missing) too, "
          + "or link the movie's video to video_%u.")
    }
    streams =
      named.filter { Eye(rawValue: $0.name) == nil }.sorted { a, b in
        (MuxInput.Kind(a.name).rawValue, a.name) < (MuxInput.Kind(b.name).rawValue, b.name)
      }.map(\.pad)
  }

  var hasEyes: Bool { left != nil }

  /// All pads that data is taken from.
  var all: [AggregatorPad] { [left, right].compactMap { $0 } + streams }

  /// Whether both eyes have ended, or there is no pair of eyes (any more).
  var eyesAreAtEnd: Bool {
    guard let left, let right else { return true }
    return left.isAtEnd && right.isAtEnd
  }

  /// Running time of the eyes' next frames; nil if none wait.
  var eyesTime: RunningTime? {
    [left, right].compactMap { pad in pad.flatMap { $0.peek().flatMap($0.runningTime) } }.min()
  }

  /// Running times of the first buffers of all pads.
  var firstTimes: [RunningTime] {
    all.compactMap { pad in
      pad.peek().flatMap { pad.runningTime($0) }
    }
  }

  /// Returns the source whose next buffer has the smallest running time; nil if no pad has a
  /// buffer.
  ///
  /// - Parameter place: returns the time to compare for a pad's buffer of a running time.
  func earliest(place: (RunningTime, AggregatorPad) -> RunningTime) -> Source? {
    var first: (time: RunningTime, source: Source)?
    func consider(_ time: RunningTime, _ source: Source) {
      if first.map({ time < $0.time }) ?? true { first = (time, source) }
    }
    if let left, let right {
      let times = [left, right].compactMap { pad in
        pad.peek().map { buffer in pad.runningTime(buffer).map { place($0, pad) } ?? .min }
      }
      if let time = times.min() { consider(time, .eyes(left: left, right: right)) }
    }
    for pad in streams {
      guard let buffer = pad.peek() else { continue }
      var time = pad.runningTime(buffer).map { place($0, pad) } ?? .min
      if buffer.isGap {
        // Buffers of other pads before the end of this gap come first.
        time = time + (buffer.duration ?? 0)
      }
      consider(time, .stream(pad))
    }
    return first?.source
  }
}
