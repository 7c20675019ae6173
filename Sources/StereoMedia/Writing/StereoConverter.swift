// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Makes spatial movies of stereo movies of any layout: side by side, top and bottom, frame by frame,
/// MV-HEVC with other settings.
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
  ///   - output: the movie to write; nil for one beside the input, with `_MVHEVC` in its name.
  ///   - packing: how the eyes share a frame of a movie that does not say so.
  ///   - settings: how it is written. Fields of ``StereoWriter/Settings/spatial`` that are nil, and
  ///     ``StereoWriter/Settings/sound`` where it is nil, are the input's.
  public static func convert(
    _ input: String, to output: String? = nil, packing: PackingLayout? = nil,
    _ settings: StereoWriter.Settings = StereoWriter.Settings()
  ) -> Conversion {
    Conversion(
      input: input, output: output ?? name(beside: input), packing: packing, settings: settings)
  }

  /// `movie.mp4` becomes `movie_MVHEVC.mov`.
  static func name(beside input: String) -> String {
    let start = input.lastIndex(of: "/").map { input.index(after: $0) } ?? input.startIndex
    let end = input[start...].dropFirst().lastIndex(of: ".") ?? input.endIndex
    return input[..<end] + "_MVHEVC.mov"
  }
}

/// A conversion: loop over it, or ask for its ``report``. When the loop has ended, the file is there;
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

  /// What is read.
  public let input: String
  /// What is written.
  public let output: String
  let packing: PackingLayout?
  let settings: StereoWriter.Settings

  public func makeAsyncIterator() -> Iterator { Iterator(conversion: self) }

  /// Converts to the end.
  ///
  /// - Throws: as ``Iterator/next()`` does.
  public var report: StereoWriter.Report {
    get async throws {
      var iterator = makeAsyncIterator()
      while try await iterator.next() != nil {}
      guard let report = iterator.report else {
        throw StereoMediaError(.invalidInput, "the conversion of '\(input)' is over")
      }
      return report
    }
  }

  /// Converts as it is asked: from one piece of progress to the next.
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

    /// Goes on for a fifth of a second; nil when the file is there.
    ///
    /// - Throws: a ``StereoMediaError`` where the input cannot be read or shows one eye only, and where
    ///   the output cannot be written, or is being written by another conversion; `CancellationError`
    ///   where the task is cancelled.
    public mutating func next() async throws -> Progress? {
      guard !isOver else { return nil }
      do {
        let current = try await begun()
        let clock = ContinuousClock()
        let start = clock.now
        repeat {
          guard let frame = try await current.frames.next() else {
            report = try await current.writer.finish()
            current.isKept = true
            (work, isOver) = (nil, true)
            return nil
          }
          try await current.writer.append(frame)
          current.frameCount += 1
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
      let begun = try await Work(conversion)
      work = begun
      return begun
    }
  }

  /// A conversion under way. Where it is let go of before its end, what was written goes, too.
  private final class Work {
    let writer: StereoWriter
    var frames: StereoReader.Iterator
    var frameCount = 0
    /// Whether what was written has its end.
    var isKept = false
    private let total: Int
    private let start = ContinuousClock.now

    init(_ conversion: Conversion) async throws {
      let movie = try await StereoMovie(conversion.input)
      guard let video = movie.video, !video.frames.isEmpty else {
        throw StereoMediaError(.missingVideo, "'\(conversion.input)' has no video")
      }
      guard video.layout != .mono || conversion.packing != nil else {
        throw StereoMediaError(
          .missingVideo, "'\(conversion.input)' shows one eye only, as far as it says",
          hint: "where it has two in each frame, 'packing' says how")
      }
      var settings = conversion.settings
      settings.spatial = settings.spatial.fillingGaps(from: video.spatial.writable)
      settings.sound = settings.sound ?? movie
      settings.frameRate = settings.frameRate ?? video.frameRate
      var options = StereoReader.Options()
      options.packing = conversion.packing
      total = video.frames.count
      frames = StereoReader(movie, options).makeAsyncIterator()
      writer = try StereoWriter(conversion.output, settings)
    }

    deinit {
      guard !isKept else { return }
      Task { [writer] in await writer.cancel() }
    }

    var progress: Progress {
      Progress(
        frameCount: frameCount, fraction: Swift.min(1, Double(frameCount) / Double(total)),
        elapsed: ContinuousClock.now - start)
    }
  }
}
