// SPDX-License-Identifier: MPL-2.0

/// A track of sound that a ``StereoWriter`` is given as samples, and codes as AAC.
public struct SoundInput: Equatable, Identifiable, Sendable {
  /// What the track is called where sound is given, and in messages.
  public let id: String
  /// How its samples come.
  public let format: SoundFormat
  /// How many bits a second of it takes: 8000 to 1,000,000.
  public let bitsPerSecond: Int

  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/outOfRange``.
  public init(_ id: String, _ format: SoundFormat, bitsPerSecond: Int = 192_000) throws {
    guard (8000...1_000_000).contains(bitsPerSecond) else {
      throw StereoMediaError(
        .outOfRange, "sound takes 8000 to 1000000 bits a second, not \(bitsPerSecond)")
    }
    (self.id, self.format, self.bitsPerSecond) = (id, format, bitsPerSecond)
  }
}
