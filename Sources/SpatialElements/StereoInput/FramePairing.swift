/// Decides which frames of two eyes belong together, by their running times.
struct FramePairing {
  enum Decision: Equatable {
    case pair
    /// The left frame has no partner.
    case dropLeft
    /// The right frame has no partner.
    case dropRight
  }

  /// Frames that differ by up to half a frame are of one instant; without a rate, by up to 1 ms.
  static func tolerance(frameDuration: UInt64?) -> UInt64 {
    frameDuration.map { $0 / 2 } ?? 1_000_000
  }

  /// - Parameters: running times in nanoseconds; nil where a frame has none, which then goes with
  ///   whatever the other eye has.
  static func decide(left: Int64?, right: Int64?, tolerance: UInt64) -> Decision {
    guard let left, let right else { return .pair }
    let (difference, overflow) = left.subtractingReportingOverflow(right)
    if !overflow, difference.magnitude <= tolerance { return .pair }
    return left < right ? .dropLeft : .dropRight
  }
}
