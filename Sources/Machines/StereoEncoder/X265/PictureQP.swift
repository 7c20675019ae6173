// SPDX-License-Identifier: MPL-2.0

/// By what the QP of a picture differs from x265's own choice.
package struct PictureQP: Equatable, Sendable {
  /// In place of x265's choice, before what adaptive quantization adds; nil for x265's choice.
  package var forced: Int?
  /// Added to all blocks, in an encoder that was made for it.
  package var offset = 0.0

  /// x265's own choice.
  package static let automatic = PictureQP()

  /// The nearest whole QP, and what is left of `value` as an offset.
  ///
  /// x265 takes QPs up to 69, where more than 51 means coarser decisions.
  static func following(_ value: Double) -> PictureQP {
    guard value.isFinite else { return .automatic }
    let forced = min(max(value, 0), 69).rounded()
    return PictureQP(forced: Int(forced), offset: min(max(value - forced, -1), 1))
  }
}

/// What x265's rate control chose for a picture: mean QPs, before what adaptive quantization and the
/// picture's `PictureQP.offset` add.
package struct RateControlQP: Equatable, Sendable {
  /// What the picture was coded with.
  package let used: Double
  /// What it would have been coded with but for the video buffer.
  package let wanted: Double

  /// Reads the structure behind `x265_picture.rcData`, whose layout no header of x265 gives: it begins
  /// with the mean QP without and with what adaptive quantization adds, `qpaRc` and `qpAq`, and
  /// its fourth number is `qpNoVbv`.
  ///
  /// - Parameter averageQP: what the second number has to be. Nil where it is not, since the structure is
  ///   then another one.
  init?(_ data: UnsafeMutableRawPointer?, averageQP: Double) {
    guard let data, data[Field<Double>(8)] == averageQP else { return nil }
    used = data[Field<Double>(0)]
    wanted = data[Field<Double>(24)]
    guard (0...100).contains(used), (-100...100).contains(wanted) else { return nil }
  }
}
