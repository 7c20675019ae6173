// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

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
