// SPDX-License-Identifier: MPL-2.0

/// The bit rate of a rendition, measured: `BANDWIDTH` and `AVERAGE-BANDWIDTH`.
public struct BitRate: Equatable, Sendable {
  /// The largest rate of any row of segments that lasts between half and one and a half target
  /// durations; bits a second.
  public private(set) var peak: UInt64 = 0
  private var bytes: UInt64 = 0
  private var duration: UInt64 = 0
  private let targetDuration: UInt64
  /// The last segments, which together last at most one and a half target durations.
  private var recent: [Row] = []

  private struct Row: Equatable, Sendable {
    var bytes: UInt64 = 0
    var duration: UInt64 = 0
  }

  /// - Parameter targetDuration: in seconds.
  public init(targetDuration: Int) {
    self.targetDuration = UInt64(max(targetDuration, 1)) * 1_000_000_000
  }

  /// Of all segments, in bits a second.
  public var average: UInt64 { Self.rate(bytes, duration) }

  /// Counts a segment.
  ///
  /// - Parameter duration: in nanoseconds.
  public mutating func add(bytes: UInt64, duration: UInt64) {
    self.bytes &+= bytes
    self.duration &+= duration
    recent.append(Row(bytes: bytes, duration: duration))
    while recent.count > 1, recent.reduce(0, { $0 + $1.duration }) > targetDuration * 3 / 2 {
      recent.removeFirst()
    }
    var row = Row()
    for segment in recent.reversed() {
      row = Row(bytes: row.bytes + segment.bytes, duration: row.duration + segment.duration)
      if row.duration >= targetDuration / 2 { peak = max(peak, Self.rate(row.bytes, row.duration)) }
    }
    // A rendition of one short segment has a rate too.
    peak = max(peak, average)
  }

  private static func rate(_ bytes: UInt64, _ duration: UInt64) -> UInt64 {
    guard duration > 0 else { return 0 }
    let product = bytes.multipliedFullWidth(by: 8_000_000_000)
    guard product.high < duration else { return .max }
    let (quotient, remainder) = duration.dividingFullWidth(product)
    return remainder > 0 && quotient < .max ? quotient + 1 : quotient
  }
}
