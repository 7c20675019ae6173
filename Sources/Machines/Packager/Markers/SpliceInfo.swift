// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// A message of SCTE 35 (`splice_info_section`, 9.6), as far as packaging needs it.
public struct SpliceInfo: Equatable, Sendable {
  /// Number of the event; nil if the message has none.
  public private(set) var event: UInt32?
  /// Whether the programme may be replaced, or continues, from the splice on.
  public private(set) var role = Marker.Role.other
  /// The time of the splice on the 90 kHz clock of the transport stream, with its adjustment; nil
  /// for at once.
  public private(set) var time: UInt64?
  /// The planned duration in nanoseconds; nil if unknown.
  public private(set) var duration: UInt64?
  /// Whether the programme continues after the duration without another message.
  public private(set) var returnsByItself = false
  /// Whether the message cancels an event.
  public private(set) var isCancelled = false
  /// Whether the message asks for nothing: the sender is alive.
  public private(set) var isNull = false

  private static let clockBits = 33
  /// Types of segments that others may replace (10.3.3.1): the first of a pair starts one.
  private static let starts: Set<Int> = [0x22, 0x30, 0x32, 0x34, 0x36, 0x38, 0x3A, 0x44, 0x46]

  /// Reads a message. Those that are encrypted have no more than a splice at once.
  ///
  /// - Throws: A `SyntaxError` if it is cut off or is none.
  public init(_ message: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(message, structure: "splice_info_section")
    let table = try reader.u(8, "table_id")
    guard table == 0xFC else {
      throw reader.failure("table_id", .outOfRange(value: table, allowed: 0xFC...0xFC))
    }
    try reader.skip(4, "section_syntax_indicator")
    let length = try reader.u(12, "section_length")
    guard length <= reader.remaining / 8 else {
      throw reader.failure("section_length", .endOfData)
    }
    try reader.skip(8, "protocol_version")
    let isEncrypted = try reader.flag("encrypted_packet")
    try reader.skip(6, "encryption_algorithm")
    let adjustment = try Self.clock(&reader)
    try reader.skip(8 + 12 + 12, "cw_index")
    let type = try reader.u(8, "splice_command_type")
    guard !isEncrypted else { return }
    switch type {
    case 0: isNull = true
    case 5: try readInsert(&reader, adjustment)
    case 6:
      time = try Self.spliceTime(&reader, adjustment)
      try readDescriptors(&reader)
    default: break
    }
  }

  private static func clock(_ reader: inout BitReader) throws(SyntaxError) -> UInt64 {
    let high = try reader.u(1, "pts")
    return UInt64(high) << 32 | UInt64(try reader.u(32, "pts"))
  }

  /// Reads `splice_time()` (9.8.1).
  private static func spliceTime(
    _ reader: inout BitReader, _ adjustment: UInt64
  ) throws(SyntaxError) -> UInt64? {
    guard try reader.flag("time_specified_flag") else {
      try reader.skip(7, "reserved")
      return nil
    }
    try reader.skip(6, "reserved")
    return (try clock(&reader) + adjustment) & (1 << clockBits - 1)
  }

  private static func duration(ticks: UInt64) -> UInt64 {
    ticks / 9 * 100_000 + ticks % 9 * 100_000 / 9
  }

  /// Reads `splice_insert()` (9.7.3).
  private mutating func readInsert(
    _ reader: inout BitReader, _ adjustment: UInt64
  ) throws(SyntaxError) {
    event = UInt32(truncatingIfNeeded: try reader.u(32, "splice_event_id"))
    isCancelled = try reader.flag("splice_event_cancel_indicator")
    try reader.skip(7, "reserved")
    guard !isCancelled else { return }
    role = try reader.flag("out_of_network_indicator") ? .out : .in
    let isWhole = try reader.flag("program_splice_flag")
    let hasDuration = try reader.flag("duration_flag")
    let isImmediate = try reader.flag("splice_immediate_flag")
    try reader.skip(4, "reserved")
    if isWhole, !isImmediate { time = try Self.spliceTime(&reader, adjustment) }
    if !isWhole {
      for _ in 0..<(try reader.u(8, "component_count")) {
        try reader.skip(8, "component_tag")
        guard !isImmediate else { continue }
        let time = try Self.spliceTime(&reader, adjustment)
        self.time = self.time ?? time
      }
    }
    guard hasDuration else { return }
    returnsByItself = try reader.flag("auto_return")
    try reader.skip(6, "reserved")
    duration = Self.duration(ticks: try Self.clock(&reader))
  }

  /// Reads the first segmentation descriptor (10.3.3), which says the meaning of a time.
  private mutating func readDescriptors(_ reader: inout BitReader) throws(SyntaxError) {
    var rest = try reader.u(16, "descriptor_loop_length")
    while rest >= 2 {
      let tag = try reader.u(8, "splice_descriptor_tag")
      let length = try reader.u(8, "descriptor_length")
      rest -= 2 + length
      guard tag == 2 else {
        try reader.skip(length * 8, "descriptor")
        continue
      }
      try reader.skip(32, "identifier")
      event = UInt32(truncatingIfNeeded: try reader.u(32, "segmentation_event_id"))
      isCancelled = try reader.flag("segmentation_event_cancel_indicator")
      try reader.skip(7, "reserved")
      guard !isCancelled else { return }
      let isWhole = try reader.flag("program_segmentation_flag")
      let hasDuration = try reader.flag("segmentation_duration_flag")
      try reader.skip(6, "delivery_not_restricted_flag")
      if !isWhole { try reader.skip(try reader.u(8, "component_count") * 48, "component") }
      if hasDuration {
        let high = UInt64(try reader.u(8, "segmentation_duration"))
        duration = Self.duration(
          ticks: high << 32 | UInt64(try reader.u(32, "segmentation_duration")))
      }
      try reader.skip(8, "segmentation_upid_type")
      try reader.skip(try reader.u(8, "segmentation_upid_length") * 8, "segmentation_upid")
      let type = try reader.u(8, "segmentation_type_id")
      if Self.starts.contains(type) { role = .out }
      if Self.starts.contains(type - 1) { role = .in }
      return
    }
  }
}

extension Marker {
  /// The marker of a message of SCTE 35; nil if it asks for nothing.
  ///
  /// - Parameters:
  ///   - time: Presentation time of the splice in nanoseconds.
  public init?(_ info: SpliceInfo, message: [UInt8], at time: Int64) {
    guard !info.isNull else { return nil }
    let id = info.event.map { "splice-" + String($0, radix: 16, uppercase: true) }
    self.init(
      id: id ?? "scte35-\(time / 1_000_000)", time: time,
      role: info.isCancelled ? .other : info.role, message: message)
    if info.isCancelled { self.id += "-cancelled-\(time / 1_000_000)" }
    if role == .other, id != nil, !info.isCancelled { self.id += "-\(time / 1_000_000)" }
    duration = info.duration
    returnsByItself = info.returnsByItself && info.duration != nil
  }
}
