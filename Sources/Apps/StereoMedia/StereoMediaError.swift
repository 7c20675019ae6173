// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// What went wrong, in a sentence for people, and what can be done about it.
public struct StereoMediaError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of thing went wrong, for a program to decide by.
  public enum Code: Equatable, Sendable {
    /// The file cannot be opened, or is no movie that can be read.
    case unreadable
    /// The movie has no video, or not the eye that is asked for.
    case missingVideo
    /// No decoder for the movie's coding is installed; ``StereoMediaError/hint`` says what has one.
    case missingDecoder
    /// An element of GStreamer is not installed; ``StereoMediaError/hint`` says what has it.
    case missingElement
    /// A `libgstspatial.so` of another version is loaded into the process.
    case elementConflict
    /// The movie's data are damaged, or a decoder gave up.
    case decodingFailed
    /// The two eyes of a frame did not come together.
    case unpairedEyes
    /// There is no such frame, plane or time.
    case outOfRange
    /// A pixel format that GStreamer does not know, or a size that no picture has.
    case unsupportedFormat
    /// There is no memory for a picture.
    case outOfMemory
    /// The movie's sound is not heard: there is no device for it, or no decoder.
    case soundless
    /// Nothing moved for as long as is allowed.
    case stalled
    /// The file that is to be written is there already, or somebody else is writing it.
    case outputExists
    /// The file cannot be written: there is no such folder, no permission, or no space left.
    case unwritable
    /// What was given does not go together: frames with those that a writer has, or that has ended;
    /// sources, times and pictures of a composition; a name that no element can have.
    case invalidInput
    /// There is an element of this name.
    case nameTaken
    /// The encoder or the muxer gave up.
    case encodingFailed
    /// The compositor of a composition that is played threw an error of its own.
    case compositionFailed
  }

  /// What kind of thing went wrong.
  public let code: Code
  /// What went wrong: one sentence without a full stop.
  public let message: String
  /// What can be done about it; nil where nothing obvious can.
  public let hint: String?

  /// An error as ``StereoMovie`` and its kin throw it.
  public init(_ code: Code, _ message: String, hint: String? = nil) {
    (self.code, self.message, self.hint) = (code, message, hint)
  }

  /// The message.
  public var description: String { message }
}

extension StereoMediaError {
  /// Why a file cannot be looked at.
  package static func unreadable(_ path: String, _ reason: String) -> StereoMediaError {
    StereoMediaError(.unreadable, "'\(path)' cannot be read as a movie: \(reason)")
  }

  /// Why frames cannot be had of a movie.
  package static func decoding(_ path: String, _ reason: String) -> StereoMediaError {
    StereoMediaError(.decodingFailed, "'\(path)' cannot be read as a movie: \(reason)")
  }
}

/// What a pipeline has said against going on, kept until somebody asks.
final class PipelineProblem: Sendable {
  private struct State {
    var missing: String?
    var error: StereoMediaError?
    var hasEnded = false
  }

  /// What is being done when something goes wrong.
  enum Work: Sendable {
    case reading, writing
  }

  private let path: String
  private let work: Work
  private let state = Locked(State())

  /// - Parameter path: of the file that is worked on.
  init(_ path: String, _ work: Work = .reading) {
    (self.path, self.work) = (path, work)
  }

  /// Whether all sinks have got all there is.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// The first error; nil while all is well.
  var error: StereoMediaError? { state.withLock { $0.error } }

  /// Keeps an error of what feeds the pipeline.
  func fail(_ error: StereoMediaError) {
    state.withLock { $0.error = $0.error ?? error }
  }

  /// Listens to a pipeline's bus.
  func listen(to pipeline: Pipeline, _ waker: Waker) {
    pipeline.bus.watch { [self] message in
      if see(message) { waker.wake() }
    }
  }

  /// Takes note of a message. Whether it is an error, or the end.
  func see(_ message: Message) -> Bool {
    if case .endOfStream = message.content {
      state.withLock { $0.hasEnded = true }
      return true
    }
    if let missing = message.missingPlugin {
      state.withLock { $0.missing = $0.missing ?? missing }
    }
    guard case .error(let failure) = message.content else { return false }
    state.withLock { state in
      guard state.error == nil else { return }
      if work == .writing {
        state.error = StereoMediaError(
          failure.element == WriterGraph.sink ? .unwritable : .encodingFailed,
          "'\(path)' cannot be written: \(failure.message)")
        return
      }
      guard let missing = state.missing else {
        state.error = .decoding(path, failure.message)
        return
      }
      let isSaid = failure.message.contains("There is no ")
      state.error = StereoMediaError(
        .missingDecoder,
        "'\(path)' cannot be read as a movie: "
          + (isSaid ? failure.message : "There is no \(missing). \(failure.message)"),
        hint: "apt install gstreamer1.0-libav")
    }
    return true
  }
}

extension StereoMediaError {
  /// Why a pipeline could not be built.
  init(building error: any Error) {
    let message = (error as? ElementError)?.message ?? "\(error)"
    // GStreamer says: no element "x264enc"
    let words = message.split(separator: "\"")
    guard message.contains("no element \""), words.count > 1 else {
      self.init(.missingElement, message)
      return
    }
    let element = String(words[1])
    self.init(
      .missingElement, "GStreamer has no element '\(element)'",
      hint: DebianPackages.package(providing: element).map { "apt install \($0)" })
  }
}
