import Glibc
import StereoVideo

/// A thread that runs one eye's encoder while the caller's own thread runs the other's.
///
/// One job at a time: `start`, then `finish`. The thread lives as long as this object.
final class EyeThread {
  enum Job {
    case encode(Picture, frame: Int64, isKeyframe: Bool)
    case flush
  }

  typealias Outcome = Result<EyeEncoder.CodedPicture?, StereoEncoderError>

  /// What the two threads share. Every access holds `mutex`, except that of the encoder, which
  /// belongs to the thread while a job is there and to the owner while none is.
  private final class Shared {
    let encoder: EyeEncoder
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    var job: Job?
    var outcome: Outcome?
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

    func run() {
      pthread_mutex_lock(mutex)
      while true {
        while job == nil && !isStopping { pthread_cond_wait(changed, mutex) }
        guard let job else { break }
        pthread_mutex_unlock(mutex)
        let outcome = encoder.run(job)
        pthread_mutex_lock(mutex)
        self.job = nil
        self.outcome = outcome
        pthread_cond_broadcast(changed)
      }
      pthread_mutex_unlock(mutex)
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

  deinit {
    pthread_mutex_lock(shared.mutex)
    shared.isStopping = true
    pthread_cond_broadcast(shared.changed)
    pthread_mutex_unlock(shared.mutex)
    pthread_join(thread, nil)
  }

  /// The encoder, for use while no job runs.
  var encoder: EyeEncoder { shared.encoder }

  func start(_ job: Job) {
    pthread_mutex_lock(shared.mutex)
    shared.job = job
    shared.outcome = nil
    pthread_cond_broadcast(shared.changed)
    pthread_mutex_unlock(shared.mutex)
  }

  /// Waits for the job to be done.
  func finish() -> Outcome {
    pthread_mutex_lock(shared.mutex)
    defer { pthread_mutex_unlock(shared.mutex) }
    while true {
      if let outcome = shared.outcome { return outcome }
      pthread_cond_wait(shared.changed, shared.mutex)
    }
  }
}

extension EyeEncoder {
  func run(_ job: EyeThread.Job) -> EyeThread.Outcome {
    Result { () throws(StereoEncoderError) in
      switch job {
      case .encode(let picture, let frame, let isKeyframe):
        return try encode(picture, frame: frame, isKeyframe: isKeyframe)
      case .flush:
        return try flush()
      }
    }
  }
}
