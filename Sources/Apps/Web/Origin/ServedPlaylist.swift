// SPDX-License-Identifier: MPL-2.0

internal import Packager

/// The current content of a media playlist file.
struct ServedPlaylist: Sendable {
  let file: OpenFile
  let playlist: MediaPlaylist
  /// A delta update; nil if it would save nothing or if the playlist has tags that are unknown to
  /// this program, which it would lose.
  let delta: String?

  /// - Returns: nil if the file is not a media playlist.
  init?(_ file: OpenFile) {
    guard file.size <= Self.maximumSize, let bytes = try? file.read(0..<file.size),
      let text = String(validating: bytes, as: UTF8.self),
      let playlist = try? MediaPlaylist(parsing: text)
    else { return nil }
    self.file = file
    self.playlist = playlist
    let delta = playlist.text == text ? playlist.deltaUpdate : text
    self.delta = delta == text ? nil : delta
  }

  /// Maximum size in bytes: enough for a day of segments of half a second.
  private static var maximumSize: UInt64 { 1 << 24 }

  /// The target duration in seconds.
  var targetDuration: Int { playlist.targetDuration }

  /// Whether requests for the next segment or part are held until it is available.
  var isBlocking: Bool { playlist.lowLatency != nil && !playlist.hasEnded }

  /// Returns whether the playlist contains the segment or part for which a request waits
  /// (draft-pantos-hls-rfc8216bis 6.2.5.2).
  func lists(_ wanted: PlaylistDirectives.Position) -> Bool {
    let next = playlist.nextSequence
    guard let part = wanted.part else { return wanted.sequence < next }
    if wanted.sequence == next { return part < UInt64(playlist.openParts.count) }
    guard wanted.sequence < next else { return false }
    // A part number after the last part of a segment means the first part of the next segment.
    let isLast = wanted.sequence + 1 == next
    let parts = playlist.segments.last?.parts.count ?? 0
    return !isLast || part < UInt64(parts) || !playlist.openParts.isEmpty
  }

  /// Returns whether the requested position is too far in the future to be valid.
  func isFarAhead(_ wanted: PlaylistDirectives.Position) -> Bool {
    let next = playlist.nextSequence
    guard wanted.sequence <= next + 1 else { return true }
    guard let part = wanted.part, wanted.sequence >= next else { return false }
    let open = wanted.sequence == next ? UInt64(playlist.openParts.count) : 0
    return part >= open + advancePartLimit
  }

  /// Maximum number of parts by which a request may be ahead.
  private var advancePartLimit: UInt64 {
    let second: UInt64 = 1_000_000_000
    guard let target = playlist.lowLatency?.partTarget, target > 0, target < second else {
      return 3
    }
    return (3 * second).dividedRoundingUp(by: target)
  }
}

extension UInt64 {
  fileprivate func dividedRoundingUp(by divisor: UInt64) -> UInt64 {
    self / divisor + (isMultiple(of: divisor) ? 0 : 1)
  }
}

/// The delivery directives of a playlist request (draft-pantos-hls-rfc8216bis 6.2.5).
struct PlaylistDirectives: Equatable, Sendable {
  /// The position of a segment or of one of its parts.
  struct Position: Equatable, Sendable {
    /// The media sequence number.
    var sequence: UInt64
    /// The index of the part in its segment, from 0.
    var part: UInt64?
  }

  /// The position that the response has to contain (`_HLS_msn`, `_HLS_part`).
  var position: Position?
  /// Whether the client accepts a delta update (`_HLS_skip`).
  var skips: Bool

  /// - Returns: nil for invalid directives.
  init?(_ request: WebRequest) {
    skips = ["YES", "v2"].contains(request.parameter("_HLS_skip"))
    let numbers = ["_HLS_msn", "_HLS_part"].map { name in
      request.parameter(name).map { UInt64($0) }
    }
    switch (numbers[0], numbers[1]) {
    case (nil, nil): position = nil
    case (let sequence??, nil): position = Position(sequence: sequence)
    case (let sequence??, let part??): position = Position(sequence: sequence, part: part)
    default: return nil
    }
  }
}
