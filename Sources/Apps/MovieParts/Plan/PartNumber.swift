// SPDX-License-Identifier: MPL-2.0

/// The number of the part that a task of an engine is for.
package enum PartNumber {
  /// The variables of the environment in which engines give the number of a task, and the number of
  /// the first task.
  private static let variables: [(name: String, first: Int)] = [
    // Kubernetes: Indexed Job.
    ("JOB_COMPLETION_INDEX", 0),
    // Slurm: job array, `--array=0-N`.
    ("SLURM_ARRAY_TASK_ID", 0),
    // AWS Batch: array job.
    ("AWS_BATCH_JOB_ARRAY_INDEX", 0),
    // Google Batch.
    ("BATCH_TASK_INDEX", 0),
    // PBS and Torque, `-J 0-N` and `-t 0-N`.
    ("PBS_ARRAY_INDEX", 0), ("PBS_ARRAYID", 0),
    // Grid Engine and LSF cannot begin at 0.
    ("SGE_TASK_ID", 1), ("LSB_JOBINDEX", 1),
  ]

  /// Returns the number that the environment gives, from 0; nil if it gives none.
  ///
  /// Grid Engine says `undefined`, and LSF 0, for a job that is no array.
  ///
  /// - Throws: a ``PartError`` if an engine gives something else than a number.
  package static func number(
    in environment: (String) -> String?
  ) throws(PartError) -> Int? {
    for (name, first) in variables {
      guard let text = environment(name), !text.isEmpty, text != "undefined" else { continue }
      guard let number = Int(text), number >= 0 else {
        throw PartError(.final, "the environment variable \(name) is '\(text)', not a number")
      }
      guard number >= first else { continue }
      return number - first
    }
    return nil
  }

  /// The names of the variables, for help.
  package static var names: [String] { variables.map(\.name) }
}
