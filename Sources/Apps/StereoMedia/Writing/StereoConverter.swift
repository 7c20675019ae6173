// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Converts stereo movies from one layout to another: side by side, top and bottom, frame by frame
/// or MV-HEVC, by default to MV-HEVC.
///
/// ```swift
/// for try await progress in StereoConverter.convert("sbs.mp4", to: "spatial.mov") {
///   print(progress.fraction)
/// }
/// ```
public enum StereoConverter {
  /// Returns a conversion, which starts when it is iterated or when its report is requested.
  ///
  /// All audio tracks are copied, and so are the stereo geometry, the metadata and the light levels
  /// of HDR, as far as possible and unless the settings override them.
  ///
  /// - Parameters:
  ///   - input: a QuickTime or MP4 movie, or H.265 without a container.
  ///   - output: the movie to write; nil for one beside the input, with a suffix for its layout:
  ///     `_MVHEVC.mov`, `_SBS.mp4`, `_TB.mp4` or `_2D.mp4`.
  ///   - packing: the arrangement of the eyes, if the input does not signal it; nil to recognize
  ///     it from the file's name, the shape of its frames or its pictures.
  ///   - settings: the settings of the movie. Nil fields of ``StereoWriter/Settings/spatial``, and
  ///     ``StereoWriter/Settings/sound`` if it is nil, are taken from the input.
  public static func convert(
    _ input: String, to output: String? = nil, packing: PackingLayout? = nil,
    _ settings: StereoWriter.Settings = StereoWriter.Settings()
  ) -> Conversion {
    let output = output ?? name(beside: input, settings.layout)
    return Conversion(output: output) {
      try await begin(input, output, packing, settings)
    }
  }

  /// Returns the default name of the output: `movie.mp4` becomes `movie_MVHEVC.mov`.
  static func name(
    beside input: String, _ layout: StereoWriter.Settings.Layout
  ) -> String {
    let start = input.lastIndex(of: "/").map { input.index(after: $0) } ?? input.startIndex
    let end = input[start...].dropFirst().lastIndex(of: ".") ?? input.endIndex
    let ending =
      switch layout {
      case .multiview: "_MVHEVC.mov"
      case .packed(let packing): packing.arrangement == .topBottom ? "_TB.mp4" : "_SBS.mp4"
      case .mono: "_2D.mp4"
      }
    return input[..<end] + ending
  }

  private static func begin(
    _ input: String, _ output: String, _ packing: PackingLayout?, _ settings: StereoWriter.Settings
  ) async throws -> Conversion.Work {
    let movie = try await StereoMovie(input)
    guard let video = movie.video, let last = video.frames.last else {
      throw StereoMediaError(.missingVideo, "'\(input)' has no video")
    }
    var packing = packing
    if video.layout == .mono, packing == nil { packing = try await recognizedPacking(movie) }
    var settings = settings
    settings.spatial = settings.spatial.fillingGaps(from: video.spatial.writable)
    settings.audio = settings.audio ?? movie
    settings.metadata = settings.metadata.fillingGaps(from: movie.metadata.writable)
    settings.masteringDisplay = settings.masteringDisplay ?? video.masteringDisplay
    settings.contentLightLevel = settings.contentLightLevel ?? video.contentLightLevel
    settings.frameRate = settings.frameRate ?? video.frameRate
    var options = StereoReader.Options()
    options.packing = packing
    return Conversion.Work(
      try StereoWriter(output, settings), StereoReader(movie, options).makeAsyncIterator(),
      span: .zero..<last.time + last.duration)
  }

  /// Recognizes the arrangement of the eyes.
  private static func recognizedPacking(_ movie: StereoMovie) async throws -> PackingLayout {
    try await Engine.start()
    do throws(RecognizedLayout.Refusal) {
      let found = try await RecognizedLayout.recognize(
        movie.path, .movie(movie.facts), within: RecognizedLayout.conversionBudget)
      if case .packed(let packing) = found.eyes { return packing }
    } catch {
      if case .unreadable(let reason) = error {
        throw StereoMediaError.decoding(movie.path, reason)
      }
    }
    throw StereoMediaError(
      .missingVideo,
      "'\(movie.path)' does not signal two eyes, and neither its name nor its pictures show them",
      hint: "if it has two eyes in each frame, set 'packing'")
  }
}

/// The writing of a movie by ``StereoConverter`` or a ``StereoComposition``. Iterate over it, or
/// request its ``report``. When the loop has ended, the file is complete; leaving the loop, or
/// cancelling its task, removes the incomplete file.
public struct Conversion: AsyncSequence, Sendable {
  /// The progress so far.
  public typealias Element = Progress

  /// The progress of a conversion.
  public struct Progress: Equatable, Sendable {
    /// Number of frames that were passed to the encoder.
    public let frameCount: Int
    /// Completed fraction, from 0 to 1.
    public let fraction: Double
    /// Time since the start.
    public let elapsed: Duration

    /// Estimated remaining time; nil if it cannot be estimated yet.
    public var timeLeft: Duration? {
      fraction > 0.01 ? elapsed * ((1 - fraction) / fraction) : nil
    }
  }

  /// The path of the movie to write.
  public let output: String
  let begin: @Sendable () async throws -> Work

  /// Starts a new conversion, which does nothing until its first progress is requested.
  public func makeAsyncIterator() -> Iterator { Iterator(conversion: self) }

  /// Writes the whole movie.
  ///
  /// - Throws: the errors of ``Iterator/next()``.
  public var report: StereoWriter.Report {
    get async throws {
      var iterator = makeAsyncIterator()
      while try await iterator.next() != nil {}
      guard let report = iterator.report else {
        throw StereoMediaError(.invalidInput, "writing '\(output)' has already ended")
      }
      return report
    }
  }

  /// Converts on demand, from one progress report to the next.
  public struct Iterator: AsyncIteratorProtocol {
    private let conversion: Conversion
    private var work: Work?
    private var isOver = false
    /// The result; nil before the end.
    public private(set) var report: StereoWriter.Report?

    /// Minimum interval between progress reports.
    private static let interval = Duration.milliseconds(200)

    init(conversion: Conversion) {
      self.conversion = conversion
    }

    /// Continues for a fifth of a second. The last progress has a fraction of 1, and the file is
    /// then complete; nil after that.
    ///
    /// - Throws: a ``StereoMediaError`` if the input cannot be read or has only one eye, or if the
    ///   output cannot be written or another writer has it open; any error of a compositor;
    ///   `CancellationError` if the task is cancelled.
    public mutating func next() async throws -> Progress? {
      guard !isOver else { return nil }
      do {
        let current = try await begun()
        let clock = ContinuousClock()
        let start = clock.now
        repeat {
          guard let frame = try await current.next() else {
            report = try await current.writer.finish()
            current.isKept = true
            (work, isOver) = (nil, true)
            return current.completion
          }
          try await current.writer.append(frame)
          current.count(frame)
        } while clock.now - start < Self.interval
        return current.progress
      } catch {
        isOver = true
        if error is CancellationError || Task.isCancelled {
          await work?.writer.cancel()
        } else {
          await work?.writer.keep()
        }
        work?.isKept = true
        work = nil
        throw error
      }
    }

    private mutating func begun() async throws -> Work {
      if let work { return work }
      let begun = try await conversion.begin()
      work = begun
      return begun
    }
  }

  /// A movie that is being written. Releasing it before its end removes the incomplete file.
  final class Work {
    let writer: StereoWriter
    /// Whether the file is kept.
    var isKept = false
    /// Returns the next frame to write; nil after the last one.
    let next: () async throws -> StereoFrame?
    private let span: Range<Duration>
    private var position: Duration
    private var frameCount = 0
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - writer: writes the frames.
    ///   - frames: the frames to write.
    ///   - span: from the first frame's time to the end of the last frame.
    init<Frames: AsyncIteratorProtocol>(
      _ writer: StereoWriter, _ frames: Frames, span: Range<Duration>
    ) where Frames.Element == StereoFrame {
      (self.writer, self.span, position) = (writer, span, span.lowerBound)
      var frames = frames
      next = { try await frames.next() }
    }

    deinit {
      guard !isKept else { return }
      Task { [writer] in await writer.cancel() }
    }

    /// Counts a frame that was passed to the encoder.
    func count(_ frame: StereoFrame) {
      frameCount += 1
      position = frame.time + (frame.duration ?? .zero)
    }

    var progress: Progress {
      let length = span.upperBound - span.lowerBound
      let fraction = length > .zero ? (position - span.lowerBound) / length : 0
      return progress(Swift.min(Swift.max(fraction, 0), 1))
    }

    /// The progress that is reported when the file is complete.
    var completion: Progress { progress(1) }

    private func progress(_ fraction: Double) -> Progress {
      Progress(
        frameCount: frameCount, fraction: fraction, elapsed: ContinuousClock.now - start)
    }
  }
}
