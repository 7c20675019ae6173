// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A thread that runs one eye's encoder and a queue of its jobs.
///
/// The threads of the two eyes do not wait for each other: while a picture of one eye takes long,
/// the processor is free for the other eye's next pictures. Pictures are nevertheless handed out
/// a constant number of jobs after they went in (`EyeEncoder.delay`), so that the rate control,
/// which learns from them, does not depend on how busy the machine is, and the same input always
/// gives the same stream.
final class EyeThread {
  enum Job: Sendable {
    case encode(Picture, frame: Int64, isKeyframe: Bool, qp: PictureQP)
    /// The first picture of a group, which may be predicted from the base eye's.
    case encodeKeyframe(
      Picture, from: KeyframePredictor.Reference, frame: Int64, isKeyframe: Bool, qp: PictureQP)
    /// Encodes all pictures inside, then continues with another rate control.
    case restart(StereoEncoderConfiguration)
    /// Encodes all pictures inside.
    case flush
  }

  /// Coded pictures, in coding order, and the error that ended the encoder's work.
  struct Outcome: Sendable {
    var pictures: [X265Encoder.CodedPicture] = []
    var error: StereoEncoderError?
    /// Whether neither jobs nor pictures are left.
    var isIdle = true
  }

  /// State shared by this thread and the owner's. The encoder belongs to this thread while there
  /// are jobs, and to the owner while there are none.
  private final class Shared: @unchecked Sendable {
    struct State {
      /// The first one is in progress.
      var jobs: [Job] = []
      /// Number of jobs that are done.
      var doneCount = 0
      /// Coded pictures, each with the job after which it is handed out.
      var pictures: [(job: Int, picture: X265Encoder.CodedPicture)] = []
      /// The job after which the next picture is handed out.
      var nextDue: Int
      var error: StereoEncoderError?
      var isStopping = false
    }

    let encoder: EyeEncoder
    let state: Monitor<State>

    init(_ encoder: EyeEncoder) {
      self.encoder = encoder
      state = Monitor(State(nextDue: encoder.delay))
    }

    /// Does the jobs until the owner stops the thread.
    func run() {
      while let job = nextJob() {
        var failure: StereoEncoderError?
        do throws(StereoEncoderError) {
          switch job {
          case .encode(let picture, let frame, let isKeyframe, let qp):
            let coded = try encoder.encode(
              picture, frame: frame, isKeyframe: isKeyframe, qp: qp)
            if let coded { give(coded) }
          case .encodeKeyframe(let picture, let base, let frame, let isKeyframe, let qp):
            let coded = try encoder.encodeKeyframe(
              picture, from: base, frame: frame, isKeyframe: isKeyframe, qp: qp)
            if let coded { give(coded) }
          case .restart(let configuration):
            try flush()
            try encoder.restart(configuration)
          case .flush:
            try flush()
          }
        } catch {
          failure = error
        }
        finish(failure)
      }
    }

    private func nextJob() -> Job? {
      state.wait { state -> Job?? in
        if state.isStopping { return .some(nil) }
        guard let job = state.jobs.first else { return nil }
        return .some(job)
      }
    }

    private func flush() throws(StereoEncoderError) {
      // All that is inside is handed out together.
      state.change { state in
        for index in state.pictures.indices {
          state.pictures[index].job = min(state.pictures[index].job, state.doneCount)
        }
      }
      while !state.withLock({ $0.isStopping }), let coded = try encoder.flush() {
        state.change { $0.pictures.append(($0.doneCount, coded)) }
      }
      state.change { $0.nextDue = $0.doneCount + 1 + encoder.delay }
    }

    /// Stores a picture, to be handed out after the job that would have given it if the lookahead
    /// had been late from the first picture on.
    private func give(_ picture: X265Encoder.CodedPicture) {
      state.change { state in
        state.pictures.append((max(state.doneCount, state.nextDue), picture))
        state.nextDue += 1
      }
    }

    private func finish(_ error: StereoEncoderError?) {
      let done: [Job] = state.change { state in
        state.error = state.error ?? error
        // x265 must not be called again after it has failed.
        let count = state.error == nil ? 1 : state.jobs.count
        defer { state.jobs.removeFirst(count) }
        state.doneCount += count
        return Array(state.jobs.prefix(count))
      }
      // Releasing a picture runs its owner's code, which must not happen under the lock.
      withExtendedLifetime(done) {}
    }
  }

  private let shared: Shared
  private let thread: pthread_t

  init(_ encoder: EyeEncoder) throws(StereoEncoderError) {
    shared = Shared(encoder)
    var thread = pthread_t()
    let reference = Unmanaged.passRetained(shared)
    let code = pthread_create(
      &thread, nil,
      { reference in
        guard let reference else { return nil }
        Unmanaged<Shared>.fromOpaque(reference).takeRetainedValue().run()
        return nil
      }, reference.toOpaque())
    guard code == 0 else {
      reference.release()
      throw .library("cannot start the \(encoder.eye.rawValue) eye's thread (error \(code))")
    }
    self.thread = thread
  }

  /// Waits for the job in progress and discards the others.
  deinit {
    shared.state.change { $0.isStopping = true }
    pthread_join(thread, nil)
  }

  func submit(_ job: Job) {
    shared.state.change {
      // No job runs after an error, so the queue would never empty.
      if $0.error == nil { $0.jobs.append(job) }
    }
  }

  /// Waits until at most `count` jobs are left, then returns the pictures of all but the last
  /// `count` jobs, even if more are done.
  func outcome(whenAtMost count: Int) -> Outcome {
    outcome { state in
      guard state.jobs.count <= count else { return nil }
      let done = state.doneCount + state.jobs.count - count
      return state.pictures.prefix { $0.job < done }.count
    }
  }

  /// Waits until there is a picture or no job is left, then returns the next picture, if any.
  func nextOutcome() -> Outcome {
    outcome { state in
      if state.pictures.isEmpty { return state.jobs.isEmpty ? 0 : nil }
      return 1
    }
  }

  /// Waits until `count` gives a number of pictures, and returns these.
  private func outcome(count: (Shared.State) -> Int?) -> Outcome {
    shared.state.wait { state in
      guard let count = count(state) else { return nil }
      defer { state.pictures.removeFirst(count) }
      return Outcome(
        pictures: state.pictures.prefix(count).map(\.picture), error: state.error,
        isIdle: state.jobs.isEmpty && state.pictures.count == count)
    }
  }

  /// Returns the encoder's statistics once no job is left.
  func statistics() -> EyeStatistics {
    shared.state.wait { $0.jobs.isEmpty ? () : nil }
    return shared.encoder.statistics()
  }
}
