// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import PipelineHost

/// The service manager that has started the command, systemd, if it has asked to be told how it is
/// (sd_notify(3)): `Type=notify` and `WatchdogSec=` in a unit.
struct ServiceManager: Sendable {
  enum State {
    /// The service does its work.
    case ready(status: String)
    /// A line for `systemctl status`.
    case status(String)
    case stopping
    /// The service is alive.
    case alive

    fileprivate var text: String {
      switch self {
      case .ready(let status):
        "READY=1\nSTATUS=\(status.split { $0.isNewline }.joined(separator: " "))"
      case .status(let status): "STATUS=\(status.split { $0.isNewline }.joined(separator: " "))"
      case .stopping: "STOPPING=1"
      case .alive: "WATCHDOG=1"
      }
    }
  }

  private let path: String?
  /// Interval at which the manager expects a sign; nil if it expects none.
  let interval: Duration?

  init() {
    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    path = variable("NOTIFY_SOCKET")
    // A variable that a parent has left is for that process.
    let isMine = variable("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
    let microseconds = variable("WATCHDOG_USEC").flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
    interval = isMine ? microseconds.map { .microseconds($0) } : nil
  }

  /// Tells the manager a state. If that fails, nothing else can be done about it.
  func tell(_ state: State) {
    guard let path, path.hasPrefix("/") || path.hasPrefix("@") else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    // The name of an abstract socket begins with a zero.
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard file >= 0 else { return }
    defer { close(file) }
    let text = Array(state.text.utf8)
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        // A manager that does not listen holds nothing up.
        _ = sendto(file, text, text.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, size)
      }
    }
  }

  /// Tells the manager that the service is alive, twice as often as it asks for; nil if it does not
  /// ask.
  func keepAlive() -> Task<Void, Never>? {
    guard let interval else { return nil }
    return Task {
      while !Task.isCancelled {
        tell(.alive)
        try? await Task.sleep(for: interval / 2)
      }
    }
  }
}

/// Tells the service manager how a run is, whenever it shows that it is alive.
struct ServiceStatus {
  private let manager: ServiceManager
  private var isReady = false
  private var segmentCount = 0
  private var silent: Set<String> = []
  private var lastAlive: ContinuousClock.Instant?
  private var lastStatus: ContinuousClock.Instant?

  init(_ manager: ServiceManager) { self.manager = manager }

  /// Notes an event of the run.
  mutating func note(_ event: PipelineRun.Event) {
    switch event {
    case .segment: segmentCount += 1
    case .silence(let pad, true): silent.insert(pad)
    case .silence(let pad, false): silent.remove(pad)
    case .progress(let progress): note(progress)
    case .warning, .kept: break
    }
  }

  private mutating func note(_ progress: RunProgress) {
    if !isReady {
      isReady = true
      manager.tell(.ready(status: "running"))
    }
    let now = ContinuousClock.now
    if let interval = manager.interval, lastAlive.map({ now - $0 >= interval / 4 }) ?? true {
      lastAlive = now
      manager.tell(.alive)
    }
    guard lastStatus.map({ now - $0 >= .seconds(5) }) ?? true else { return }
    lastStatus = now
    var facts = [progress.position.map { NumberFormat.clock($0.seconds) } ?? "running"]
    if segmentCount > 0 { facts.append("\(segmentCount) segments") }
    if !silent.isEmpty { facts.append("silent: \(silent.sorted().joined(separator: ", "))") }
    manager.tell(.status(facts.joined(separator: ", ")))
  }
}
