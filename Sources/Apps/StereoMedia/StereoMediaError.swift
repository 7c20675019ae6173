// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// An error of the library: a code for programs, a message for the user and, if possible, a hint.
public struct StereoMediaError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of error, for programs to act on.
  @nonexhaustive
  public enum Code: Equatable, Sendable {
    /// The file cannot be opened or is not a readable movie.
    case unreadable
    /// The movie has no video track or lacks the requested eye.
    case missingVideo
    /// No decoder for the movie's codec is installed; ``StereoMediaError/hint`` names the package.
    case missingDecoder
    /// A GStreamer element is not installed; ``StereoMediaError/hint`` names the package.
    case missingElement
    /// A `libgstspatial.so` of another version is already loaded into the process.
    case elementConflict
    /// The movie's data is damaged, or a decoder failed.
    case decodingFailed
    /// A frame has only one of its two eyes.
    case unpairedEyes
    /// The frame, plane, time or other number is out of range.
    case outOfRange
    /// The pixel format is unknown to GStreamer, or the picture size is not possible.
    case unsupportedFormat
    /// The memory for a picture cannot be allocated.
    case outOfMemory
    /// The movie's audio cannot be played: no output device or no decoder is available.
    case audioUnavailable
    /// There was no progress within the time limit.
    case stalled
    /// The output file already exists, or another writer has it open.
    case outputExists
    /// The file cannot be written: the folder does not exist, permission is denied or the disk is
    /// full.
    case unwritable
    /// The input is inconsistent or not allowed: a frame that does not fit the writer's earlier
    /// frames, a call after the writer has finished, contradictory sources, times or pictures of a
    /// composition, an element name that is not valid.
    case invalidInput
    /// An element of this name is already registered.
    case nameTaken
    /// The encoder or the muxer failed.
    case encodingFailed
    /// The compositor of a composition that is being played threw an error of its own.
    case compositionFailed
  }

  /// The kind of error.
  public let code: Code
  /// The cause: one sentence without a full stop.
  public let message: String
  /// A way to fix it, such as a package to install; nil if there is no obvious one.
  public let hint: String?

  /// Creates an error.
  public init(_ code: Code, _ message: String, hint: String? = nil) {
    (self.code, self.message, self.hint) = (code, message, hint)
  }

  /// The message.
  public var description: String { message }
}

extension StereoMediaError {
  /// Returns the error for a file that is not a readable movie.
  package static func unreadable(_ path: String, _ reason: String) -> StereoMediaError {
    StereoMediaError(.unreadable, "'\(path)' cannot be read as a movie: \(reason)")
  }

  /// Returns the error for a file of another kind.
  static func notAMovie(_ path: String) -> StereoMediaError {
    StereoMediaError(
      .unreadable, "'\(path)' is not a QuickTime, MP4, Matroska or MPEG-TS movie")
  }

  /// Returns the error for a path that names anything but a regular file, such as a folder or a
  /// pipe, which would block or end before the movie is read; nil for a file and for no file.
  package static func notAFile(_ path: String) -> StereoMediaError? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return nil }
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    return StereoMediaError(
      .unreadable, "'\(path)' is \(isFolder ? "a folder, not a file" : "not a file")")
  }

  /// Returns the error for a movie whose frames cannot be decoded.
  package static func decoding(_ path: String, _ reason: String) -> StereoMediaError {
    StereoMediaError(.decodingFailed, "'\(path)' cannot be read as a movie: \(reason)")
  }
}

/// The first error that a pipeline posted on its bus, and whether it reached its end.
final class PipelineProblem: Sendable {
  private struct State {
    var missing: String?
    var error: StereoMediaError?
    var hasEnded = false
  }

  /// The pipeline's purpose, which determines the error code.
  enum Work: Sendable {
    case reading, writing
  }

  private let path: String
  private let work: Work
  private let state = Locked(State())

  /// - Parameter path: the movie's path, for messages.
  init(_ path: String, _ work: Work = .reading) {
    (self.path, self.work) = (path, work)
  }

  /// Whether all sinks have received EOS.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// The first error; nil if there is none.
  var error: StereoMediaError? { state.withLock { $0.error } }

  /// Records an error of the pipeline's data source, unless there is an earlier one.
  func fail(_ error: StereoMediaError) {
    state.withLock { $0.error = $0.error ?? error }
  }

  /// Watches a pipeline's bus and calls `waker` on an error and at the end.
  func listen(to pipeline: Pipeline, _ waker: Waker) {
    pipeline.bus.watch { [self] message in
      if see(message) { waker.wake() }
    }
  }

  /// Records an error or the end. Returns whether the message is one of these.
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
  /// The error for a pipeline that could not be built.
  init(building error: any Error) {
    let message = (error as? ElementError)?.message ?? "\(error)"
    // GStreamer's message is: no element "x264enc"
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
