// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// A movie in a random-access source: samples are output in decoding order across tracks.
final class SeekablePlayback: MoviePhase, @unchecked Sendable {
  private var readAhead: ReadAhead
  /// In bytes.
  private let fileSize: UInt64

  /// - Parameter first: Bytes already read of the layered track's first sample.
  init(_ playback: MoviePlayback, fileSize: UInt64, first: ReadAhead.Window?) {
    self.fileSize = fileSize
    // Dependent views have windows of their own, after those of the tracks.
    readAhead = ReadAhead(trackCount: 2 * playback.tracks.count)
    super.init(playback)
    if let first, let track = playback.tracks.firstIndex(where: { $0.eyes != nil }) {
      readAhead.keep(first, for: track)
    }
  }

  override func begin(_ plan: SeekPlan) { playback.begin(plan.segment) }

  override var seekMap: SeekMap? { SeekMap(playback, places: .samples, isStream: false) }

  /// Outputs the sample with the earliest decode time.
  override func step(_ answer: ReadAnswer?, hasMoved: Bool?) throws(MoviePlayerError) -> Progress {
    if playback.isIdle { return try end() }
    var chosen: (track: Int, item: PlayedTrack.Item)?
    for track in playback.tracks.indices where !playback.tracks[track].hasEnded {
      guard let item = try playback.next(track, &outputs, fileSize: fileSize) else { continue }
      if chosen == nil || item.order < chosen?.item.order ?? .max { chosen = (track, item) }
    }
    guard let (track, item) = chosen else {
      if try playback.nextGroup(&outputs, fileSize: fileSize) { return .again }
      return try end()
    }
    if playback.tracks[track].isSelected {
      switch data(of: item, track, answer) {
      case .here(let data):
        try playback.pass(item, of: track, fileSize: fileSize)
        playback.hand(item, data, of: track, &outputs)
      case .missing(let request): return .wait(.read(request))
      case .beyondEnd: return cutOff(track, item)
      }
    } else {
      // Deselected samples are not read, but must still end within the file.
      guard item.end <= fileSize else { return cutOff(track, item) }
      playback.skipSample(of: track)
      try playback.pass(item, of: track, fileSize: fileSize)
    }
    if item.order > 0 {
      try playback.fillGaps(upTo: ClockTime(clamping: item.order), &outputs, fileSize: fileSize)
    }
    return .again
  }

  private func cutOff(_ track: Int, _ item: PlayedTrack.Item) -> Progress {
    outputs.warn(.cutOff(playback.tracks[track], at: item.record.offset))
    playback.tracks[track].finish()
    return .again
  }

  // MARK: Bytes

  private enum ItemData {
    case here(SampleData)
    case missing(ReadRequest)
    case beyondEnd
  }

  private func data(of item: PlayedTrack.Item, _ track: Int, _ answer: ReadAnswer?) -> ItemData {
    let offset = item.record.offset
    guard item.end <= fileSize, item.end > offset else { return .beyondEnd }
    let part = playback.dependentPart(of: item, track)
    // The base view's bytes stay here until those of the dependent view are.
    let isKept = if case .sample = part { true } else { false }
    let base = data(at: offset, item.size, window: track, isKept: isKept, answer) {
      readSize(item, track, limit: fileSize - offset)
    }
    guard case .here(let first) = base, case .sample(let other) = part else { return base }
    let end = other.offset.addingReportingOverflow(UInt64(other.size))
    guard !end.overflow, end.partialValue <= fileSize else { return .beyondEnd }
    let window = playback.tracks.count + track
    let second = data(at: other.offset, UInt64(other.size), window: window, answer) {
      UInt64(other.size)
    }
    guard case .here(let dependent) = second else { return second }
    return .here(SampleData(first.first, [dependent.first]))
  }

  /// - Parameters:
  ///   - window: where bytes after these are kept.
  ///   - isKept: whether these are kept, too.
  ///   - readSize: returns the number of bytes to read if they are not here.
  private func data(
    at offset: UInt64, _ size: UInt64, window: Int, isKept: Bool = false, _ answer: ReadAnswer?,
    readSize: () -> UInt64
  ) -> ItemData {
    guard let size = Int(exactly: size) else { return .beyondEnd }
    if let part = readAhead.part(offset, size) { return .here(SampleData(part)) }
    guard let answer, answer.offset == offset else {
      readAhead.keep(nil, for: window)
      return .missing(ReadRequest(range: offset..<offset + readSize()))
    }
    guard let slice = answer.slice, slice.count >= size else { return .beyondEnd }
    readAhead.count(slice.count)
    if slice.count == size, !isKept { return .here(SampleData(slice)) }
    readAhead.keep(ReadAhead.Window(offset: offset, slice: slice), for: window)
    guard let part = slice.part(0..<size) else { return .beyondEnd }
    return .here(SampleData(part))
  }

  /// Returns how many bytes to read from a sample on, including following samples as long as they
  /// lie about as densely as their sizes suggest.
  private func readSize(_ item: PlayedTrack.Item, _ track: Int, limit fileLimit: UInt64) -> UInt64 {
    let largest = UInt64(ReadAhead.windowSize)
    guard readAhead.isWorthwhile(fileSize: fileSize),
      !playback.tracks[track].hasKeyUnitsOnly(playback.segment), item.size <= largest / 2
    else { return item.size }
    let samples = playback.samples(track)
    let limit = item.record.offset.addingReportingOverflow(largest)
    var size = item.size
    var distance = item.count
    while !limit.overflow, let other = samples.sample(at: playback.tracks[track].next + distance),
      other.offset >= item.record.offset, other.offset < limit.partialValue,
      (other.offset - item.record.offset) / 4 <= max(item.size, 256) * UInt64(clamping: distance)
    {
      let end = other.offset.addingReportingOverflow(UInt64(other.size)).partialValue
      guard end <= limit.partialValue, end > item.record.offset else { break }
      size = max(size, end - item.record.offset)
      distance *= 2
    }
    return max(item.size, min(size, fileLimit))
  }
}
