// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// Provides single frames of a movie, exactly and in any order, as pictures or as image files.
///
/// Any number of tasks may use it; a single decoder serves them one after the other. It decodes
/// onwards if the next frame is near, else it seeks.
///
/// ```swift
/// let generator = StereoImageGenerator(movie)
/// let frame = try await generator.frame(120)
/// let file = try await generator.image(at: .seconds(1.5), as: .png).bytes
/// ```
public final class StereoImageGenerator: Sendable {
  /// The content of an image file.
  public enum Show: String, CaseIterable, Sendable {
    case left, right
    /// Both eyes in the arrangement of a packed movie, else side by side; the left one first.
    case both
    /// Both eyes in one picture for red-cyan glasses.
    case anaglyph
  }

  /// Maximum size of the cache of decoded frames, in bytes.
  public static let cacheLimit = 128 << 20

  private let movie: StereoMovie
  private let show: Show
  private let conversion: DecodeGraph.Conversion
  private let queue = TaskQueue()
  private let state = Locked(State())
  private let encoders = Locked([EncoderKey: PictureEncoder]())

  private struct State {
    var decode: Decode?
    /// The last frame that was decoded; nil after a seek.
    var position: Int?
    var cache = FrameCache(limit: StereoImageGenerator.cacheLimit)
  }

  private struct EncoderKey: Hashable {
    let format: ImageFormat
    let isPair: Bool
  }

  /// Number of frames whose decoding takes about as long as a seek.
  private static let reach = 20
  private static let patience = Duration.seconds(20)

  /// Creates a generator.
  ///
  /// - Parameters:
  ///   - movie: the movie that has the frames.
  ///   - show: the eyes to decode and show in image files. If only the eye of the base layer is
  ///     shown, the other one is neither decoded nor needed.
  ///   - maximumSize: the size to which each eye's picture is scaled down; nil for the size of the
  ///     movie.
  public init(_ movie: StereoMovie, show: Show = .both, maximumSize: PictureSize? = nil) {
    (self.movie, self.show) = (movie, show)
    conversion = DecodeGraph.Conversion(size: maximumSize)
  }

  /// Returns a frame of the movie. If only one eye is shown or the movie is mono, both of its
  /// pictures are the same, and ``StereoFrame/isMono`` is true.
  ///
  /// - Parameter index: the position in the movie's ``FrameIndex``.
  /// - Throws: a ``StereoMediaError`` if there is no such frame or it cannot be decoded;
  ///   `CancellationError` if the task is cancelled.
  public func frame(_ index: Int) async throws -> StereoFrame {
    guard movie.facts.frames.indices.contains(index) else {
      throw StereoMediaError(
        .outOfRange, "'\(movie.path)' has \(movie.facts.frames.count) frames, but no frame \(index)"
      )
    }
    if let frame = state.withLock({ $0.cache[index] }) { return frame }
    let late = StereoMediaError(
      .stalled, "frame \(index) of '\(movie.path)' was not decoded in time")
    return try await queue.run {
      try await limited(to: Self.patience, late: late) { try await self.find(index) }
    }
  }

  /// Returns the frame that is shown at a time, which is limited to the first and the last frame.
  ///
  /// - Throws: the errors of ``frame(_:)``.
  public func frame(at time: Duration) async throws -> StereoFrame {
    try await frame(movie.facts.frames.playing(at: time) ?? 0)
  }

  /// Returns a frame as an image file.
  ///
  /// - Parameters:
  ///   - index: the position in the movie's ``FrameIndex``.
  ///   - eye: the single eye to show; nil for the content that the generator shows.
  ///   - format: the file format.
  ///   - maximumSize: the size to which the image is scaled down; nil for the size of the frames.
  /// - Throws: the errors of ``frame(_:)``; a ``StereoMediaError`` if a mono movie is to be shown
  ///   as two eyes or as an anaglyph.
  public func image(
    _ index: Int, of eye: Eye? = nil, as format: ImageFormat = .jpeg(),
    maximumSize: PictureSize? = nil
  ) async throws -> EncodedImage {
    try await image(index, of: eye, as: format, maximumSize: maximumSize, for: nil)
  }

  /// Returns the frame that is shown at a time as an image file.
  ///
  /// - Throws: the errors of ``image(_:of:as:maximumSize:)``.
  public func image(
    at time: Duration, as format: ImageFormat = .jpeg()
  ) async throws -> EncodedImage {
    try await image(
      movie.facts.frames.playing(at: time) ?? 0, of: nil, as: format, maximumSize: nil, for: time)
  }

  /// Returns image files of the frames that are shown at these times, in the given order. A failed
  /// frame does not end the sequence, but cancelling the task does.
  public func images(at times: [Duration], as format: ImageFormat = .jpeg()) -> Images {
    Images(generator: self, times: times, format: format)
  }

  /// A sequence of image files, encoded on demand.
  public struct Images: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// An image file, or the error of one frame.
    public typealias Element = Result<EncodedImage, StereoMediaError>

    let generator: StereoImageGenerator
    let times: [Duration]
    let format: ImageFormat
    private var done = 0

    init(generator: StereoImageGenerator, times: [Duration], format: ImageFormat) {
      (self.generator, self.times, self.format) = (generator, times, format)
    }

    /// Returns the sequence itself.
    public func makeAsyncIterator() -> Images { self }

    /// Returns the next result; nil after the last one and if the task is cancelled.
    public mutating func next() async -> Result<EncodedImage, StereoMediaError>? {
      guard done < times.count else { return nil }
      defer { done += 1 }
      do {
        return .success(try await generator.image(at: times[done], as: format))
      } catch let error as StereoMediaError {
        return .failure(error)
      } catch {
        done = times.count
        return nil
      }
    }
  }

  private func image(
    _ index: Int, of eye: Eye?, as format: ImageFormat, maximumSize: PictureSize?,
    for time: Duration?
  ) async throws -> EncodedImage {
    if movie.facts.stereo == .no, eye == nil, [.both, .anaglyph].contains(show) {
      throw StereoMediaError(
        .missingVideo, "'\(movie.path)' has only one eye", hint: "show one eye: 'show: .left'")
    }
    let frame = try await frame(index)
    let pictures = try await Blocking.run {
      try frame.pictures(of: eye).map { picture in
        guard let maximumSize else { return picture }
        return try picture.converted(to: picture.format, size: maximumSize)
      }
    }
    let encoder = encoder(EncoderKey(format: format, isPair: pictures.count > 1))
    let late = StereoMediaError(.stalled, "frame \(index) was not encoded in time")
    let bytes = try await queue.run {
      try await limited(to: Self.patience, late: late) { try await encoder.encode(pictures) }
    }
    return EncodedImage(
      bytes: bytes, format: format, requestedTime: time, actualTime: frame.time,
      index: frame.index ?? index)
  }

  private func encoder(_ key: EncoderKey) -> PictureEncoder {
    encoders.withLock { encoders in
      if let encoder = encoders[key] { return encoder }
      let encoder = PictureEncoder(key.format, packing: packing)
      encoders[key] = encoder
      return encoder
    }
  }

  private var content: DecodeGraph.Content {
    switch show {
    case .left: .eye(.left)
    case .right: .eye(.right)
    case .both, .anaglyph: .eyes
    }
  }

  /// The way in which two eyes become one picture, as a mode of `stereopack`.
  private var packing: String {
    if show == .anaglyph { return "anaglyph" }
    if case .packed(let layout) = movie.facts.stereo, layout.arrangement == .topBottom {
      return "top-bottom"
    }
    return "side-by-side"
  }

  /// Decodes a frame. Used by one task at a time.
  private func find(_ index: Int) async throws -> StereoFrame {
    if let frame = state.withLock({ $0.cache[index] }) { return frame }
    do {
      return try await found(index, from: index)
    } catch let error as StereoMediaError where error.code == .decodingFailed {
      guard let start = movie.facts.frames.recoveryStart(of: index) else { throw error }
      return try await found(index, from: start)
    }
  }

  /// Decodes a frame and caches it.
  ///
  /// - Parameters:
  ///   - index: the frame.
  ///   - start: the same frame or an earlier one, to which it seeks.
  private func found(_ index: Int, from start: Int) async throws -> StereoFrame {
    do {
      let frame = try await decoded(index, from: start)
      state.withLock { $0.cache.insert(frame, at: index) }
      return frame
    } catch let error as StereoMediaError {
      // The decoder may be in any state, so the next frame gets a new one.
      let failed = state.withLock { state in
        state.position = nil
        return state.decode.take()
      }
      await failed?.close()
      throw error
    }
  }

  private func decoded(_ index: Int, from start: Int) async throws -> StereoFrame {
    let frames = movie.facts.frames
    let decode: Decode
    if let current = state.withLock({ $0.decode }) {
      decode = current
    } else {
      decode = try await Decode.start(movie.source, content, conversion, depth: 1)
      state.withLock { ($0.decode, $0.position) = (decode, -1) }
    }
    let position = state.withLock { $0.position }
    if !(position.map { $0 < index && index - $0 <= Self.reach } ?? false) {
      state.withLock { $0.position = nil }
      try await decode.seek(to: frames.middle(of: start))
    }
    while let frame = try await decode.next() {
      guard let found = frames.index(ofPictureAt: frame.time) else { continue }
      state.withLock { $0.position = found }
      if found == index { return try stereoFrame(frame, index) }
      if found > index { break }
    }
    let seconds = Double(frames[index].time.clockTime.units(perSecond: 1000)) / 1000
    throw StereoMediaError.decoding(
      movie.path, "the frame at \(seconds) s cannot be decoded")
  }

  /// Copies a decoded frame, so that the cache does not hold buffers of the decoder.
  private func stereoFrame(_ frame: Decode.Frame, _ index: Int) throws -> StereoFrame {
    let known = movie.facts.frames[index]
    let pictures = try frame.pictures.map { try $0.copied() }
    guard let left = pictures.first, let right = pictures.last else {
      throw StereoMediaError.decoding(movie.path, "it has no pictures")
    }
    return StereoFrame(
      left: left, right: right, time: known.time, duration: known.duration, index: index,
      metadata: movie.facts.metadata)
  }
}

extension StereoFrame {
  /// Returns the picture of one eye, or all pictures that differ.
  fileprivate func pictures(of eye: Eye?) -> [Picture] {
    if let eye { return [self[eye]] }
    return isMono ? [left] : [left, right]
  }
}

/// A cache of recently used frames with a maximum size in bytes.
struct FrameCache {
  private let limit: Int
  private var size = 0
  private var frames: [Int: (frame: StereoFrame, bytes: Int, use: Int)] = [:]
  private var uses = 0

  init(limit: Int) {
    self.limit = limit
  }

  subscript(index: Int) -> StereoFrame? {
    mutating get {
      guard let found = frames[index] else { return nil }
      uses += 1
      frames[index]?.use = uses
      return found.frame
    }
  }

  /// Adds a frame, and removes the least recently used ones if the cache is full.
  mutating func insert(_ frame: StereoFrame, at index: Int) {
    let bytes =
      frame.left.buffer.size + (frame.isMono ? 0 : frame.right.buffer.size)
    guard bytes <= limit else { return }
    uses += 1
    if let old = frames.updateValue((frame, bytes, uses), forKey: index) { size -= old.bytes }
    size += bytes
    while size > limit, let oldest = frames.min(by: { $0.value.use < $1.value.use }) {
      size -= oldest.value.bytes
      frames[oldest.key] = nil
    }
  }
}
