// SPDX-License-Identifier: MPL-2.0

/// A movie that is composed of several others: for each time, a ``StereoCompositor`` receives the
/// frames that they show and returns the composed frame.
///
/// ``frames()`` and ``export(to:_:)`` compose the same frames, and each iteration starts from the
/// beginning. A source is decoded only while it is shown, a few frames ahead.
///
/// ```swift
/// var composition = StereoComposition(Swap(), frames: .of("a"))
/// composition.add("a", movie)
/// for try await progress in composition.export(to: "swapped.mov") { print(progress.fraction) }
/// ```
public struct StereoComposition<Compositor: StereoCompositor>: Sendable {
  let compositor: Compositor
  private let grid: FrameGrid
  private(set) var sources: [CompositionSource] = []
  private var instructions: [(range: Range<Duration>, instruction: Compositor.Instruction)] = []

  /// The stereo geometry of the result; nil for that of the source that was added first. Ignored if
  /// the output is ``CompositionOutput/mono``.
  public var spatial: SpatialMetadata?
  /// The source whose audio tracks an exported movie copies without re-encoding, along with its
  /// title, dates and places; nil for none. The source has to be added as a whole and at the start.
  public var audio: String?
  /// The pixel format of the pictures that the compositor receives; nil for that of each decoder.
  public var format: PixelFormat?
  /// The size of the pictures that the compositor receives; nil for that of each movie.
  public var size: PictureSize?
  /// The colour space of the pictures that the compositor receives; nil for that of each movie.
  /// Otherwise, its range and ``format`` have to be set, too.
  public var colour: ColourInformation?

  /// Creates a composition without sources.
  ///
  /// - Parameters:
  ///   - compositor: makes the frames.
  ///   - frames: the times at which there are frames.
  public init(_ compositor: Compositor, frames: FrameGrid) {
    (self.compositor, grid) = (compositor, frames)
  }

  /// Adds a source.
  ///
  /// - Parameters:
  ///   - id: the unique name of the source for the compositor.
  ///   - movie: a movie of any layout; a mono movie shows the same picture to both eyes.
  ///   - range: the part of the movie in which the frames begin; nil for the whole movie.
  ///   - start: the time at which that part begins on the composition's timeline, 0 or later.
  public mutating func add(
    _ id: String, _ movie: StereoMovie, range: Range<Duration>? = nil, at start: Duration = .zero
  ) {
    sources.append(CompositionSource(id, movie, range: range, at: start))
  }

  /// Passes an instruction to the compositor for all frames that begin in a part of the
  /// composition. If several apply, the last one is used.
  public mutating func during(_ range: Range<Duration>, _ instruction: Compositor.Instruction) {
    instructions.append((range, instruction))
  }

  /// Returns the composed frames, which are composed on demand.
  public func frames() -> Frames { Frames(composition: self) }

  /// Writes the composed frames into a movie. It starts when the result is iterated or its report
  /// is requested.
  ///
  /// - Parameters:
  ///   - path: the file to write. Its extension determines the container: `.mov`, `.mp4` or `.m4v`.
  ///   - settings: the settings of the movie. Nil fields of ``StereoWriter/Settings/spatial``, and
  ///     ``StereoWriter/Settings/sound`` if it is nil, are taken from the composition.
  public func export(
    to path: String, _ settings: StereoWriter.Settings = StereoWriter.Settings()
  ) -> Conversion {
    Conversion(output: path) {
      let plan = try plan()
      var settings = settings
      if compositor.output == .mono {
        (settings.layout, settings.spatial) = (.mono, SpatialMetadata())
      } else {
        settings.spatial = settings.spatial.fillingGaps(from: metadata)
      }
      settings.audio = settings.audio ?? audioMovie
      settings.frameRate = settings.frameRate ?? plan.frameRate.flatMap { $0 <= 1000 ? $0 : nil }
      return Conversion.Work(
        try StereoWriter(path, settings), frames().makeAsyncIterator(),
        span: plan.span)
    }
  }

  /// The movie that provides the composition's audio.
  var audioMovie: StereoMovie? { sources.first { $0.id == audio }?.movie }

  func plan() throws(StereoMediaError) -> CompositionPlan {
    try CompositionPlan(sources, grid, audio: audio)
  }

  /// The stereo geometry of the composed frames.
  var metadata: SpatialMetadata {
    guard compositor.output == .stereo else { return SpatialMetadata() }
    return spatial ?? sources.first?.movie.facts.metadata.writable ?? SpatialMetadata()
  }

  /// Returns the instruction for a time, and the completed fraction of its part; that of the whole
  /// if there is none.
  func instruction(
    at time: Duration, in whole: Range<Duration>
  ) -> (Compositor.Instruction?, progress: Double) {
    let said = instructions.last { $0.range.contains(time + SourcePart.rounding) }
    let range = said?.range ?? whole
    let length = range.upperBound - range.lowerBound
    let progress = length > .zero ? (time - range.lowerBound) / length : 0
    return (said?.instruction, min(max(progress, 0), 1))
  }
}

extension StereoComposition {
  /// A sequence of a composition's frames, composed on demand and from the start for each
  /// iteration. Leaving the loop, or cancelling its task, stops the decoding of the sources.
  public struct Frames: AsyncSequence, Sendable {
    /// A composed frame.
    public typealias Element = StereoFrame

    let composition: StereoComposition

    /// Starts a new iteration, which composes nothing until its first frame is requested.
    public func makeAsyncIterator() -> Iterator { Iterator(composition: composition) }

    /// Composes on demand.
    public struct Iterator: AsyncIteratorProtocol {
      private let composition: StereoComposition
      private var composer: Composer<Compositor>?
      private var isOver = false

      init(composition: StereoComposition) {
        self.composition = composition
      }

      /// Returns the next frame, with its time on the composition's timeline; nil after the last
      /// one and after an error.
      ///
      /// - Throws: any error of the compositor; a ``StereoMediaError`` if the sources and times of
      ///   the composition are inconsistent, a source cannot be read, or the composed pictures
      ///   differ in format, size or colour space; `CancellationError` if the task is cancelled.
      public mutating func next() async throws -> StereoFrame? {
        guard !isOver else { return nil }
        // If an error is thrown below, this remains true.
        isOver = true
        var current = try composer.take() ?? Composer(composition)
        guard let frame = try await current.next() else { return nil }
        composer = current
        isOver = false
        return frame
      }
    }
  }
}
