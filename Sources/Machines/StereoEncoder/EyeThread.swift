// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A thread that runs one eye's encoder, behind a queue of pictures.
///
/// The two eyes' threads do not wait for each other: a picture that takes long in one eye leaves the
/// processor to the other eye's next pictures.
final class EyeThread {
  enum Job {
    case encode(Picture, frame: Int64, isKeyframe: Bool, qp: PictureQP)
    /// The first picture of a group, which may be predicted from the base eye's.
    case encodeKeyframe(
      Picture, from: KeyframePredictor.Reference, frame: Int64, isKeyframe: Bool, qp: PictureQP)
    /// Codes all that is inside, then goes on with another rate control.
    case restart(StereoEncoderConfiguration)
    /// Codes all that is inside.
    case flush
  }

  /// What the encoder gave, in coding order, and the error that ended its work.
  struct Outcome {
    var pictures: [X265Encoder.CodedPicture] = []
    var error: StereoEncoderError?
    /// No jobs are left.
    var isIdle = true
  }

  /// What the two threads share. Every access holds `mutex`, except that of the encoder: it belongs
  /// to the thread while there are jobs, and to the owner while there are none.
  private final class Shared {
    let encoder: EyeEncoder
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The first is being worked on.
    var jobs: [Job] = []
    var outcome = Outcome()
    var isStopping = false

    init(_ encoder: EyeEncoder) {
      self.encoder = encoder
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(changed, nil)
    }

    deinit {
      pthread_cond_destroy(changed)
      pthread_mutex_destroy(mutex)
      changed.deallocate()
      mutex.deallocate()
    }

    func locked<Result>(_ body: () -> Result) -> Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return body()
    }

    /// Returns when the owner stops it.
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
            while let coded = try encoder.flush() { give(coded) }
            try encoder.restart(configuration)
          case .flush:
            while let coded = try encoder.flush() { give(coded) }
          }
        } catch {
          failure = error
        }
        finish(failure)
      }
    }

    private func nextJob() -> Job? {
      locked {
        while jobs.isEmpty && !isStopping { pthread_cond_wait(changed, mutex) }
        return isStopping ? nil : jobs.first
      }
    }

    private func give(_ picture: X265Encoder.CodedPicture) {
      locked {
        outcome.pictures.append(picture)
        pthread_cond_broadcast(changed)
      }
    }

    private func finish(_ error: StereoEncoderError?) {
      let done: [Job] = locked {
        outcome.error = outcome.error ?? error
        pthread_cond_broadcast(changed)
        // x265 must not be called again after it has failed.
        let count = outcome.error == nil ? 1 : jobs.count
        defer { jobs.removeFirst(count) }
        return Array(jobs.prefix(count))
      }
      // Letting go of a picture runs its owner's code, which must not happen under the lock.
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
      throw .library("no thread for the \(encoder.eye.rawValue) eye's encoder (error \(code))")
    }
    self.thread = thread
  }

  /// Waits for the picture that is being worked on; forgets those behind it.
  deinit {
    shared.locked {
      shared.isStopping = true
      pthread_cond_broadcast(shared.changed)
    }
    pthread_join(thread, nil)
  }

  func submit(_ job: Job) {
    shared.locked {
      // Nothing runs after an error, so nothing would take the job out again.
      guard shared.outcome.error == nil else { return }
      shared.jobs.append(job)
      pthread_cond_broadcast(shared.changed)
    }
  }

  /// Waits until at most `count` jobs are left, then takes what there is.
  func outcome(whenAtMost count: Int) -> Outcome {
    outcome { $0.jobs.count <= count }
  }

  /// Waits until there is a picture or no job is left, then takes what there is.
  func nextOutcome() -> Outcome {
    outcome { !$0.outcome.pictures.isEmpty || $0.jobs.isEmpty }
  }

  private func outcome(when isReady: (Shared) -> Bool) -> Outcome {
    shared.locked {
      while !isReady(shared) { pthread_cond_wait(shared.changed, shared.mutex) }
      defer { shared.outcome.pictures = [] }
      var outcome = shared.outcome
      outcome.isIdle = shared.jobs.isEmpty
      return outcome
    }
  }

  /// Waits until there are no jobs.
  func statistics() -> EyeStatistics {
    shared.locked {
      while !shared.jobs.isEmpty { pthread_cond_wait(shared.changed, shared.mutex) }
      return shared.encoder.statistics()
    }
  }
}
