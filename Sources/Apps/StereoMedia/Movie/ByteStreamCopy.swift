// SPDX-License-Identifier: MPL-2.0

internal import AVC
internal import GStreamer
internal import SpatialElements
internal import StereoVideo

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Copies H.264 without a container, of one view or of both, into a movie.
///
/// The stream has no timestamps, and the order of output is known only at the end of a coded video
/// sequence, which may be that of the file: it is read twice.
enum ByteStreamCopy {
  /// Number of bytes that are read at once.
  private static let chunk = 1 << 18
  /// Maximum number of frames that wait for the muxer.
  private static let depth = 8
  /// The frames a second of streams that do not say it, as GStreamer's parsers assume.
  static let defaultRate = 25

  /// Copies the stream.
  ///
  /// - Returns: The assumptions that had to be made, one line each.
  /// - Throws: a ``StereoMediaError`` if it cannot be read.
  static func run(_ path: String, to movie: String) async throws -> [String] {
    let order = try await Blocking.run { try self.order(path) }
    guard order.frameCount > 0 else {
      throw StereoMediaError.unreadable(path, "there is no picture in it")
    }
    let pipeline = try Pipeline(
      parsing: "appsrc name=source ! mvhevcmux pad-timeout=0 ! filesink name=sink")
    try pipeline.element(named: "sink")?.set("location", parsing: movie)
    guard let element = pipeline.element(named: "source") else {
      throw StereoMediaError(.missingElement, "appsrc is missing")
    }
    element.set("block", "true")
    let source = AppSource(element, depth: depth, AppSource.Callbacks(needData: {}))
    defer { withExtendedLifetime(source) { pipeline.end() } }
    let feeding = Task { try await Blocking.run { try feed(path, order, source) } }
    do {
      try await pipeline.run()
    } catch {
      pipeline.end()
      _ = await feeding.result
      guard let failure = error as? PipelineFailure else { throw error }
      throw StereoMediaError.unreadable(path, failure.message)
    }
    try Task.checkCancellation()
    try await feeding.value
    return rate(order) == nil
      ? ["the stream does not say its frame rate; it is taken for \(defaultRate) frames/s"] : []
  }

  private static func rate(_ order: DisplayOrder) -> (numerator: Int, denominator: Int32)? {
    order.frameRate.flatMap { rate in
      Int32(exactly: rate.denominator).map { (rate.numerator, $0) }
    }
  }

  private static func order(_ path: String) throws -> DisplayOrder {
    var order = DisplayOrder()
    try forEachUnit(path) { _ = order.add($0.bytes) }
    return order
  }

  /// Pushes each frame with its time.
  private static func feed(_ path: String, _ order: DisplayOrder, _ source: AppSource) throws {
    // Also if the file cannot be read any more: the pipeline would wait without end.
    defer { source.end() }
    let rate = rate(order) ?? (defaultRate, 1)
    func time(_ position: Int) -> ClockTime {
      ClockTime(position, perSecond: rate.numerator, over: rate.denominator)
    }
    let positions = order.positions()
    // Timestamps begin late enough for those of decoding to be positive; running time does not.
    let delay = positions.enumerated().map { $0.offset - $0.element }.max() ?? 0
    source.element.staticPad("src")?.offset = -Int64(clamping: time(delay).nanoseconds)
    var again = DisplayOrder()
    var description: MVCDescription?
    var frame: (bytes: [UInt8], isRandomAccess: Bool)?
    var count = 0
    func push() throws {
      guard let whole = frame, positions.indices.contains(count) else { return }
      let buffer = Buffer(MVCDescription.sample(whole.bytes.span.bytes))
      let position = positions[count] + delay
      (buffer.pts, buffer.dts) = (time(position), time(count))
      buffer.duration = time(position + 1) - time(position)
      if !whole.isRandomAccess { buffer.flags.insert(.deltaUnit) }
      try source.push(buffer)
      count += 1
    }
    try forEachUnit(path) { unit in
      guard again.add(unit.bytes) else {
        frame?.bytes += unit.bytes
        return
      }
      try push()
      frame = (unit.bytes, unit.isRandomAccess)
      guard unit.isRandomAccess || description == nil,
        let new = MVCDescription(accessUnit: unit.bytes.span.bytes), new != description
      else { return }
      description = new
      source.setCaps(new.caps)
    }
    try push()
  }

  /// Passes the access units of the file to `body` in decoding order.
  private static func forEachUnit(
    _ path: String, _ body: (MVCInterleaver<Void>.Unit) throws -> Void
  ) throws {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw StereoMediaError.unreadable(path, String(cString: strerror(errno)))
    }
    defer { close(file) }
    var interleaver = MVCInterleaver<Void>(hasTwoStreams: false)
    var bytes = [UInt8](repeating: 0, count: chunk)
    while true {
      let count = read(file, &bytes, bytes.count)
      guard count >= 0 else {
        throw StereoMediaError.unreadable(path, String(cString: strerror(errno)))
      }
      guard count > 0 else { break }
      let output: MVCInterleaver<Void>.Output
      do {
        output = try interleaver.push(
          bytes.span.bytes.extracting(0..<count), alignment: .none, stamp: ())
      } catch {
        throw StereoMediaError.unreadable(path, "\(error)")
      }
      for unit in output.units { try body(unit) }
    }
    for unit in interleaver.end().units { try body(unit) }
  }
}
