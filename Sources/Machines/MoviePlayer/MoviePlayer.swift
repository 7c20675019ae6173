// SPDX-License-Identifier: MPL-2.0

public import ISOBMFF

/// Plays movies, and H.265 without a container: bytes in, streams of samples with their times out.
///
/// It reads nothing itself and waits for nobody: ``next()`` says what comes next, be that something
/// for the caller or something that the player has to have first. So it plays files, streams and
/// memory alike, from any thread:
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
/// What is wrong with a movie but can be done without comes as ``PlayerOutput/warning(_:)``. Nothing
/// that a file says makes the player trap, hang, or ask for more memory than the file's size
/// justifies.
public struct MoviePlayer: ~Copyable, Sendable {
  /// Where bytes come from.
  public enum Source: Sendable {
    /// They can be read anywhere; how many there are is nil where that is not known. The player
    /// asks for them by ``PlayerStep/read(_:)``.
    case file(size: UInt64?)
    /// They come in order, in chunks of any size: ``MoviePlayer/append(_:_:)``.
    case stream(StreamSource)
    /// They are H.265 without a container, and come as such.
    case elementaryStream(ElementaryStreamSource)
  }

  private var phase: Phase
  private let options: PlayerOptions
  private var outputs = OutputQueue()
  /// What was asked for and has not been answered.
  private var request: PlayerStep?
  private var answer: ReadAnswer?
  private var hasMoved: Bool?
  private var failure: MoviePlayerError?
  private var selection: [Bool] = []
  /// All that was under way was dropped, and nobody has said what comes next.
  private var hasLostPlace = false

  /// How far the movie has been played, on its own time line.
  public private(set) var position: Nanoseconds = 0

  public init(_ source: Source, options: PlayerOptions = PlayerOptions()) {
    self.options = options
    phase =
      switch source {
      case .file(let size): .opening(Boxed(Opening(fileSize: size)))
      case .stream(let source): .probing(Boxed(Probing(source)))
      case .elementaryStream(let source): .elementary(Boxed(ElementaryPlayback(source, options)))
      }
  }

  /// What comes next: the same request again as long as it has not been answered.
  ///
  /// - Throws: why nothing more comes; the same again from then on.
  public mutating func next() throws(MoviePlayerError) -> PlayerStep {
    while true {
      if let output = outputs.popFirst() { return .output(output) }
      if let failure { throw failure }
      do {
        switch try step() {
        case .again: break
        case .phase(let new):
          phase = new
          for (stream, isSelected) in selection.enumerated() where !isSelected {
            phase.select(StreamID(rawValue: stream), false)
          }
        case .wait(let step):
          request = step
          if let output = outputs.popFirst() { return .output(output) }
          return step
        }
      } catch {
        failure = error
      }
    }
  }

  private mutating func step() throws(MoviePlayerError) -> Progress {
    request = nil
    let answer = self.answer.take()
    let hasMoved = self.hasMoved.take()
    let progress: Progress
    switch phase {
    case .opening(let opening):
      progress = try opening.value.step(answer, options, &outputs)
    case .probing(let probing):
      progress = try probing.value.step(hasMoved: hasMoved, options, &outputs)
    case .readMovie(let movie):
      progress = try movie.value.step(answer, &outputs)
      position = movie.value.playback.position
    case .streamedMovie(let movie):
      progress = try movie.value.step(hasMoved: hasMoved, &outputs)
      position = movie.value.playback.position
    case .elementary(let stream):
      progress = try stream.value.step(answer, &outputs)
      position = stream.value.position
    }
    return progress
  }

  /// Says whether somebody takes a stream; all are taken at first. What nobody takes is not read,
  /// where that can be.
  public mutating func select(_ stream: StreamID, _ isSelected: Bool = true) {
    let number = stream.rawValue
    guard (0..<256).contains(number) else { return }
    while selection.count <= number { selection.append(true) }
    guard selection[number] != isSelected else { return }
    selection[number] = isSelected
    phase.select(stream, isSelected)
  }

  // MARK: Answers

  /// Answers ``PlayerStep/read(_:)``: the bytes from the start of the range on, as far as the
  /// source has them; nil where it has none.
  public mutating func supply(_ slice: ByteSlice?) {
    guard case .read(let request)? = request else { return }
    self.request = nil
    answer = ReadAnswer(offset: request.range.lowerBound, slice: slice)
  }

  /// Answers ``PlayerStep/moveSource(to:)``: the source goes on there.
  public mutating func sourceMoved() {
    guard case .moveSource(let place)? = request else { return }
    request = nil
    phase.begin(at: place)
    hasMoved = true
  }

  /// Answers ``PlayerStep/moveSource(to:)``: the source does not go there, but on as before.
  public mutating func sourceStays() {
    guard case .moveSource? = request else { return }
    request = nil
    hasMoved = false
  }

  // MARK: Streams

  /// Takes the next bytes of a stream; of length-prefixed H.265, the next access unit.
  ///
  /// - Throws: why nothing more comes.
  public mutating func append(
    _ slice: ByteSlice, _ times: ChunkTimes = ChunkTimes()
  ) throws(MoviePlayerError) {
    if let failure { throw failure }
    if hasLostPlace {
      hasLostPlace = false
      phase.beginBox()
    }
    do {
      try phase.append(slice, times)
    } catch {
      failure = error
      throw error
    }
  }

  /// Says that a stream has ended.
  public mutating func endSource() { phase.endSource() }

  /// Says that what a stream gives next lies at this byte of the file.
  public mutating func continueSource(at offset: UInt64) {
    hasLostPlace = false
    phase.begin(at: offset)
  }

  /// Says which part of the stream comes next, by times that are the source's own. A movie that
  /// comes so, as by adaptive streaming, goes on with a box: an index, or a fragment.
  public mutating func continueSource(in segment: PlaybackSegment) {
    hasLostPlace = false
    phase.begin(segment)
  }

  /// Takes parameter sets that come beside an elementary stream from now on.
  ///
  /// - Throws: why they cannot be read.
  public mutating func add(parameterSets: [[UInt8]]) throws(MoviePlayerError) {
    try phase.add(parameterSets: parameterSets)
  }

  /// Drops what is under way, since the source has dropped all of it. What part of the stream is
  /// played is told once more.
  public mutating func flush() {
    outputs.clear()
    hasLostPlace = true
    phase.flush()
  }

  /// Bytes of a stream that are kept because the index has not come yet that says what they are.
  /// Their memory is up to the caller: from some size on, chunks may better lie in a file.
  public var heldByteCount: UInt64 { phase.heldByteCount }

  /// The movie as its index says, with what has come of its fragments; nil before that is known,
  /// and of a stream without a container.
  public var movie: Movie? { phase.movie }

  /// What the movie's file says that it is; nil where it does not.
  public var fileType: FileType? { phase.fileType }

  /// By how much the samples of a stream come later than what they are made of, at the most so far:
  /// pictures of an eye that is predicted from the other wait for those that refer to the same.
  /// ``PlayerOutput/statusChanged`` says that it has grown.
  public func latency(of stream: StreamID) -> Nanoseconds { phase.latency(of: stream) }

  // MARK: Seeks

  /// Where what lies in the movie, for seeks; nil where it cannot be sought.
  public var seekMap: SeekMap? { phase.seekMap }

  /// How long the movie plays, on its own time line; nil where that is not known.
  public var duration: Nanoseconds? { phase.duration }

  /// The part of the movie that is played, on its own time line, with its position and the movie's
  /// duration.
  public var segment: PlaybackSegment {
    var segment = phase.segment
    (segment.position, segment.duration) = (position, duration)
    return segment
  }

  /// What a seek comes to; nil where it makes no sense.
  public func plan(_ seek: SeekRequest) -> SeekPlan? {
    let selected = selection.indices.filter { selection[$0] }.map { StreamID(rawValue: $0) }
    return seekMap?.plan(seek, from: segment, selected: Set(selected))
  }

  /// Plays another part of the movie from now on. A stream's source has to be made to go to
  /// ``SeekPlan/offset`` before.
  public mutating func begin(_ plan: SeekPlan) {
    outputs.clear()
    request = nil
    answer = nil
    hasMoved = nil
    hasLostPlace = false
    phase.begin(plan)
    position = plan.segment.rate < 0 ? plan.segment.stop ?? 0 : plan.segment.start
  }
}

/// How a movie is to be played, where the movie leaves that open.
public struct PlayerOptions: Sendable {
  /// Frames a second of an elementary stream without timestamps, whatever it says itself; nil for
  /// what it says.
  public var frameRate: Ratio?
  /// Whether a track of two layers is given as it is too, beside its eyes.
  public var offersLayers = true

  public init() {}
}
