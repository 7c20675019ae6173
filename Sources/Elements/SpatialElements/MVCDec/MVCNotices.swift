// SPDX-License-Identifier: MPL-2.0

import AVC
import StereoVideo

/// Words for what a flattener notices, each said once.
struct MVCNotices {
  /// Pictures that refer to others before the start of decoding are to be expected for this many
  /// access units, after a seek to the middle of a stream.
  private static let expectedLossCount = 32

  private enum Subject: Hashable {
    case skippedData
    case lost(MVCView)
    case warning(MVCWarning)
    case lonePicture
  }

  private var said: Set<Subject> = []
  /// The access unit that decoding began with; nil before it.
  private var start: Int?

  /// Begins again, after a seek or a gap.
  mutating func restart() { start = nil }

  /// Returns the message for data that cannot be read; nil if there was one before.
  mutating func message(forSkipped error: MVCError) -> String? {
    once(.skippedData, "Damaged data are skipped: \(error).")
  }

  /// Returns the message for a notice; nil if it need not be said.
  ///
  /// - Parameters:
  ///   - number: the number of the access unit.
  ///   - baseEye: the eye of the base view.
  mutating func message(
    for kind: MVCFlattener<some Sendable>.Notice.Kind, at number: Int, _ baseEye: Eye
  ) -> String? {
    let first = start ?? number
    start = first
    switch kind {
    case .lost(_, .missingReferences) where number - first < Self.expectedLossCount: return nil
    case .lost(.base, let error):
      return once(.lost(.base), "Damaged access units are skipped: \(error).")
    case .lost(.dependent, let error):
      said.insert(.lonePicture)
      return once(
        .lost(.dependent), "Pictures of the \(baseEye.other.rawValue) eye are left out: \(error).")
    case .warning(.missingReferences) where number - first < Self.expectedLossCount: return nil
    case .warning(let warning):
      return once(.warning(warning), "Some pictures may be wrong: \(warning).")
    }
  }

  /// Returns the message for a picture of the base view without one of the other view; nil if there
  /// was one before.
  mutating func messageForLonePicture(of baseEye: Eye) -> String? {
    once(
      .lonePicture,
      "The stream has no pictures of the \(baseEye.other.rawValue) eye here; the "
        + "\(baseEye.rawValue) eye continues alone.")
  }

  private mutating func once(_ subject: Subject, _ message: String) -> String? {
    said.insert(subject).inserted ? message : nil
  }
}
