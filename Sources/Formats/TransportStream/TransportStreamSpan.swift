// SPDX-License-Identifier: MPL-2.0

/// The first and the last time of a transport stream that can be read anywhere, and the places of
/// the times in between, which are found by bisection: transport streams have no index.
///
/// At most ``searchLimit`` bytes are read at each place.
public struct TransportStreamSpan: Sendable {
  /// The number of bytes that are read at a place: 2 MiB, more than a second of most streams.
  public static let searchLimit = 1 << 21
  /// The number of bytes that are read at once.
  private static let chunk = 1 << 16
  /// The number of places before a time that are searched for a random access point.
  private static let windowCount = 8
  /// The number of pictures that decide which one is shown first.
  private static let startCount = 8

  /// Reads a range of the stream.
  public typealias Source<Failure: Error> = (Range<Int>) throws(Failure) -> [UInt8]

  /// The size of the stream in bytes.
  public let byteCount: Int
  /// The presentation time of the first picture, in ticks of 90 kHz.
  public let start: Int64
  /// The presentation time after the last picture. Streams with jumps of their time stamps have
  /// another duration.
  public let end: Int64

  /// The duration in ticks of 90 kHz.
  public var duration: Int64 { end - start }

  private let program: Int?

  /// Finds the first and the last time of a stream.
  ///
  /// - Parameters:
  ///   - byteCount: the size of the stream in bytes.
  ///   - program: the number of the program; nil for the first one that has H.264 video.
  ///   - read: reads a range of it; fewer bytes are its end.
  /// - Returns: Nil if no video with times is found.
  public init?<Failure: Error>(
    byteCount: Int, program: Int? = nil, read: Source<Failure>
  ) throws(Failure) {
    var reader = TransportStreamReader(program: program, hasAudio: false)
    var first: [Int64] = []
    try Self.scan(0..<min(byteCount, Self.searchLimit), &reader, read) { packet in
      if let time = packet.presentationTime { first.append(time) }
      return first.count < Self.startCount
    }
    guard let start = first.min() else { return nil }
    var last: [Int64] = []
    let place = max(byteCount - Self.searchLimit, 0)
    reader.flush(position: place, near: start)
    try Self.scan(place..<byteCount, &reader, read) { packet in
      if let time = packet.presentationTime { last.append(time) }
      return true
    }
    last.sort()
    guard let latest = last.last else { return nil }
    // The last picture is shown as long as the one before.
    let step = last.count > 1 ? latest - last[last.count - 2] : 0
    self.byteCount = byteCount
    self.program = program
    self.start = start
    end = ProgramClock.time(latest, near: start + ProgramClock.modulus / 2) + step
  }

  /// A place at which reading can start.
  public struct Place: Hashable, Sendable {
    /// Its offset in bytes from the start of the stream.
    public let position: Int
    /// The presentation time of the random access point there, in ticks of 90 kHz; nil if there is
    /// none.
    public let time: Int64?
  }

  /// Returns the place at which reading has to start, so that pictures from `time` on can be
  /// decoded: that of the last random access point before, of both views if there are two.
  ///
  /// - Parameters:
  ///   - time: a presentation time between ``start`` and ``end``.
  ///   - read: reads a range of the stream.
  /// - Returns: The place of a picture near `time` if there is no such point within 16 MiB before.
  public func place<Failure: Error>(
    of time: Int64, read: Source<Failure>
  ) throws(Failure) -> Place {
    var reader = TransportStreamReader(program: program, hasAudio: false)
    // The tables are at the start.
    try Self.scan(0..<min(byteCount, Self.searchLimit), &reader, read) { _ in false }
    var places = 0..<byteCount
    while places.count > Self.searchLimit / 4 {
      let middle = places.lowerBound + places.count / 2
      var found: (time: Int64, position: Int)?
      reader.flush(position: middle, near: time)
      try Self.scan(
        middle..<min(middle + Self.searchLimit, places.upperBound), &reader, read
      ) { packet in
        found = packet.decodingTime.map { ($0, packet.position) }
        return found == nil
      }
      if let found, found.time <= time {
        places = max(found.position, middle)..<places.upperBound
      } else {
        places = places.lowerBound..<middle
      }
    }
    var upper = places.upperBound
    for _ in 0..<Self.windowCount where upper > 0 {
      // The windows overlap: a file of two clips has a second of one view, then of the other.
      let lower = max(upper - Self.searchLimit, 0)
      let window = lower..<min(lower + 2 * Self.searchLimit, places.upperBound)
      if let place = try randomAccess(before: time, window, read) { return place }
      upper = lower
    }
    return Place(position: upper == 0 ? 0 : places.lowerBound, time: nil)
  }

  /// Returns the last random access point before a time in a range.
  private func randomAccess<Failure: Error>(
    before time: Int64, _ range: Range<Int>, _ read: Source<Failure>
  ) throws(Failure) -> Place? {
    var demuxer = MVCTransportDemuxer(program: program, hasAudio: false)
    var result: Place?
    func add(_ events: [MVCTransportDemuxer.Event]) {
      for case .accessUnit(let unit) in events where unit.isRandomAccess {
        let isWhole = unit.isPaired || demuxer.program?.dependent == nil
        if isWhole, let shown = unit.presentationTime, shown <= time {
          result = Place(position: unit.position, time: shown)
        }
      }
    }
    if range.lowerBound > 0 {
      // The tables are at the start.
      var place = 0
      while demuxer.program?.base == nil, place < min(byteCount, Self.searchLimit) {
        let bytes = try read(place..<min(place + Self.chunk, byteCount))
        guard !bytes.isEmpty, (try? demuxer.push(bytes.span.bytes)) != nil else { return nil }
        place += bytes.count
      }
    }
    demuxer.flush(position: range.lowerBound, near: time)
    var place = range.lowerBound
    while place < range.upperBound {
      let bytes = try read(place..<min(place + Self.chunk, range.upperBound))
      guard !bytes.isEmpty, let events = try? demuxer.push(bytes.span.bytes) else { break }
      add(events)
      place += bytes.count
    }
    if let events = try? demuxer.end() { add(events) }
    return result
  }

  /// Gives the PES packets of the base view in a range until `body` returns false.
  private static func scan<Failure: Error>(
    _ range: Range<Int>, _ reader: inout TransportStreamReader, _ read: Source<Failure>,
    _ body: (ElementaryPacket) -> Bool
  ) throws(Failure) {
    var place = range.lowerBound
    var isEnd = false
    while !isEnd {
      let bytes =
        place < range.upperBound
        ? try read(place..<min(place + chunk, range.upperBound)) : []
      isEnd = bytes.isEmpty
      place += bytes.count
      guard let events = isEnd ? try? reader.end() : try? reader.push(bytes.span.bytes) else {
        return
      }
      for case .packet(let packet) in events where packet.identity == .base {
        guard body(packet) else { return }
      }
    }
  }
}
