// SPDX-License-Identifier: MPL-2.0


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
