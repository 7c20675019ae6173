// SPDX-License-Identifier: MPL-2.0

/// Something that a transport stream gives.
public enum TransportEvent: Sendable {
  /// The program that is read, at its start and after each change of its streams.
  case program(TransportProgram)
  /// A part of a video or audio stream of the program.
  case packet(ElementaryPacket)
  /// Something to tell the user.
  case notice(TransportNotice)
}

/// Reads MPEG-2 transport streams, ISO/IEC 13818-1 (ITU-T H.222.0), of 188, 192 or 204 bytes a
/// packet, and gives the H.264 video and the audio of one program as PES packets.
///
/// Push the stream in chunks of any size. The streams of a program may be named by the program maps
/// of two clips whose packets alternate, as in the SSIF files of discs: a map that has the
/// dependent view alone adds to the one that has the base view.
///
/// ```swift
/// var reader = TransportStreamReader()
/// for chunk in chunks {
///   for case .packet(let packet) in try reader.push(chunk) where packet.identity == .base {
///     ...
///   }
/// }
/// let rest = try reader.end()
/// ```
///
/// Memory: the PES packets in progress, each of at most the budget, and the largest chunk.
public struct TransportStreamReader: Sendable {
  /// The number of bytes without a packet at the start that make an error.
  private static let searchLimit = 1 << 20

  private let wanted: Int?
  private let hasAudio: Bool
  private let budget: Int
  private var finder = PacketFinder()
  /// Bytes that are no whole packet.
  private var rest: [UInt8] = []
  private var events: [TransportEvent] = []

  /// The use of the packets of each PID.
  private var routes = [Route](repeating: .none, count: 1 << 13)
  private var associations = SectionAssembler()
  /// The assemblers of program maps by PID.
  private var tables: [Int: SectionAssembler] = [:]
  private var associationVersion: Int?
  /// The numbers of the programs that the last association table has.
  private var numbers: Set<Int> = []
  private var map: ProgramMap?
  /// A map without base view.
  private var dependentMap: ProgramMap?
  private var assemblers: [PESAssembler] = []
  private var clock = ProgramClock()
  private var hasVideo = false

  private enum Route: Sendable, Equatable {
    case none
    case associations
    case table
    case stream(Int)
  }

  /// The program that is read; nil before its map has come.
  public private(set) var program: TransportProgram?
  /// The distance of packets in bytes: 188, 192 or 204; nil before they have been found.
  public var packetDistance: Int? { finder.distance }

  /// Why no video has come; nil if some has.
  public var failure: TransportStreamError? {
    if hasVideo { return nil }
    guard finder.hasFound else {
      return finder.isEncryptedDisc
        ? .encryptedDisc : .notTransportStream(byteCount: finder.searchedCount)
    }
    if associationVersion == nil { return .noTables }
    if let wanted, !numbers.contains(wanted) {
      return .noProgram(number: wanted, available: numbers.sorted())
    }
    guard let base = program?.base else { return .noVideo }
    let isEncrypted = assemblers.contains { $0.stream.pid == base.pid && $0.hasToldEncryption }
    return isEncrypted ? .encrypted(pid: base.pid) : .noPackets(pid: base.pid)
  }

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - program: the number of the program; nil for the first one that has H.264 video.
  ///   - hasAudio: whether the audio streams are output, too.
  ///   - budget: maximum size of the payload of a PES packet in bytes.
  public init(program: Int? = nil, hasAudio: Bool = true, budget: Int = 1 << 26) {
    wanted = program
    self.hasAudio = hasAudio
    self.budget = budget
    routes[0] = .associations
  }

  /// Adds the next bytes of the stream.
  ///
  /// - Throws: ``TransportStreamError/notTransportStream(byteCount:)`` or
  ///   ``TransportStreamError/encryptedDisc`` if there are no packets at the start.
  public mutating func push(_ bytes: RawSpan) throws(TransportStreamError) -> [TransportEvent] {
    try read(bytes, isEnd: false)
    return takeEvents()
  }

  /// Ends the stream and returns what is left.
  ///
  /// - Throws: The errors of ``push(_:)``, since a short stream shows its packets at its end alone.
  ///   ``failure`` has other reasons why there was no video.
  public mutating func end() throws(TransportStreamError) -> [TransportEvent] {
    let nothing: [UInt8] = []
    try read(nothing.span.bytes, isEnd: true)
    for index in assemblers.indices {
      assemblers[index].end()
      output(of: index, position: finder.consumed)
    }
    let last = takeEvents()
    flush()
    return last
  }

  /// Discards the PES packets in progress. Call it at a discontinuity, such as a seek; the program
  /// stays.
  ///
  /// - Parameters:
  ///   - position: offset of the next byte from the start of the stream.
  ///   - time: a time near which the stream continues, in ticks of 90 kHz, which tells how many
  ///     wraps were before; nil if the time stamps are the times.
  public mutating func flush(position: Int = 0, near time: Int64? = nil) {
    finder.flush(position: position)
    rest = []
    associations.flush()
    for pid in tables.keys { tables[pid]?.flush() }
    for index in assemblers.indices { assemblers[index].flush() }
    clock = ProgramClock(near: time)
    events = []
  }

  /// The number of bytes that ``mayBegin(with:)`` needs.
  public static let startSize = 1024

  /// Returns whether a file may be a transport stream, by its first ``startSize`` bytes, or all
  /// that there are. The first packet may be incomplete, as in a recording that was cut.
  public static func mayBegin(with bytes: [UInt8]) -> Bool {
    var finder = PacketFinder()
    let first = finder.next(in: bytes.span.bytes, isEnd: bytes.count < startSize)
    return first.map { $0 < PacketFinder.largestDistance } ?? false
  }

  // MARK: Packets

  private mutating func read(_ bytes: RawSpan, isEnd: Bool) throws(TransportStreamError) {
    // A span of the property itself would keep all of `self` from being changed.
    var buffer = rest
    rest = []
    bytes.withUnsafeBytes { buffer.append(contentsOf: $0) }
    read(buffer, isEnd: isEnd)
    buffer.removeFirst(finder.consume(buffer.count))
    rest = buffer
    guard finder.hasFound || !isEnd && finder.searchedCount < Self.searchLimit else {
      throw finder.isEncryptedDisc
        ? .encryptedDisc : .notTransportStream(byteCount: finder.searchedCount)
    }
  }

  private mutating func read(_ buffer: [UInt8], isEnd: Bool) {
    let bytes = buffer.span.bytes
    while let start = finder.next(in: bytes, isEnd: isEnd) {
      let position = finder.consumed + start
      if let count = finder.takeSkipped() { note(.skipped(byteCount: count), position) }
      let packet = TransportPacket(bytes, at: start)
      guard packet.pid != TransportPacket.nullPID else { continue }
      guard !packet.hasError, packet.isValid else {
        // Its PID may be wrong; counters tell what is lost.
        note(.damagedPacket(pid: packet.pid), position)
        continue
      }
      switch routes[packet.pid] {
      case .none: break
      case .associations: readAssociations(packet, bytes, position)
      case .table: readTable(packet, bytes, position)
      case .stream(let index):
        assemblers[index].add(packet, bytes, position: position)
        if assemblers[index].hasOutput { output(of: index, position: position) }
      }
    }
  }

  private mutating func takeEvents() -> [TransportEvent] {
    defer { events = [] }
    return events
  }

  private mutating func note(_ kind: TransportNotice.Kind, _ position: Int) {
    events.append(.notice(TransportNotice(position: position, kind: kind)))
  }

  /// Moves the output of an assembler to that of the reader.
  private mutating func output(of index: Int, position: Int) {
    let pid = assemblers[index].stream.pid
    let (packets, notices) = assemblers[index].takeOutput()
    for assembled in packets {
      var packet = assembled.packet
      // Everything is compared in decoding order.
      if let stamp = assembled.dts ?? assembled.pts {
        let (time, event) = clock.time(of: stamp, &assemblers[index].clock)
        packet.decodingTime = time
        packet.presentationTime = assembled.pts.map {
          ProgramClock.time($0 &- stamp &+ time, near: time)
        }
        switch event {
        case .wrapped: note(.clockWrapped(pid: pid), packet.position)
        case .jumped(let ticks): note(.clockJumped(pid: pid, ticks: ticks), packet.position)
        case nil: break
        }
      }
      if packet.identity == .base { hasVideo = true }
      events.append(.packet(packet))
    }
    for kind in notices { note(kind, position) }
  }

  // MARK: Tables

  private mutating func readAssociations(
    _ packet: TransportPacket, _ bytes: RawSpan, _ position: Int
  ) {
    let sections = associations.add(packet, bytes)
    if associations.takeDamaged() { note(.damagedTable(pid: packet.pid), position) }
    for table in sections.compactMap({ ProgramAssociation(section: $0) }) {
      if table.version != associationVersion { numbers = [] }
      associationVersion = table.version
      for (number, pid) in table.programs {
        numbers.insert(number)
        // The maps of two clips may have PIDs of their own, so none is forgotten.
        if tables[pid] == nil, pid != 0, pid != TransportPacket.nullPID {
          tables[pid] = SectionAssembler()
          if routes[pid] == .none { routes[pid] = .table }
        }
      }
      // A recording may continue with another program, whose map may have come before.
      if wanted == nil, table.isLast, let number = map?.number, !numbers.contains(number) {
        map = nil
        for pid in tables.keys { tables[pid] = SectionAssembler() }
      }
    }
  }

  private mutating func readTable(
    _ packet: TransportPacket, _ bytes: RawSpan, _ position: Int
  ) {
    guard var assembler = tables.removeValue(forKey: packet.pid) else { return }
    let sections = assembler.add(packet, bytes)
    if assembler.takeDamaged() { note(.damagedTable(pid: packet.pid), position) }
    tables[packet.pid] = assembler
    for section in sections {
      guard let new = ProgramMap(section: section, hasExtraHeaders: finder.hasExtraHeaders)
      else { continue }
      guard wanted ?? new.number == new.number else { continue }
      if new.hasBase {
        guard map == nil || map?.number == new.number else { continue }
        map = new
      } else if new.hasDependent {
        dependentMap = new
      } else {
        // A program may lose its video; one without is not chosen by itself.
        guard map?.number ?? wanted == new.number else { continue }
        map = new
      }
      updateProgram(position)
    }
  }

  private mutating func updateProgram(_ position: Int) {
    let new = (map ?? dependentMap)?.program(dependent: dependentMap)
    guard let new, new != program else { return }
    program = new
    let streams = new.streams.filter {
      switch $0.identity {
      case .base, .dependent: true
      case .audio: hasAudio
      case .other: false
      }
    }
    // Streams that stay continue; the others end here.
    var next: [PESAssembler] = []
    var kept: Set<Int> = []
    for stream in streams {
      if case .stream(let index) = routes[stream.pid], assemblers[index].stream == stream {
        next.append(assemblers[index])
        kept.insert(index)
      } else {
        next.append(PESAssembler(stream, limit: budget))
      }
    }
    for index in assemblers.indices where !kept.contains(index) {
      assemblers[index].end()
      output(of: index, position: position)
      let pid = assemblers[index].stream.pid
      routes[pid] = tables[pid] == nil ? .none : .table
    }
    assemblers = next
    for index in assemblers.indices { routes[assemblers[index].stream.pid] = .stream(index) }
    events.append(.program(new))
  }
}
