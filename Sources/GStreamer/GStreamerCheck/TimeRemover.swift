// SPDX-License-Identifier: MPL-2.0

public import GStreamer

/// Takes the timestamps of some of a pad's buffers away.
public final class TimeRemover: BufferFilter {
  private let places: Set<Int>
  private var count = 0

  /// - Parameter places: the numbers of the buffers, from 0.
  public init(_ places: Set<Int>) { self.places = places }

  /// Returns the buffer, or a copy of it without a timestamp.
  public func take(_ buffer: Buffer) -> Buffer? {
    defer { count += 1 }
    guard places.contains(count) else { return buffer }
    let copy = buffer.copied()
    copy.pts = nil
    return copy
  }

  /// Keeps no buffer back.
  public func take(_ event: Event) -> Buffer? { nil }
}
