// SPDX-License-Identifier: MPL-2.0

/// Makes one movie of several: at each time, a ``StereoCompositor`` gets the frames that they show and
/// gives the one that is to be shown.
///
/// It is a recipe, as ``StereoReader`` is: ``frames()`` and ``export(to:_:)`` compose the same frames,
/// anew for each loop. A source is decoded while it is shown, a few frames ahead.
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

  /// How the pair was shot; nil for what the source says that was added first. Of no meaning where the
  /// output is ``CompositionOutput/mono``.
  public var spatial: SpatialMetadata?
  /// The source whose sound an exported movie gets, and its title, dates and places: all of its tracks,
  /// without being encoded again. It has to be whole and begin with the composition.
  public var sound: String?
  /// The format of the pictures that the compositor gets; nil for what each decoder gives.
  public var format: PixelFormat?
  /// The size of the pictures that the compositor gets; nil for that of each movie.
  public var size: PictureSize?
  /// The colours of the pictures that the compositor gets, whose range has to be said, and ``format``
  /// with them; nil for those of each movie.
  public var colour: ColourInformation?

  /// A composition without sources.
  ///
  /// - Parameters:
  ///   - compositor: what makes the frames.
  ///   - frames: when there are any.
  public init(_ compositor: Compositor, frames: FrameGrid) {
    (self.compositor, grid) = (compositor, frames)
  }

  /// Adds a source.
  ///
  /// - Parameters:
  ///   - id: what the compositor calls it, unlike that of any other source.
  ///   - movie: of any layout; a movie of one eye shows it to both.
  ///   - range: the frames of the movie that begin in this part of it; nil for all.
  ///   - start: when that part begins on the composition's time line, from 0 on.
  public mutating func add(
    _ id: String, _ movie: StereoMovie, range: Range<Duration>? = nil, at start: Duration = .zero
  ) {
    sources.append(CompositionSource(id, movie, range: range, at: start))
  }

  /// Says something to the compositor of all frames that begin in a part of the composition. Of
  /// instructions for the same time, the last one counts.
  public mutating func during(_ range: Range<Duration>, _ instruction: Compositor.Instruction) {
    instructions.append((range, instruction))
  }

  /// The composed frames, one after the other, as they are asked for.
  public func frames() -> Frames { Frames(composition: self) }

  /// Writes the composed frames into a movie. It begins when it is looped over, or its report is asked
  /// for.
  ///
  /// - Parameters:
  ///   - path: the file to write. Its ending says what it is to be: `.mov`, `.mp4` or `.m4v`.
  ///   - settings: how it is written. Fields of ``StereoWriter/Settings/spatial`` that are nil are the
  ///     composition's, and so is ``StereoWriter/Settings/sound`` where it is nil.
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
      settings.sound = settings.sound ?? soundMovie
      settings.frameRate = settings.frameRate ?? plan.frameRate.flatMap { $0 <= 1000 ? $0 : nil }
      return Conversion.Work(
        try StereoWriter(path, settings), frames().makeAsyncIterator(),
        span: plan.span)
    }
  }

  /// The movie whose sound is that of the composition.
  var soundMovie: StereoMovie? { sources.first { $0.id == sound }?.movie }

  func plan() throws(StereoMediaError) -> CompositionPlan {
    try CompositionPlan(sources, grid, sound: sound)
  }

  /// How the composed pair is said to be shot.
  var metadata: SpatialMetadata {
    guard compositor.output == .stereo else { return SpatialMetadata() }
    return spatial ?? sources.first?.movie.facts.metadata.writable ?? SpatialMetadata()
  }

  /// What was said of a time, and how much of that part is over; of the whole, where nothing was said.
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
  /// The frames of a composition: each loop over it composes anew, as fast as they are taken and never
  /// faster. Leaving the loop, or cancelling its task, stops the decoding of the sources.
  public struct Frames: AsyncSequence, Sendable {
    public typealias Element = StereoFrame

    let composition: StereoComposition

    public func makeAsyncIterator() -> Iterator { Iterator(composition: composition) }

    /// Composes as it is asked.
    public struct Iterator: AsyncIteratorProtocol {
      private let composition: StereoComposition
      private var composer: Composer<Compositor>?
      private var isOver = false

      init(composition: StereoComposition) {
        self.composition = composition
      }

      /// The next frame, with its time on the composition's time line; nil behind the last one, and
      /// behind an error.
      ///
      /// - Throws: what the compositor throws; a ``StereoMediaError`` where the sources and times of
      ///   the composition do not go together, where a source cannot be read, and where the pictures of
      ///   the compositor differ in format, size or colours; `CancellationError` where the task is
      ///   cancelled.
      public mutating func next() async throws -> StereoFrame? {
        guard !isOver else { return nil }
        // What is not put back is over.
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
