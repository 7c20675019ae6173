// SPDX-License-Identifier: MPL-2.0

/// The payload of a PES packet, ISO/IEC 13818-1 (2.4.3.6): a part of an elementary stream, which is
/// cut anywhere.
public struct ElementaryPacket: Sendable {
  /// The stream that it belongs to.
  public let identity: ElementaryStream.Identity
  /// The packet identifier of that stream.
  public let pid: Int
  /// The presentation time of the first access unit that begins in it, in ticks of 90 kHz, on a
  /// time line without wraps and jumps that all streams of the program share; negative if it wraps
  /// between the first packets of two streams. Nil if there is none.
  public internal(set) var presentationTime: Int64?
  /// The decoding time, likewise. That of presentation if only that is there.
  public internal(set) var decodingTime: Int64?
  /// Its bytes.
  public internal(set) var bytes: [UInt8]
  /// Whether random_access_indicator says that decoding can start here.
  public let isRandomAccess: Bool
  /// Whether the stream was interrupted before it, by discontinuity_indicator, loss or encryption.
  public let isDiscontinuity: Bool
  /// Whether bytes are missing at its end.
  public internal(set) var isDamaged = false
  /// Offset in bytes of its first transport packet from the start of the transport stream.
  public let position: Int
}

/// The header of a PES packet, ISO/IEC 13818-1 (2.4.3.6).
struct PESHeader: Sendable {
  /// The result of reading one.
  enum Result: Sendable {
    case header(PESHeader)
    /// More bytes are needed.
    case needsMore
    /// There is no start code, or the syntax is not that of MPEG-2.
    case invalid
    /// A PES packet without elementary stream: padding, maps, private data without header.
    case noStream
  }

  /// Size in bytes, from the start code to the payload.
  let size: Int
  /// Size of the payload in bytes; nil if it is not known.
  private(set) var payloadCount: Int?
  /// `PES_scrambling_control` is not 0.
  let isScrambled: Bool
  /// The time stamps, 0 to 2^33 - 1.
  private(set) var pts: Int64?
  private(set) var dts: Int64?
  /// Whether a part of it is wrong. Everything that is right is used.
  private(set) var isDamaged = false

  private static let streamsWithoutHeader: Set<Int> = [
    0xBC, 0xBE, 0xBF, 0xF0, 0xF1, 0xF2, 0xF8, 0xFF,
  ]

  /// Reads the header at the start of `bytes`.
  static func read(_ bytes: RawSpan) -> Result {
    guard bytes.byteCount >= 6 else { return .needsMore }
    guard bytes.uint16(0) == 0, bytes.byte(2) == 1 else { return .invalid }
    guard !streamsWithoutHeader.contains(bytes.byte(3)) else { return .noStream }
    guard bytes.byteCount >= 9 else { return .needsMore }
    guard bytes.byte(6) & 0xC0 == 0x80 else { return .invalid }
    guard bytes.byteCount >= 9 + bytes.byte(8) else { return .needsMore }
    return .header(PESHeader(bytes))
  }

  private init(_ bytes: RawSpan) {
    let length = bytes.uint16(4)
    let flags = bytes.byte(7)
    let count = bytes.byte(8)
    size = 9 + count
    isScrambled = bytes.byte(6) & 0x30 != 0
    if length >= 3 + count {
      payloadCount = length - 3 - count
    } else if length != 0 {
      isDamaged = true
    }
    let stampFlags = flags >> 6
    if stampFlags == 1 || Self.extensionSize(bytes, flags) > count { isDamaged = true }
    if stampFlags & 2 != 0, count >= 5 { pts = stamp(bytes, 9, prefix: stampFlags) }
    if stampFlags == 3, count >= 10 { dts = stamp(bytes, 14, prefix: 1) }
  }

  /// Reads a time stamp; nil if its marker bits are wrong.
  private mutating func stamp(_ bytes: RawSpan, _ offset: Int, prefix: Int) -> Int64? {
    let (first, high, low) = (
      bytes.byte(offset), bytes.uint16(offset + 1), bytes.uint16(offset + 3)
    )
    guard first & 1 == 1, high & 1 == 1, low & 1 == 1, first >> 4 == prefix else {
      isDamaged = true
      return nil
    }
    return Int64(first >> 1 & 7) << 30 | Int64(high >> 1) << 15 | Int64(low >> 1)
  }

  /// The size in bytes of the fields that `flags` announce, as far as they fit.
  private static func extensionSize(_ bytes: RawSpan, _ flags: Int) -> Int {
    let end = 9 + bytes.byte(8)
    var size = flags & 0x80 == 0 ? 0 : flags & 0x40 == 0 ? 5 : 10
    // ESCR, ES_rate, DSM_trick_mode, additional_copy_info, PES_CRC.
    for (flag, count) in [(0x20, 6), (0x10, 3), (0x08, 1), (0x04, 1), (0x02, 2)]
    where flags & flag != 0 { size += count }
    guard flags & 1 != 0 else { return size }
    guard 9 + size < end else { return size + 1 }
    let more = bytes.byte(9 + size)
    size += 1
    if more & 0x80 != 0 { size += 16 }
    if more & 0x40 != 0 {
      guard 9 + size < end else { return size + 1 }
      size += 1 + bytes.byte(9 + size)
    }
    if more & 0x20 != 0 { size += 2 }
    if more & 0x10 != 0 { size += 2 }
    if more & 0x01 != 0 {
      guard 9 + size < end else { return size + 1 }
      size += 1 + bytes.byte(9 + size) & 0x7F
    }
    return size
  }
}

/// Assembles the PES packets of one PID.
struct PESAssembler: Sendable {
  /// A PES packet with its time stamps as they are written.
  struct Assembled: Sendable {
    var packet: ElementaryPacket
    let pts: Int64?
    let dts: Int64?
  }

  private enum State {
    /// Waits for the start of a PES packet.
    case waiting
    case header
    /// In a payload with this many missing bytes; nil if the next start ends it.
    case payload(missing: Int?)
  }

  /// The stream.
  let stream: ElementaryStream
  /// The time line of the stream.
  var clock = StreamClock()
  /// Whether encryption has been told.
  var hasToldEncryption = false

  private let limit: Int
  private var state = State.waiting
  private var packet: ElementaryPacket
  private var stamps: (pts: Int64?, dts: Int64?) = (nil, nil)
  /// The beginning of a header that is in several transport packets.
  private var header: [UInt8] = []
  private var continuity: Int?
  /// The last bytes of the last packet, to tell a repeated packet from a loss of fifteen.
  private var ending: UInt64 = 0
  private var isInterrupted = false
  /// A size that the next payload is likely to have at most.
  private var expectedCount = 0
  /// The PES packets that are complete, and what there is to say about the last transport packet.
  private var output: [Assembled] = []
  private var kinds: [TransportNotice.Kind] = []

  /// Creates an assembler for `stream`.
  ///
  /// - Parameter limit: maximum size of a payload in bytes.
  init(_ stream: ElementaryStream, limit: Int) {
    self.stream = stream
    self.limit = limit
    packet = ElementaryPacket(
      identity: stream.identity, pid: stream.pid, bytes: [], isRandomAccess: false,
      isDiscontinuity: false, position: 0)
  }

  /// Whether there is output.
  var hasOutput: Bool { !output.isEmpty || !kinds.isEmpty }

  /// Returns what has become complete since it was last asked.
  mutating func takeOutput() -> (packets: [Assembled], notices: [TransportNotice.Kind]) {
    defer { (output, kinds) = ([], []) }
    return (output, kinds)
  }

  /// Adds a transport packet.
  mutating func add(_ transport: TransportPacket, _ source: RawSpan, position: Int) {
    if transport.isDiscontinuous { (continuity, isInterrupted) = (nil, true) }
    guard let payload = transport.payload else { return }
    guard isNext(transport, source, payload) else { return }
    guard !transport.isScrambled else {
      tellEncryption()
      return
    }
    if transport.isStart {
      end(isStart: true)
      begin(transport, position: position)
    }
    append(source, payload, position: position)
  }

  /// Ends the PES packet in progress.
  ///
  /// - Parameter isStart: whether the next one begins, so that its length decides whether it is
  ///   complete; otherwise the stream ends.
  mutating func end(isStart: Bool = false) {
    defer { state = .waiting }
    switch state {
    case .waiting: break
    case .header: kinds.append(.damagedHeader(pid: stream.pid))
    case .payload(let missing):
      if let missing, missing > 0 { abort(.wrongLength(pid: stream.pid)) } else { finish() }
    }
  }

  /// Discards the PES packet in progress and the time line.
  mutating func flush() {
    (state, continuity, isInterrupted, clock) = (.waiting, nil, true, StreamClock())
    packet.bytes = []
    (output, kinds) = ([], [])
  }

  // MARK: Transport packets

  /// Whether a packet with payload is the one after the last, or any other that is no repetition.
  private mutating func isNext(
    _ transport: TransportPacket, _ source: RawSpan, _ payload: Range<Int>
  ) -> Bool {
    let last = source.unsafeLoadUnaligned(
      fromByteOffset: payload.upperBound - 8, as: UInt64.self)
    defer { (continuity, ending) = (transport.continuity, last) }
    guard let before = continuity, transport.continuity != (before + 1) & 0xF else { return true }
    if transport.continuity == before, last == ending { return false }
    isInterrupted = true
    kinds.append(.lostPackets(pid: stream.pid))
    // A slice with a hole in it is worse than one that ends early.
    abort(nil)
    return true
  }

  private mutating func tellEncryption() {
    isInterrupted = true
    abort(nil)
    guard !hasToldEncryption else { return }
    hasToldEncryption = true
    kinds.append(.encrypted(pid: stream.pid))
  }

  private mutating func begin(_ transport: TransportPacket, position: Int) {
    header = []
    state = .header
    packet = ElementaryPacket(
      identity: stream.identity, pid: stream.pid, bytes: [],
      isRandomAccess: transport.isRandomAccess, isDiscontinuity: isInterrupted, position: position)
    isInterrupted = false
  }

  private mutating func append(_ source: RawSpan, _ range: Range<Int>, position: Int) {
    switch state {
    case .waiting: break
    case .header:
      if header.isEmpty {
        let part = source.extracting(range)
        begin(PESHeader.read(part), part)
      } else {
        source.extracting(range).withUnsafeBytes { header.append(contentsOf: $0) }
        let whole = header
        begin(PESHeader.read(whole.span.bytes), nil)
      }
    case .payload(let missing):
      guard let missing else {
        add(source.extracting(range))
        return
      }
      if missing == 0 {
        // Muxers that count modulo 2^16 exist; the stream continues.
        resume(position: position)
        add(source.extracting(range))
        return
      }
      let count = min(missing, range.count)
      state = .payload(missing: missing - count)
      add(source.extracting(range.lowerBound..<range.lowerBound + count))
      if missing == count { finish() }
      if count < range.count {
        resume(position: position)
        add(source.extracting(range.lowerBound + count..<range.upperBound))
      }
    }
  }

  /// Begins the payload after a header.
  ///
  /// - Parameter part: the bytes with the header; nil if it has been collected in `header`.
  private mutating func begin(_ result: PESHeader.Result, _ part: RawSpan?) {
    switch result {
    case .needsMore:
      if let part { header = [UInt8](collecting: part) }
    case .noStream: state = .waiting
    case .invalid:
      kinds.append(.damagedHeader(pid: stream.pid))
      (state, isInterrupted) = (.waiting, true)
    case .header(let read):
      if read.isDamaged { kinds.append(.damagedHeader(pid: stream.pid)) }
      guard !read.isScrambled else {
        tellEncryption()
        state = .waiting
        return
      }
      stamps = (read.pts, read.dts)
      state = .payload(missing: read.payloadCount)
      packet.bytes.reserveCapacity(min(read.payloadCount ?? expectedCount, 1 << 20))
      if read.payloadCount == 0 {
        finish()
      } else if let part {
        append(part, read.size..<part.byteCount, position: packet.position)
      } else {
        let whole = header
        append(whole.span.bytes, read.size..<whole.count, position: packet.position)
      }
    }
  }

  // MARK: Payload

  private mutating func add(_ part: RawSpan) {
    guard packet.bytes.count + part.byteCount <= limit else {
      kinds.append(.budgetExceeded(pid: stream.pid, limit: limit))
      packet.bytes = []
      (state, isInterrupted) = (.waiting, true)
      return
    }
    part.withUnsafeBytes { packet.bytes.append(contentsOf: $0) }
  }

  /// Ends the payload before its end, and drops the rest.
  private mutating func abort(_ kind: TransportNotice.Kind?) {
    guard case .payload(let missing) = state, missing != 0 else {
      state = .waiting
      return
    }
    packet.isDamaged = true
    finish()
    state = .waiting
    if let kind { kinds.append(kind) }
  }

  /// Continues after the end of a payload as its length says it.
  private mutating func resume(position: Int) {
    kinds.append(.wrongLength(pid: stream.pid))
    packet = ElementaryPacket(
      identity: stream.identity, pid: stream.pid, bytes: [], isRandomAccess: false,
      isDiscontinuity: false, position: position)
    stamps = (nil, nil)
    state = .payload(missing: nil)
  }

  private mutating func finish() {
    guard !packet.bytes.isEmpty else { return }
    // What is likely is more than the average, but not one large picture's size for ever.
    expectedCount = max(packet.bytes.count, expectedCount - expectedCount / 8)
    output.append(Assembled(packet: packet, pts: stamps.pts, dts: stamps.dts))
    packet.bytes = []
  }
}

extension [UInt8] {
  /// Copies the bytes of a span.
  init(collecting span: RawSpan) {
    self = span.withUnsafeBytes { Array($0) }
  }
}
