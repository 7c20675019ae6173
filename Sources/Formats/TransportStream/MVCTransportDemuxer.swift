// SPDX-License-Identifier: MPL-2.0

internal import AVC

/// An access unit of stereo video.
public struct StereoAccessUnit: Sendable {
  /// The NAL units of the base view, then those of the dependent view, with start codes.
  public let bytes: [UInt8]
  /// The times in ticks of 90 kHz on the time line of the program (``ElementaryPacket``); nil if
  /// the PES packet in which it begins has none, or has them for another access unit.
  public let presentationTime: Int64?
  /// Likewise, for decoding.
  public let decodingTime: Int64?
  /// Whether decoding of both views can start here.
  public let isRandomAccess: Bool
  /// Whether it has a picture of the dependent view.
  public let isPaired: Bool
  /// Whether bytes are missing in it.
  public let isDamaged: Bool
  /// Whether the stream was interrupted before it.
  public let isDiscontinuity: Bool
  /// Offset in bytes from the start of the transport stream of the first transport packet that is
  /// needed for it, of either view. Reading can start there after a seek.
  public let position: Int
}

/// Makes one stream of whole access units of both views from a transport stream, in which the views
/// share a PID or have one each.
///
/// ```swift
/// var demuxer = MVCTransportDemuxer()
/// for chunk in chunks {
///   for case .accessUnit(let unit) in try demuxer.push(chunk) { decode(unit.bytes) }
/// }
/// for case .accessUnit(let unit) in try demuxer.end() { decode(unit.bytes) }
/// ```
///
/// Access units of two PIDs are pairs if they have the same decoding time. A lone one of the
/// dependent view is dropped, a lone one of the base view is output, each with a notice.
public struct MVCTransportDemuxer: Sendable {
  /// Something that the demuxer gives.
  public enum Event: Sendable {
    /// The program that is read, at its start and after each change of its streams.
    case program(TransportProgram)
    /// An access unit of the video.
    case accessUnit(StereoAccessUnit)
    /// A part of an audio stream.
    case audio(ElementaryPacket)
    /// Something to tell the user.
    case notice(TransportNotice)
  }

  /// The facts about a PES packet.
  private struct Stamp: Sendable {
    var presentationTime: Int64?
    var decodingTime: Int64?
    var isDamaged: Bool
    var isDiscontinuity: Bool
    var position: Int
  }

  private var reader: TransportStreamReader
  private var interleaver: MVCInterleaver<Stamp>
  private let expectsDependent: Bool
  /// Audio that came while pictures of the base view wait for the other view: who takes the audio
  /// first would have to keep it until the pictures come.
  private var waitingAudio: [ElementaryPacket] = []
  private var waitingByteCount = 0

  /// The audio that waits at most, in ticks of 90 kHz and in bytes: ten seconds. If the pictures
  /// stop, it continues alone.
  private static let waitingTimeLimit: Int64 = 900_000
  private static let waitingByteLimit = 16 << 20
  private var position = 0

  /// The program that is read; nil before its map has come.
  public var program: TransportProgram? { reader.program }
  /// Why no video has come; nil if some has.
  public var failure: TransportStreamError? { reader.failure }
  /// The distance of packets in bytes: 188, 192 or 204; nil before they have been found.
  public var packetDistance: Int? { reader.packetDistance }

  /// Creates a demuxer.
  ///
  /// - Parameters:
  ///   - program: the number of the program; nil for the first one that has H.264 video.
  ///   - expectsDependent: whether there is a dependent view's stream even if the program map that
  ///     comes first has none, as in SSIF files. Then the base view waits for it, at most 256
  ///     access units or the budget.
  ///   - hasAudio: whether the audio streams are output, too.
  ///   - budget: maximum size in bytes of a PES packet, of an access unit, and of those that wait
  ///     for the other view.
  public init(
    program: Int? = nil, expectsDependent: Bool = false, hasAudio: Bool = true,
    budget: Int = 1 << 26
  ) {
    reader = TransportStreamReader(program: program, hasAudio: hasAudio, budget: budget)
    interleaver = MVCInterleaver(hasTwoStreams: expectsDependent, budget: budget)
    self.expectsDependent = expectsDependent
  }

  /// Adds the next bytes of the stream, in chunks of any size.
  ///
  /// - Throws: ``TransportStreamError/notTransportStream(byteCount:)`` or
  ///   ``TransportStreamError/encryptedDisc`` if there are no packets at the start.
  public mutating func push(_ bytes: RawSpan) throws(TransportStreamError) -> [Event] {
    let events = try reader.push(bytes)
    return process(events)
  }

  /// Ends the stream and returns what is left.
  ///
  /// - Throws: The errors of ``push(_:)``. ``failure`` has other reasons why there was no video.
  public mutating func end() throws(TransportStreamError) -> [Event] {
    let last = try reader.end()
    var events = process(last)
    add(interleaver.end(), to: &events)
    releaseAudio(to: &events)
    return events
  }

  /// Discards the access units in progress. Call it at a discontinuity, such as a seek.
  ///
  /// - Parameters:
  ///   - position: offset of the next byte from the start of the stream.
  ///   - time: a time near which the stream continues, in ticks of 90 kHz; nil if the time stamps
  ///     are the times.
  public mutating func flush(position: Int = 0, near time: Int64? = nil) {
    reader.flush(position: position, near: time)
    interleaver.flush()
    (waitingAudio, waitingByteCount) = ([], 0)
    self.position = position
  }

  private mutating func process(_ events: [TransportEvent]) -> [Event] {
    var result: [Event] = []
    for event in events {
      switch event {
      case .notice(let notice): result.append(.notice(notice))
      case .program(let program):
        let hasTwo = expectsDependent || program.dependent != nil
        add(interleaver.setTwoStreams(hasTwo), to: &result)
        result.append(.program(program))
      case .packet(let packet):
        switch packet.identity {
        case .base: push(packet, .base, to: &result)
        case .dependent: push(packet, .dependent, to: &result)
        case .audio:
          waitingAudio.append(packet)
          waitingByteCount += packet.bytes.count
          if !interleaver.isWaiting || hasTooMuchAudio { releaseAudio(to: &result) }
        case .other: break
        }
      }
    }
    if !interleaver.isWaiting { releaseAudio(to: &result) }
    return result
  }

  private mutating func push(
    _ packet: ElementaryPacket, _ view: MVCView, to events: inout [Event]
  ) {
    position = packet.position
    // The rest of an access unit that was interrupted does not come.
    if packet.isDiscontinuity { add(interleaver.interrupt(view), to: &events) }
    let stamp = Stamp(
      presentationTime: packet.presentationTime, decodingTime: packet.decodingTime,
      isDamaged: packet.isDamaged, isDiscontinuity: packet.isDiscontinuity,
      position: packet.position)
    do throws(MVCError) {
      let output = try interleaver.push(
        packet.bytes.span.bytes, alignment: .none, stamp: stamp,
        // Times may be negative; only their order counts.
        decodingTime: packet.decodingTime.map { UInt64(bitPattern: $0 &- Int64.min) }, of: view)
      add(output, to: &events)
    } catch {
      note(.lostAccessUnit(view, error), to: &events)
    }
  }

  private var hasTooMuchAudio: Bool {
    let times = waitingAudio.lazy.compactMap(\.presentationTime)
    guard waitingByteCount <= Self.waitingByteLimit, let first = times.first,
      let last = waitingAudio.last?.presentationTime
    else { return waitingByteCount > Self.waitingByteLimit }
    return last &- first > Self.waitingTimeLimit
  }

  /// Outputs the audio that waits, up to a time in ticks of 90 kHz: all of it by default.
  private mutating func releaseAudio(upTo time: Int64 = .max, to events: inout [Event]) {
    let due = waitingAudio.prefix { $0.presentationTime ?? .min <= time }
    for packet in due {
      waitingByteCount -= packet.bytes.count
      events.append(.audio(packet))
    }
    waitingAudio.removeFirst(due.count)
  }

  private func note(_ kind: TransportNotice.Kind, to events: inout [Event]) {
    events.append(.notice(TransportNotice(position: position, kind: kind)))
  }

  private mutating func add(_ output: MVCInterleaver<Stamp>.Output, to events: inout [Event]) {
    for unit in output.units {
      let stamp = unit.stamp
      let first = min(stamp.position, unit.dependentStamp?.position ?? stamp.position)
      if let time = stamp.decodingTime ?? stamp.presentationTime {
        releaseAudio(upTo: time, to: &events)
      }
      if interleaver.hasTwoStreams, !unit.isPaired {
        events.append(.notice(TransportNotice(position: stamp.position, kind: .loneBase)))
      }
      events.append(
        .accessUnit(
          StereoAccessUnit(
            bytes: unit.bytes,
            presentationTime: unit.isFirst ? stamp.presentationTime : nil,
            decodingTime: unit.isFirst ? stamp.decodingTime : nil,
            isRandomAccess: unit.isRandomAccess, isPaired: unit.isPaired,
            isDamaged: stamp.isDamaged || unit.dependentStamp?.isDamaged ?? false,
            isDiscontinuity: unit.isFirst && stamp.isDiscontinuity, position: first)))
    }
    for _ in 0..<output.droppedCount { note(.loneDependent, to: &events) }
  }
}
