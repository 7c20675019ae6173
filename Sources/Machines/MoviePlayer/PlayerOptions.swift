// SPDX-License-Identifier: MPL-2.0

/// How a movie is to be played, where the movie leaves that open.
public struct PlayerOptions: Sendable {
  /// Frames a second of an elementary stream without timestamps, whatever it says itself; nil for
  /// what it says.
  public var frameRate: Ratio?
  /// Whether a track of two layers is given as it is too, beside its eyes.
  public var offersLayers = true

  public init() {}
}
