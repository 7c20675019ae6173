// SPDX-License-Identifier: MPL-2.0

/// A message to players at a time of the media: an `emsg` box of version 1 (ISO/IEC 23009-1
/// 5.10.3.3).
public struct EventMessage: Equatable, Sendable {
  /// URI that says how to read the data.
  public var scheme: String
  /// Units of time per second.
  public var timescale: UInt32
  /// Presentation time on the file's time line, in these units.
  public var time: UInt64
  /// The same for the same message wherever it is repeated.
  public var id: UInt32
  /// The content.
  public var data: [UInt8]

  /// Creates a message without a duration.
  public init(scheme: String, timescale: UInt32, time: UInt64, id: UInt32, data: [UInt8]) {
    (self.scheme, self.timescale, self.time) = (scheme, timescale, time)
    (self.id, self.data) = (id, data)
  }

  func write(to writer: inout BoxWriter) {
    writer.fullBox("emsg", version: 1) {
      $0.write(timescale)
      $0.write(time)
      // An unknown duration.
      $0.write(UInt32.max)
      $0.write(id)
      $0.write(cString: scheme)
      $0.write(cString: "")
      $0.write(data)
    }
  }
}
