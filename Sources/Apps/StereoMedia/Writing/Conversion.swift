// SPDX-License-Identifier: MPL-2.0

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
