// SPDX-License-Identifier: MPL-2.0

public import ISOBMFF
public import StereoVideo

/// Plays movies and raw H.265 elementary streams: takes bytes, returns streams of samples with
/// their timestamps.
///
/// The player does no I/O of its own and never blocks. ``next()`` returns either the next output or
/// a request that the caller must answer first. The same code therefore plays files, streams and
/// memory, on any thread:
///
/// ```swift
/// var player = MoviePlayer(.file(size: UInt64(file.count)))
/// loop: while true {
///   switch try player.next() {
///   case .read(let request): player.supply(file.read(request.range))
///   case .output(.streams(let streams)): show(streams)
///   case .output(.sample(let stream, let sample)): decode(sample, of: stream)
///   case .end: break loop
///   default: break
///   }
/// }
/// ```
///
/// Recoverable defects of a movie are reported as ``PlayerOutput/warning(_:)``. Nothing in a file
/// can make the player trap, hang, or ask for more memory than the size of the file justifies.
public struct MoviePlayer: ~Copyable, Sendable {
  /// The kind of input that bytes come from.
  public enum Source: Sendable {
    /// Random access. The size in bytes, or nil if unknown. The player asks for bytes with
    /// ``PlayerStep/read(_:)``.
    case file(size: UInt64?)
    /// Bytes in order, in chunks of any size, passed to ``MoviePlayer/append(_:_:)``.
    case stream(StreamSource)
    /// H.265 without a container, passed to ``MoviePlayer/append(_:_:)``.
    case elementaryStream(ElementaryStreamSource)
  }

  private var phase: Phase
  /// The request that ``next()`` returned last, until it is answered.
  private var request: PlayerStep?
  private var answer: ReadAnswer?
  private var hasMoved: Bool?
  private var failure: MoviePlayerError?
  private var selection: [Bool] = []
  /// Whether a flush has dropped everything in progress and the source has not yet said where it
  /// continues.
  private var awaitsContinuation = false

  /// Creates a player at the start of a source, with all streams selected.
  public init(_ source: Source, options: PlayerOptions = PlayerOptions()) {
    phase =
      switch source {
      case .file(let size): Opening(fileSize: size, options)
      case .stream(let source): Probing(source, options)
      case .elementaryStream(let source): ElementaryPlayback(source, options)
      }
  }

  /// Returns the next output or request; an unanswered request is returned again.
  ///
  /// - Throws: The error that ended playback; every later call throws it again.
  public mutating func next() throws(MoviePlayerError) -> PlayerStep {
    while true {
      if let output = phase.outputs.popFirst() { return .output(output) }
      if let failure { throw failure }
      do {
        switch try step() {
        case .again: break
        case .phase(let new):
          swap(&new.outputs, &phase.outputs)
          phase = new
          for (stream, isSelected) in selection.enumerated() where !isSelected {
            phase.select(StreamID(rawValue: stream), false)
          }
        case .wait(let step):
          request = step
          if let output = phase.outputs.popFirst() { return .output(output) }
          return step
        }
      } catch {
        failure = error
      }
    }
  }

  private mutating func step() throws(MoviePlayerError) -> Progress {
    request = nil
    return try phase.step(answer.take(), hasMoved: hasMoved.take())
  }

  /// Selects or deselects a stream; initially all are selected. Samples of a deselected stream are
  /// not read if that can be avoided.
  public mutating func select(_ stream: StreamID, _ isSelected: Bool = true) {
    let number = stream.rawValue
    guard (0..<256).contains(number) else { return }
    while selection.count <= number { selection.append(true) }
    guard selection[number] != isSelected else { return }
    selection[number] = isSelected
    phase.select(stream, isSelected)
  }

  // MARK: Answers

  /// Answers ``PlayerStep/read(_:)`` with the bytes from the start of the range, or as many of them
  /// as the source has; nil if it has none.
  public mutating func supply(_ slice: ByteSlice?) {
    guard case .read(let request)? = request else { return }
    self.request = nil
    answer = ReadAnswer(offset: request.range.lowerBound, slice: slice)
  }

  /// Answers ``PlayerStep/moveSource(to:)``: the next bytes are those at the requested offset.
  public mutating func sourceMoved() {
    guard case .moveSource(let place)? = request else { return }
    request = nil
    phase.begin(at: place)
    hasMoved = true
  }

  /// Answers ``PlayerStep/moveSource(to:)``: the source cannot seek and continues as before.
  public mutating func sourceStays() {
    guard case .moveSource? = request else { return }
    request = nil
    hasMoved = false
  }

  // MARK: Streams

  /// Appends the next bytes of a stream; for length-prefixed H.265, exactly one access unit.
  ///
  /// - Throws: The error that ended playback.
  public mutating func append(
    _ slice: ByteSlice, _ times: ChunkTimes = ChunkTimes()
  ) throws(MoviePlayerError) {
    if let failure { throw failure }
    if awaitsContinuation {
      awaitsContinuation = false
      phase.beginBox()
    }
    do {
      try phase.append(slice, times)
    } catch {
      failure = error
      throw error
    }
  }

  /// Signals the end of a stream.
  public mutating func endSource() { phase.endInput() }

  /// Sets the file offset, in bytes, of the next chunk.
  public mutating func continueSource(at offset: UInt64) {
    awaitsContinuation = false
    phase.begin(at: offset)
  }

  /// Sets the segment that the timestamps of the following chunks refer to. The next chunk of such
  /// a movie, as in adaptive streaming, starts with a box: an index or a fragment.
  public mutating func continueSource(in segment: PlaybackSegment) {
    awaitsContinuation = false
    phase.begin(segment)
  }

  /// Adds out-of-band parameter sets of an elementary stream, valid from now on.
  ///
  /// - Throws: ``MoviePlayerError/configuration(_:)`` if they cannot be parsed.
  public mutating func add(parameterSets: [[UInt8]]) throws(MoviePlayerError) {
    try phase.add(parameterSets: parameterSets)
  }

  /// Drops everything in progress after the source has been flushed. The current segment is sent
  /// again.
  public mutating func flush() {
    phase.outputs.clear()
    awaitsContinuation = true
    phase.flush()
  }

  /// Number of bytes of a stream that are retained until the index arrives. Their memory belongs to
  /// the caller, which may want to spool large amounts to a file (``ByteSpool``).
  public var heldByteCount: UInt64 { phase.heldByteCount }

  /// The movie as its index describes it, with the fragments read so far; nil before the index is
  /// known and for a stream without a container.
  public var movie: Movie? { phase.movie?.movie }

  /// The movie's `ftyp` box; nil if it has none.
  public var fileType: FileType? { phase.movie?.fileType }

  /// The largest delay so far between an access unit and the samples made from it: pictures of an
  /// inter-view predicted eye wait for other pictures with the same reference.
  /// ``PlayerOutput/statusChanged`` reports an increase.
  public func latency(of stream: StreamID) -> ClockTime {
    phase.streams.first { $0.id == stream }?.latency ?? 0
  }

  // MARK: Seeks

  /// A map from movie time to file offsets, for seeking; nil if the movie is not seekable.
  public var seekMap: SeekMap? { phase.seekMap }

  /// The playback position, in movie time.
  public var position: ClockTime { phase.position }

  /// The duration in movie time; nil if unknown.
  public var duration: ClockTime? { phase.movie?.duration }

  /// The segment being played, on the movie's timeline, with its position and the movie's
  /// duration.
  public var segment: PlaybackSegment {
    var segment = phase.movie?.segment ?? PlaybackSegment()
    (segment.position, segment.duration) = (position, duration)
    return segment
  }

  /// Returns the result of a seek without carrying it out; nil if the seek is invalid.
  public func plan(_ seek: SeekRequest) -> SeekPlan? {
    let selected = selection.indices.filter { selection[$0] }.map { StreamID(rawValue: $0) }
    return seekMap?.plan(seek, from: segment, selected: Set(selected))
  }

  /// Continues with another part of the movie. The source of a stream must be moved to
  /// ``SeekPlan/offset`` first.
  public mutating func begin(_ plan: SeekPlan) {
    phase.outputs.clear()
    request = nil
    answer = nil
    hasMoved = nil
    awaitsContinuation = false
    phase.begin(plan)
  }
}

/// Playback choices that the movie leaves open.
public struct PlayerOptions: Sendable {
  /// Frames per second of an elementary stream without timestamps, overriding the stream's own
  /// timing; nil to use the latter.
  public var frameRate: Ratio?
  /// Whether a multi-layer track is also offered as it is, in addition to its eyes.
  public var offersLayers = true

  /// Creates the default options.
  public init() {}
}
