// SPDX-License-Identifier: MPL-2.0

public import AVC

/// Why a transport stream gives no video.
@nonexhaustive
public enum TransportStreamError: Error, Hashable, Sendable {
  /// The first bytes have no packets of 188, 192 or 204 bytes.
  case notTransportStream(byteCount: Int)
  /// The packets of a disc are encrypted (AACS): only the first of each 32 has its sync byte.
  case encryptedDisc
  /// The packets of the base view's video are scrambled.
  case encrypted(pid: Int)
  /// No program association table has come.
  case noTables
  /// No program has the number that was asked for.
  case noProgram(number: Int, available: [Int])
  /// No program has H.264 video; a dependent view alone cannot be decoded.
  case noVideo
  /// The table of a program names H.264 video that no packet has.
  case noPackets(pid: Int)
}

extension TransportStreamError: CustomStringConvertible {
  /// Message for the user.
  public var description: String {
    switch self {
    case .notTransportStream(let count):
      return "no packets of 188, 192 or 204 bytes in the first \(count) bytes; this is not an MPEG "
        + "transport stream"
    case .encryptedDisc:
      return "the file is encrypted, as it is on discs; only its decrypted copy can be read"
    case .encrypted(let pid): return "the video on PID \(pid) is encrypted"
    case .noTables: return "the transport stream has no program association table"
    case .noProgram(let number, let available):
      let list = available.map(String.init).joined(separator: ", ")
      return "the transport stream has no program \(number); it has: \(list)"
    case .noVideo: return "no program of the transport stream has H.264 video"
    case .noPackets(let pid):
      return "the transport stream names H.264 video on PID \(pid), but has none"
    }
  }
}

/// Something that the user may want to know about a place of a transport stream.
public struct TransportNotice: Hashable, Sendable {
  /// The subject of a notice.
  @nonexhaustive
  public enum Kind: Hashable, Sendable {
    /// Bytes between packets that belong to none.
    case skipped(byteCount: Int)
    /// A packet with transport_error_indicator or an impossible header, which is dropped.
    case damagedPacket(pid: Int)
    /// Packets are missing, by continuity_counter. The PES packet ends there.
    case lostPackets(pid: Int)
    /// A table with a wrong CRC or wrong lengths, which is dropped.
    case damagedTable(pid: Int)
    /// A PES packet header that is wrong. Without its start code, the PES packet is dropped.
    case damagedHeader(pid: Int)
    /// A PES packet that is shorter or longer than its PES_packet_length.
    case wrongLength(pid: Int)
    /// A PES packet that is larger than the budget, which is dropped.
    case budgetExceeded(pid: Int, limit: Int)
    /// Scrambled packets, which are dropped. Told once for each stream.
    case encrypted(pid: Int)
    /// The timestamps have reached 2^33 and begin again; the times continue.
    case clockWrapped(pid: Int)
    /// The timestamps have jumped by this many ticks of 90 kHz; the times continue.
    case clockJumped(pid: Int, ticks: Int64)
    /// An access unit of the base view without one of the dependent view; it is output alone.
    case loneBase
    /// An access unit of the dependent view without one of the base view; it is dropped.
    case loneDependent
    /// The access unit that is being assembled is lost.
    case lostAccessUnit(MVCView, MVCError)
  }

  /// Offset in bytes from the start of the stream.
  public let position: Int
  /// Its subject.
  public let kind: Kind
}

extension TransportNotice: CustomStringConvertible {
  /// Message for the user.
  public var description: String {
    let text =
      switch kind {
      case .skipped(let count): "\(count) bytes belong to no packet"
      case .damagedPacket(let pid): "damaged packet of PID \(pid)"
      case .lostPackets(let pid): "packets of PID \(pid) are missing"
      case .damagedTable(let pid): "damaged table on PID \(pid)"
      case .damagedHeader(let pid): "damaged PES packet header on PID \(pid)"
      case .wrongLength(let pid): "a PES packet of PID \(pid) has not the length that it says"
      case .budgetExceeded(let pid, let limit):
        "a PES packet of PID \(pid) has more than \(limit) bytes"
      case .encrypted(let pid): "PID \(pid) is encrypted"
      case .clockWrapped(let pid): "the timestamps of PID \(pid) begin again after 26.5 hours"
      case .clockJumped(let pid, let ticks):
        "the timestamps of PID \(pid) jump by \(Double(ticks) / 90000) seconds"
      case .loneBase: "a picture of the base view has no dependent view"
      case .loneDependent: "a picture of the dependent view has no base view"
      case .lostAccessUnit(let view, let error): "a picture of the \(view) is lost: \(error)"
      }
    return "byte \(position): \(text)"
  }
}
