// SPDX-License-Identifier: MPL-2.0

internal import Synchronization

/// Counts what a ``WebServer`` does, since it was started.
public final class WebCounts: WebObserver {
  private struct State {
    var connections = 0
    var refused: UInt64 = 0
    var active = 0
    /// Answers by status.
    var answers: [Int: UInt64] = [:]
    var bytes: UInt64 = 0
    var seconds = 0.0
  }

  private let state = Mutex(State())
  private let log: (@Sendable (WebExchange) -> Void)?

  /// - Parameter log: Called after each request, from any thread.
  public init(log: (@Sendable (WebExchange) -> Void)? = nil) { self.log = log }

  /// Counts a connection.
  public func connected(isRefused: Bool) {
    state.withLock { state in
      if isRefused { state.refused += 1 } else { state.connections += 1 }
    }
  }

  /// Counts a connection less.
  public func disconnected() { state.withLock { $0.connections -= 1 } }

  /// Counts a request that is being answered.
  public func began() { state.withLock { $0.active += 1 } }

  /// Counts an answer.
  public func ended(_ exchange: WebExchange) {
    state.withLock { state in
      state.active -= 1
      state.answers[exchange.status, default: 0] += 1
      state.bytes &+= exchange.bytes
      state.seconds += exchange.duration / .seconds(1)
    }
    log?(exchange)
  }

  /// The counts as metrics.
  var metrics: [Metric] {
    let state = state.withLock { $0 }
    return [
      Metric(
        "http_requests_total", .counter, "Answered requests by status; 499 if the client left.",
        state.answers.sorted { $0.key < $1.key }.map { (["code": "\($0.key)"], Double($0.value)) }),
      Metric("http_request_seconds_total", .counter, "Time of all answers.", state.seconds),
      Metric("http_sent_bytes_total", .counter, "Content that was sent.", Double(state.bytes)),
      Metric("http_requests", .gauge, "Requests that are being answered.", Double(state.active)),
      Metric("http_connections", .gauge, "Open connections.", Double(state.connections)),
      Metric(
        "http_refused_connections_total", .counter, "Connections beyond the limit.",
        Double(state.refused)),
    ]
  }
}

/// A family of metrics in the text format of Prometheus.
struct Metric {
  enum Kind: String { case counter, gauge }

  private let name: String
  private let kind: Kind
  private let help: String
  private let samples: [(labels: [String: String], value: Double)]

  init(
    _ name: String, _ kind: Kind, _ help: String,
    _ samples: [(labels: [String: String], value: Double)]
  ) {
    (self.name, self.kind, self.help, self.samples) = ("gst_spatial_" + name, kind, help, samples)
  }

  init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
    self.init(name, kind, help, [([:], value)])
  }

  /// The lines; none without samples.
  var lines: [String] {
    guard !samples.isEmpty else { return [] }
    return ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
      + samples.map { labels, value in
        let text = labels.sorted { $0.key < $1.key }
          .map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        return "\(name)\(text.isEmpty ? "" : "{\(text)}") \(Self.number(value))"
      }
  }

  private static func number(_ value: Double) -> String {
    Int(exactly: value).map { String($0) } ?? "\(value)"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
