// SPDX-License-Identifier: MPL-2.0

/// Makes each frame of a ``StereoComposition`` of the frames that its sources show at that time.
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
  /// What a program says of parts of the composition, such as which effect there is.
  associatedtype Instruction: Sendable = Void

  /// How many eyes the composed movie has.
  var output: CompositionOutput { get }

  /// Makes one frame. Requests come one after the other, in the order of their times.
  ///
  /// A task that is cancelled does not wait for it any longer; its own task is cancelled, too.
  ///
  /// - Throws: whatever ends the composition; the sequence of frames, or of progress, throws it.
  func compose(_ request: CompositionRequest<Instruction>) async throws -> ComposedFrame
}

/// How many eyes a composed movie has.
public enum CompositionOutput: Equatable, Sendable {
  /// Two: a spatial movie.
  case stereo
  /// One picture for both: a plain movie.
  case mono
}

/// What a compositor makes of a request. All pictures of a composition have one format, size and
/// colours.
public enum ComposedFrame: Sendable {
  /// A picture for each eye; of no use where the output is ``CompositionOutput/mono``.
  case stereo(_ left: Picture, _ right: Picture)
  /// One picture for both eyes.
  case mono(Picture)
  /// The frame of a source as it is. Where the output is ``CompositionOutput/mono``, that of its hero
  /// eye, or of the left one.
  case source(String)
  /// No frame at this time: the one before is shown for longer.
  case skip
}

/// What is to be composed: a time, and what each source shows then.
public struct CompositionRequest<Instruction: Sendable>: Sendable {
  /// When the frame is shown, on the composition's time line.
  public let time: Duration
  /// For how long it is shown.
  public let duration: Duration
  /// What the program said of this part of the composition; nil where it said nothing.
  public let instruction: Instruction?
  /// How much of that part is over, or of the whole composition where nothing was said: from 0 to 1.
  public let progress: Double
  let frames: [String: StereoFrame]
  let pictures: RecycledPictures

  /// The frame that a source shows now, with its own time, duration, index and metadata; nil where the
  /// source shows nothing now, and where there is no such source.
  public subscript(id: String) -> StereoFrame? { frames[id] }

  /// A picture of the format, size and colours of another one, to be drawn. Its content is unset, and
  /// its memory is used again when nobody holds it any more.
  ///
  /// - Throws: a ``StereoMediaError`` where there is no memory for it.
  public func picture(like other: Picture) throws -> MutablePicture {
    try pictures.picture(like: other)
  }
}

extension ComposedFrame {
  /// The pictures that are to be shown; nil for a frame that is skipped.
  func eyes<Instruction>(
    of request: CompositionRequest<Instruction>, as output: CompositionOutput
  ) throws(StereoMediaError) -> (left: Picture, right: Picture)? {
    switch self {
    case .skip: return nil
    case .mono(let picture): return (picture, picture)
    case .stereo(let left, let right):
      guard output == .stereo else {
        throw StereoMediaError(
          .invalidInput, "the compositor gave two pictures at \(request.time) for a mono output")
      }
      let formats = (PictureFormat(left), PictureFormat(right))
      guard formats.0 == formats.1 else {
        throw StereoMediaError(
          .invalidInput,
          "the composed pictures at \(request.time) differ: the left one is \(formats.0), the right "
            + "one \(formats.1)")
      }
      return (left, right)
    case .source(let id):
      guard let frame = request[id] else {
        throw StereoMediaError(
          .invalidInput, "the source '\(id)' shows nothing at \(request.time)")
      }
      guard output == .mono else { return (frame.left, frame.right) }
      let picture = frame[frame.metadata.heroEye ?? .left]
      return (picture, picture)
    }
  }
}
