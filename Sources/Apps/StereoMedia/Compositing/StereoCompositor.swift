// SPDX-License-Identifier: MPL-2.0

/// A type that makes each frame of a ``StereoComposition`` from the frames that its sources show at
/// that time.
///
/// ```swift
/// struct Swap: StereoCompositor {
///   let output = CompositionOutput.stereo
///
///   func compose(_ request: CompositionRequest<Void>) async throws -> ComposedFrame {
///     guard let frame = request["a"] else { return .skip }
///     return .stereo(frame.right, frame.left)
///   }
/// }
/// ```
public protocol StereoCompositor: Sendable {
  /// An instruction for a part of the composition, such as the effect to apply.
  associatedtype Instruction: Sendable = Void

  /// Whether the composed movie is stereo or mono.
  var output: CompositionOutput { get }

  /// Makes one frame. The calls are serialized, in the order of the frames' times.
  ///
  /// If the task that iterates is cancelled, this call is cancelled, too, and its result is not
  /// awaited.
  ///
  /// - Throws: any error; it ends the composition and is thrown by the sequence of frames or
  ///   progress.
  func compose(_ request: CompositionRequest<Instruction>) async throws -> ComposedFrame
}

/// The number of pictures in a composed frame.
public enum CompositionOutput: Equatable, Sendable {
  /// A picture for each eye: a spatial movie.
  case stereo
  /// One picture for both eyes: a plain movie.
  case mono
}

/// The result of a compositor. All pictures of a composition must have the same format, size and
/// colour space.
public enum ComposedFrame: Sendable {
  /// A picture for each eye; not allowed if the output is ``CompositionOutput/mono``.
  case stereo(_ left: Picture, _ right: Picture)
  /// One picture for both eyes.
  case mono(Picture)
  /// The unchanged frame of a source. If the output is ``CompositionOutput/mono``, its hero eye or
  /// else its left eye.
  case source(String)
  /// No frame at this time; the previous one is shown for longer.
  case skip
}

/// A request for one frame, with the frames that the sources show at its time.
public struct CompositionRequest<Instruction: Sendable>: Sendable {
  /// Presentation time on the composition's timeline.
  public let time: Duration
  /// Duration for which the frame is shown.
  public let duration: Duration
  /// The instruction for this part of the composition; nil if there is none.
  public let instruction: Instruction?
  /// Completed fraction of that part, or of the whole composition if there is no instruction: from
  /// 0 to 1.
  public let progress: Double
  let frames: [String: StereoFrame]
  let pictures: ReusedPictures

  /// The frame that a source shows at this time, with its own time, duration, index and metadata;
  /// nil if it shows none or there is no such source.
  public subscript(id: String) -> StereoFrame? { frames[id] }

  /// Returns a picture to draw, in the format, size and colour space of another one. Its content is
  /// undefined, and its memory is reused after the last reference to the picture is released.
  ///
  /// - Throws: a ``StereoMediaError`` if there is not enough memory.
  public func picture(like other: Picture) throws -> MutablePicture {
    try pictures.picture(like: other)
  }
}

extension ComposedFrame {
  /// Returns the pictures to show; nil for a skipped frame.
  func eyes<Instruction>(
    of request: CompositionRequest<Instruction>, as output: CompositionOutput
  ) throws(StereoMediaError) -> (left: Picture, right: Picture)? {
    switch self {
    case .skip: return nil
    case .mono(let picture): return (picture, picture)
    case .stereo(let left, let right):
      guard output == .stereo else {
        throw StereoMediaError(
          .invalidInput, "the compositor returned two pictures at \(request.time) for mono output")
      }
      let formats = (PictureFormat(left), PictureFormat(right))
      guard formats.0 == formats.1 else {
        throw StereoMediaError(
          .invalidInput,
          "the composed pictures at \(request.time) differ: the left one is \(formats.0), "
            + "the right one \(formats.1)")
      }
      return (left, right)
    case .source(let id):
      guard let frame = request[id] else {
        throw StereoMediaError(
          .invalidInput, "source '\(id)' has no frame at \(request.time)")
      }
      guard output == .mono else { return (frame.left, frame.right) }
      let picture = frame[frame.metadata.heroEye ?? .left]
      return (picture, picture)
    }
  }
}
