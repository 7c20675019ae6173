// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Makes spatial movies of stereo movies of any layout: side by side, top and bottom, frame by frame,
/// MV-HEVC with other settings; or movies of another layout of them.
///
/// ```swift
/// for try await progress in StereoConverter.convert("sbs.mp4", to: "spatial.mov") {
///   print(progress.fraction)
/// }
/// ```
public enum StereoConverter {
  /// A conversion, which begins when it is looped over, or its report is asked for.
  ///
  /// All sound comes along, and how the pair was shot, as far as it is possible and the settings say
  /// nothing else.
  ///
  /// - Parameters:
  ///   - input: a QuickTime or MP4 movie, or H.265 without a container.
  ///   - output: the movie to write; nil for one beside the input, with its layout in its name:
  ///     `_MVHEVC.mov`, `_SBS.mp4`, `_TB.mp4` or `_2D.mp4`.
  ///   - packing: how the eyes share a frame of an input that does not say so; nil to find out from
  ///     its pictures.
  ///   - settings: how it is written. Fields of ``StereoWriter/Settings/spatial`` that are nil, and
  ///     ``StereoWriter/Settings/sound`` where it is nil, are the input's.
  public static func convert(
    _ input: String, to output: String? = nil, packing: PackingLayout? = nil,
    _ settings: StereoWriter.Settings = StereoWriter.Settings()
  ) -> Conversion {
    let output = output ?? name(beside: input, settings.layout)
    return Conversion(output: output) {
      try await begin(input, output, packing, settings)
    }
  }

  /// `movie.mp4` becomes `movie_MVHEVC.mov`.
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
    if video.layout == .mono, packing == nil { packing = try await seenPacking(input) }
    var settings = settings
    settings.spatial = settings.spatial.fillingGaps(from: video.spatial.writable)
    settings.sound = settings.sound ?? movie
    settings.frameRate = settings.frameRate ?? video.frameRate
    var options = StereoReader.Options()
    options.packing = packing
    return Conversion.Work(
      try StereoWriter(output, settings), StereoReader(movie, options).makeAsyncIterator(),
      span: .zero..<last.time + last.duration)
  }

  /// How two eyes share each frame, as the pictures show.
  private static func seenPacking(_ input: String) async throws -> PackingLayout {
    try await Engine.start()
    guard case .packed(let arrangement)? = try? await PackingProbe.look(at: input) else {
      throw StereoMediaError(
        .missingVideo, "'\(input)' shows one eye only, as far as it says and can be seen",
        hint: "where it has two in each frame, 'packing' says how")
    }
    return PackingLayout(arrangement)
  }
}

/// A movie that is written out of others, by ``StereoConverter`` or a ``StereoComposition``: loop over
/// it, or ask for its ``report``. When the loop has ended, the file is there;
/// leaving the loop, or cancelling its task, removes what was written.
public struct Conversion: AsyncSequence, Sendable {
  public typealias Element = Progress

  /// How far a conversion is.
  public struct Progress: Equatable, Sendable {
    /// Frames that were given to the encoder.
    public let frameCount: Int
    /// Of the whole, from 0 to 1.
    public let fraction: Double
    /// From the beginning until now.
    public let elapsed: Duration

    /// How long the rest may take; nil where nothing can be said yet.
    public var timeLeft: Duration? {
      fraction > 0.01 ? elapsed * ((1 - fraction) / fraction) : nil
    }
  }

  /// What is written.
  public let output: String
  let begin: @Sendable () async throws -> Work

  public func makeAsyncIterator() -> Iterator { Iterator(conversion: self) }

  /// Writes to the end.
  ///
  /// - Throws: as ``Iterator/next()`` does.
  public var report: StereoWriter.Report {
    get async throws {
      var iterator = makeAsyncIterator()
      while try await iterator.next() != nil {}
      guard let report = iterator.report else {
        throw StereoMediaError(.invalidInput, "the writing of '\(output)' is over")
      }
      return report
    }
  }

  /// Works as it is asked: from one piece of progress to the next.
  public struct Iterator: AsyncIteratorProtocol {
    private let conversion: Conversion
    private var work: Work?
    private var isOver = false
    /// What was written; nil before the end.
    public private(set) var report: StereoWriter.Report?

    /// How often there is progress.
    private static let interval = Duration.milliseconds(200)

    init(conversion: Conversion) {
      self.conversion = conversion
    }

    /// Goes on for a fifth of a second. The last progress has a fraction of 1: then the file is there. Nil
    /// behind that.
    ///
    /// - Throws: a ``StereoMediaError`` where what is read cannot be, or does not show what is needed,
    ///   and where the output cannot be written, or is being written by somebody else; what a
    ///   compositor throws; `CancellationError` where the task is cancelled.
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

  /// A movie under way. Where it is let go of before its end, what was written goes, too.
  final class Work {
    let writer: StereoWriter
    /// Whether what was written has its end.
    var isKept = false
    /// Gives the next frame to write; nil behind the last one.
    let next: () async throws -> StereoFrame?
    private let span: Range<Duration>
    private var position: Duration
    private var frameCount = 0
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - frames: what is written.
    ///   - span: from the first frame's time to the end of the last one.
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

    /// Takes down that a frame was given to the encoder.
    func count(_ frame: StereoFrame) {
      frameCount += 1
      position = frame.time + (frame.duration ?? .zero)
    }

    var progress: Progress {
      let length = span.upperBound - span.lowerBound
      let fraction = length > .zero ? (position - span.lowerBound) / length : 0
      return progress(Swift.min(Swift.max(fraction, 0), 1))
    }

    /// What is told when the file is there.
    var completion: Progress { progress(1) }

    private func progress(_ fraction: Double) -> Progress {
      Progress(
        frameCount: frameCount, fraction: fraction, elapsed: ContinuousClock.now - start)
    }
  }
}
