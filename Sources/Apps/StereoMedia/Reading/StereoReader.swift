// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
public import StereoVideo

/// A sequence of a movie's frames, both eyes of each, decoded faster than real time but only on
/// demand.
///
/// It can be iterated any number of times; each iteration decodes from the start. At most
/// ``Options/depth`` frames are buffered, in addition to those in the decoder. Leaving the loop, or
/// cancelling its task, stops decoding.
///
/// ```swift
/// let movie = try await StereoMovie("movie.mov")
/// for try await frame in StereoReader(movie) {
///   use(frame.left, frame.right, frame.time)
/// }
/// ```
public struct StereoReader: AsyncSequence, Sendable {
  /// A frame with a picture for each eye.
  public typealias Element = StereoFrame

  /// The part of the movie to read, and the output format.
  public struct Options: Sendable {
    /// The treatment of a frame with only one eye.
    public enum Unpaired: Sendable {
      /// Throw ``StereoMediaError/Code/unpairedEyes``.
      case error
      /// Skip the frame.
      case skip
    }

    /// The part of the movie in which the frames begin, which has to overlap the movie; nil for
    /// the whole movie.
    public var range: Range<Duration>?
    /// The pixel format; nil for that of the decoder.
    public var format: PixelFormat?
    /// The picture size; nil for that of the movie.
    public var size: PictureSize?
    /// The colour space; nil for that of the movie. Otherwise, its range and ``format`` have to be
    /// set, too.
    public var colour: ColourInformation?
    /// Number of decoded frames that are buffered, 1 to 64.
    public var depth = 2
    /// The treatment of a frame with only one eye.
    public var unpaired = Unpaired.error
    /// The arrangement of the eyes, for a packed movie that does not signal it; ignored for others.
    public var packing: PackingLayout?

    /// Creates options to read the whole movie as it is.
    public init() {}
  }

  let movie: StereoMovie
  let options: Options

  /// Creates a sequence of frames.
  ///
  /// - Parameters:
  ///   - movie: the movie to read.
  ///   - options: the part to read, and the output format.
  public init(_ movie: StereoMovie, _ options: Options = Options()) {
    (self.movie, self.options) = (movie, options)
  }

  /// Starts a new iteration, which decodes nothing until its first frame is requested.
  public func makeAsyncIterator() -> Iterator {
    Iterator(frames: FrameIterator(movie, .eyes, options))
  }

  /// Returns the pictures of one eye. Decoding only the base layer's eye takes half the work of
  /// both.
  public func pictures(of eye: Eye) -> Pictures { Pictures(reader: self, eye: eye) }

  /// Decodes on demand.
  public struct Iterator: AsyncIteratorProtocol {
    var frames: FrameIterator

    /// Returns the next frame; nil after the last one and after an error.
    ///
    /// - Throws: a ``StereoMediaError``; `CancellationError` if the task is cancelled.
    public mutating func next() async throws -> StereoFrame? {
      guard let (frame, index) = try await frames.next() else { return nil }
      return StereoFrame(
        frame, index, of: frames.movie.facts.frames, metadata: frames.movie.facts.metadata)
    }
  }

  /// A sequence of one eye's pictures.
  public struct Pictures: AsyncSequence, Sendable {
    /// One eye's picture of a frame.
    public typealias Element = EyeFrame

    let reader: StereoReader
    let eye: Eye

    /// Starts a new iteration, which decodes nothing until its first picture is requested.
    public func makeAsyncIterator() -> Iterator {
      Iterator(frames: FrameIterator(reader.movie, .eye(eye), reader.options), eye: eye)
    }

    /// Decodes on demand.
    public struct Iterator: AsyncIteratorProtocol {
      var frames: FrameIterator
      let eye: Eye

      /// Returns the next picture; nil after the last one and after an error.
      ///
      /// - Throws: a ``StereoMediaError``; `CancellationError` if the task is cancelled.
      public mutating func next() async throws -> EyeFrame? {
        guard let (frame, index) = try await frames.next(), let picture = frame.pictures.first
        else { return nil }
        let known = index.map { frames.movie.facts.frames[$0] }
        return EyeFrame(
          picture: picture, eye: eye, time: known?.time ?? frame.time.duration,
          duration: known?.duration ?? frame.duration.map(\.duration), index: index)
      }
    }
  }
}

extension StereoReader.Options {
  /// Throws if a number is out of range.
  fileprivate func check(of movie: StereoMovie) throws(StereoMediaError) {
    guard (1...64).contains(depth) else {
      throw StereoMediaError(.outOfRange, "1 to 64 frames can be buffered, not \(depth)")
    }
    guard let range, let last = movie.facts.frames.last else { return }
    let end = last.time + last.duration
    guard range.lowerBound < max(end, .nanoseconds(1)), range.upperBound >= .zero else {
      throw StereoMediaError(
        .outOfRange,
        "there are no frames from \(range.lowerBound) to \(range.upperBound): '\(movie.path)' "
          + "lasts \(end)")
    }
  }
}

/// Iterates over the frames of a movie or of a part of it.
struct FrameIterator {
  let movie: StereoMovie
  private let content: DecodeGraph.Content
  private let options: StereoReader.Options
  private var decoding = Decoding()
  private var hasBegun = false

  init(_ movie: StereoMovie, _ content: DecodeGraph.Content, _ options: StereoReader.Options) {
    (self.movie, self.content, self.options) = (movie, content, options)
  }

  /// Returns the next frame and its index; nil after the last one.
  mutating func next() async throws -> (Decode.Frame, index: Int?)? {
    let (movie, content, options) = (movie, content, options)
    let frames = movie.facts.frames
    if !hasBegun { try options.check(of: movie) }
    let wanted = options.range.map(frames.beginning)
    let isFirst = !hasBegun
    hasBegun = true
    return try await decoding.next {
      guard wanted?.isEmpty != true else { return nil }
      let decode = try await Decode.start(
        movie.source, content,
        DecodeGraph.Conversion(
          format: options.format, size: options.size, colour: options.colour),
        packing: options.packing, depth: options.depth,
        skipsUnpaired: options.unpaired == .skip)
      if let wanted, wanted != frames.startIndex..<frames.endIndex {
        try await decode.seek(to: wanted, of: frames)
      }
      return decode
    } _: { decode in
      var earlier =
        isFirst
        ? wanted.flatMap { $0.isEmpty ? nil : frames.recoveryStart(of: $0.lowerBound) } : nil
      while let frame = try await decode.next() {
        let index = frames.index(ofPictureAt: frame.time)
        guard let wanted, let index else { return (frame, index) }
        if index > wanted.lowerBound, let start = earlier.take() {
          try await decode.seek(to: start..<wanted.upperBound, of: frames)
          continue
        }
        if index >= wanted.upperBound { break }
        if index >= wanted.lowerBound { return (frame, index) }
      }
      return nil
    }
  }
}

extension Decode {
  fileprivate func seek(to wanted: Range<Int>, of frames: FrameIndex) async throws {
    try await seek(
      to: frames.middle(of: wanted.lowerBound), end: frames.middle(of: wanted.upperBound - 1) + 1)
  }
}
