// SPDX-License-Identifier: MPL-2.0

package import PipelineFile

/// The receipt of a part: what its file was when it was finished.
package struct PartReceipt: Equatable, Sendable {
  /// The key of the plan.
  package var key: String
  /// SHA-256 of the file.
  package var hash: String
  /// The size of the file in bytes.
  package var size: Int
  package var pictureCount: Int
  /// Processor time that the part took, in seconds.
  package var coreSeconds: Double
  /// How long the part took, in seconds.
  package var seconds: Double
  /// When it was finished, in seconds since 1970.
  package var finished: Int64
  /// `HOST-PID` of the process that made the part.
  package var host: String

  package init(
    key: String, hash: String, size: Int, pictureCount: Int, coreSeconds: Double, seconds: Double,
    finished: Int64, host: String
  ) {
    (self.key, self.hash, self.size, self.pictureCount) = (key, hash, size, pictureCount)
    (self.coreSeconds, self.seconds) = (coreSeconds, seconds)
    (self.finished, self.host) = (finished, host)
  }

  /// Reads a receipt.
  ///
  /// - Returns: nil if it is damaged: the part is then encoded again.
  package init?(parsing bytes: [UInt8]) {
    guard let json = try? JSON(parsing: bytes), let key = json["key"]?.text,
      let hash = json["sha256"]?.text,
      let size = json["bytes"]?.whole.flatMap({ Int(exactly: $0) }),
      let pictures = json["pictures"]?.whole.flatMap({ Int(exactly: $0) }), size > 0, pictures > 0
    else { return nil }
    self.init(
      key: key, hash: hash, size: size, pictureCount: pictures,
      coreSeconds: json["core-seconds"]?.decimal ?? 0, seconds: json["seconds"]?.decimal ?? 0,
      finished: json["finished"]?.whole ?? 0, host: json["host"]?.text ?? "")
  }

  /// The contents of the file.
  package var json: JSON {
    .object([
      ("key", .string(key)), ("sha256", .string(hash)), ("bytes", JSON(size)),
      ("pictures", JSON(pictureCount)), ("core-seconds", JSON(coreSeconds)),
      ("seconds", JSON(seconds)), ("finished", .integer(finished)), ("host", .string(host)),
    ])
  }
}
