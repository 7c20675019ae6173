// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Reads the frames of a movie, both eyes of each, as fast as they can be decoded and never faster
/// than they are taken.
///
/// It is a recipe: each loop over it decodes anew. At most ``Options/depth`` frames wait for the
/// loop, besides those that the decoder holds. Leaving the loop, or cancelling its task, stops the
/// decoding.
///
/// ```swift
/// let movie = try await StereoMovie("movie.mov")
/// for try await frame in StereoReader(movie) {
///   use(frame.left, frame.right, frame.time)
/// }
/// ```
public struct StereoReader: AsyncSequence, Sendable {
  public typealias Element = StereoFrame

  /// What to read, and as what.
  public struct Options: Sendable {
    /// What to do with a frame of which only one eye can be had.
    public enum Unpaired: Sendable {
      /// Throw ``StereoMediaError/Code/unpairedEyes``.
      case error
      /// Leave it out.
      case skip
    }

    /// The frames that begin in this part of the movie; nil for all.
    public var range: Range<Duration>?
    /// The format of the pictures; nil for what the decoder gives.
    public var format: PixelFormat?
    /// The size of the pictures; nil for that of the movie.
    public var size: PictureSize?
    /// The colours of the pictures, whose range has to be said, and ``format`` with them; nil for those
    /// of the movie.
    public var colour: ColourInformation?
    /// How many decoded frames wait for the program, 1 to 64.
    public var depth = 2
    /// What to do with a frame of which only one eye can be had.
    public var unpaired = Unpaired.error
    /// How the eyes share a frame of a movie that does not say so; of no meaning for any other.
    public var packing: PackingLayout?

    public init() {}
  }

  let movie: StereoMovie
  let options: Options

  /// - Parameters:
  ///   - movie: what to read.
  ///   - options: which part of it, and as what.
  public init(_ movie: StereoMovie, _ options: Options = Options()) {
    (self.movie, self.options) = (movie, options)
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(frames: FrameIterator(movie, .eyes, options))
  }

  /// The pictures of one eye. The eye of the base layer takes half the work of both.
  public func pictures(of eye: Eye) -> Pictures { Pictures(reader: self, eye: eye) }

  /// Decodes as it is asked.
  public struct Iterator: AsyncIteratorProtocol {
    var frames: FrameIterator

    /// The next frame; nil behind the last one, and behind an error.
    ///
    /// - Throws: a ``StereoMediaError``; `CancellationError` where the task is cancelled.
    public mutating func next() async throws -> StereoFrame? {
      guard let (frame, index) = try await frames.next() else { return nil }
      return StereoFrame(
        frame, index, of: frames.movie.facts.frames, metadata: frames.movie.facts.metadata)
    }
  }

  /// The pictures of one eye, one frame after the other.
  public struct Pictures: AsyncSequence, Sendable {
    public typealias Element = EyeFrame

    let reader: StereoReader
    let eye: Eye

    public func makeAsyncIterator() -> Iterator {
      Iterator(frames: FrameIterator(reader.movie, .eye(eye), reader.options), eye: eye)
    }

    /// Decodes as it is asked.
    public struct Iterator: AsyncIteratorProtocol {
      var frames: FrameIterator
      let eye: Eye

      /// The next picture; nil behind the last one, and behind an error.
      ///
      /// - Throws: a ``StereoMediaError``; `CancellationError` where the task is cancelled.
      public mutating func next() async throws -> EyeFrame? {
        guard let (frame, index) = try await frames.next(), let picture = frame.pictures.first
        else { return nil }
        let known = index.map { frames.movie.facts.frames[$0] }
        return EyeFrame(
          picture: picture, eye: eye, time: known?.time ?? Duration(frame.time),
          duration: known?.duration ?? frame.duration.map { Duration($0) }, index: index)
      }
    }
  }
}

/// Goes through the frames of a movie, or of a part of it.
struct FrameIterator {
  let movie: StereoMovie
  private let content: DecodeGraph.Content
  private let options: StereoReader.Options
  private var decoding = Decoding()
  private var hasBegun = false

  init(_ movie: StereoMovie, _ content: DecodeGraph.Content, _ options: StereoReader.Options) {
    (self.movie, self.content, self.options) = (movie, content, options)
  }

  /// The next frame and its index; nil behind the last one.
  mutating func next() async throws -> (Decode.Frame, index: Int?)? {
    let (movie, content, options) = (movie, content, options)
    let frames = movie.facts.frames
    let wanted = options.range.map(frames.beginning)
    let isFirst = !hasBegun
    hasBegun = true
    return try await decoding.next {
      guard wanted?.isEmpty != true else { return nil }
      let decode = try await Decode.start(
        movie.source, content,
        DecodeGraph.Conversion(
          format: options.format, size: options.size, colour: options.colour),
        packing: options.packing, depth: Swift.min(Swift.max(options.depth, 1), 64),
        skipsUnpaired: options.unpaired == .skip)
      if let wanted, wanted != frames.startIndex..<frames.endIndex {
        try await decode.seek(to: wanted, of: frames)
      }
      return decode
    } _: { decode in
      var earlier =
        isFirst
        ? wanted.flatMap { $0.isEmpty ? nil : frames.earlierStart(of: $0.lowerBound) } : nil
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
      to: frames.middle(of: wanted.lowerBound), end: frames.middle(of: wanted.upperBound - 1) &+ 1)
  }
}
