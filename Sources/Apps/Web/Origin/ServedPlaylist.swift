// SPDX-License-Identifier: MPL-2.0

internal import Packager

/// A media playlist as it lies in the folder now.
struct ServedPlaylist: Sendable {
  let file: OpenFile
  let playlist: MediaPlaylist
  /// A delta update, where one saves something, and would leave out nothing that this program does not
  /// know.
  let delta: String?

  /// - Returns: nil for what is no media playlist.
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

  /// More has no playlist that changes: a day of segments of half a second is less. In bytes.
  private static var maximumSize: UInt64 { 1 << 24 }

  /// In whole seconds.
  var targetDuration: Int { playlist.targetDuration }

  /// Requests for what comes are held until it has come.
  var isBlocking: Bool { playlist.lowLatency != nil && !playlist.hasEnded }

  /// Whether it has a segment, or a part of one, that a request waits for
  /// (draft-pantos-hls-rfc8216bis 6.2.5.2).
  func lists(_ wanted: PlaylistDirectives.Position) -> Bool {
    let next = playlist.nextSequence
    guard let part = wanted.part else { return wanted.sequence < next }
    if wanted.sequence == next { return part < UInt64(playlist.openParts.count) }
    guard wanted.sequence < next else { return false }
    // A part behind the last one of a segment is the first one of the next segment.
    let isLast = wanted.sequence + 1 == next
    let parts = playlist.segments.last?.parts.count ?? 0
    return !isLast || part < UInt64(parts) || !playlist.openParts.isEmpty
  }

  /// Whether a request is for so late a time that it can only be a mistake.
  func isFarAhead(_ wanted: PlaylistDirectives.Position) -> Bool {
    let next = playlist.nextSequence
    guard wanted.sequence <= next + 1 else { return true }
    guard let part = wanted.part, wanted.sequence >= next else { return false }
    let open = wanted.sequence == next ? UInt64(playlist.openParts.count) : 0
    return part >= open + advancePartLimit
  }

  /// How many parts ahead a request may ask for.
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

/// What a player says when it asks for a playlist (draft-pantos-hls-rfc8216bis 6.2.5).
struct PlaylistDirectives: Equatable, Sendable {
  /// A segment, or one of its parts.
  struct Position: Equatable, Sendable {
    /// The media sequence number.
    var sequence: UInt64
    /// From 0 on.
    var part: UInt64?
  }

  /// The answer is to have this (`_HLS_msn`, `_HLS_part`).
  var position: Position?
  /// The answer may leave out what is old (`_HLS_skip`).
  var skips: Bool

  /// - Returns: nil for directives that make no sense.
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
