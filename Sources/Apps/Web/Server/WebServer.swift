// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A web server for a small number of clients, which may be hostile: HTTP/1.1 without encryption.
/// For many or remote clients, put it behind a reverse proxy.
///
/// ```swift
/// let server = try await WebServer.start(on: ["127.0.0.1"], port: 8080, responder)
/// print(server.port)
/// await server.stop()
/// ```
public final class WebServer: Sendable {
  /// The port on which it listens.
  public let port: Int
  private let listeners: [any Channel]
  private let connections: OpenConnections

  private init(port: Int, _ listeners: [any Channel], _ connections: OpenConnections) {
    self.port = port
    self.listeners = listeners
    self.connections = connections
  }

  /// Starts listening, on the same port of all addresses.
  ///
  /// - Parameters:
  ///   - hosts: addresses or names of this machine. Addresses that the machine does not have are
  ///     skipped, as long as one remains.
  ///   - port: the port; 0 for any free one.
  ///   - limits: limits for the clients.
  ///   - observer: sees all connections and requests.
  ///   - responder: answers the requests.
  /// - Throws: a ``WebServerError``.
  public static func start(
    on hosts: [String], port: Int, limits: WebServerLimits = WebServerLimits(),
    observer: (any WebObserver)? = nil, _ responder: any WebResponder
  ) async throws(WebServerError) -> WebServer {
    let connections = OpenConnections(limit: limits.connections)
    let bootstrap = bootstrap(connections, limits, observer, responder)
    var listeners: [any Channel] = []
    var missing: WebServerError?
    for host in hosts {
      let wanted = listeners.first?.localAddress?.port ?? port
      do {
        listeners.append(try await bootstrap.bind(host: host, port: wanted).get())
      } catch {
        let code = (error as? IOError)?.errnoCode
        let problem = WebServerError(
          host: host, port: wanted, isPortTaken: code == EADDRINUSE,
          reason: code.map { String(cString: strerror($0)) } ?? "\(error)")
        guard code == EADDRNOTAVAIL || code == EAFNOSUPPORT else {
          await close(listeners)
          throw problem
        }
        missing = problem
      }
    }
    guard let bound = listeners.first?.localAddress?.port else {
      throw missing
        ?? WebServerError(host: "", port: port, isPortTaken: false, reason: "no address was given")
    }
    return WebServer(port: bound, listeners, connections)
  }

  private static func bootstrap(
    _ connections: OpenConnections, _ limits: WebServerLimits, _ observer: (any WebObserver)?,
    _ responder: any WebResponder
  ) -> ServerBootstrap {
    // The threads of this group live as long as the process: a response that becomes available
    // after `stop` finds its connection closed, not a loop that no longer exists.
    ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let isAccepted = connections.begin(channel)
          observer?.connected(isRefused: !isAccepted)
          guard isAccepted else { throw ChannelError.inputClosed }
          channel.closeFuture.whenComplete { _ in
            connections.end(channel)
            observer?.disconnected()
          }
          let connection = try Connection(channel, limits, observer, responder)
          let task = Task { await connection.serve() }
          channel.closeFuture.whenComplete { _ in task.cancel() }
        }
      }
  }

  /// Stops listening and closes all connections.
  public func stop() async {
    await Self.close(listeners)
    await Self.close(connections.refuseOthers())
  }

  private static func close(_ channels: [any Channel]) async {
    // Closing fails only for a channel that has been closed.
    for channel in channels { try? await channel.close() }
  }
}

/// The connections of a server.
private final class OpenConnections: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var limit: Int
  }

  private let state: Mutex<State>

  /// - Parameter limit: maximum number of connections.
  init(limit: Int) { state = Mutex(State(limit: limit)) }

  /// Adds a connection. Returns false if the limit is reached.
  func begin(_ channel: any Channel) -> Bool {
    state.withLock { state in
      guard state.channels.count < state.limit else { return false }
      state.channels[ObjectIdentifier(channel)] = channel
      return true
    }
  }

  func end(_ channel: any Channel) {
    _ = state.withLock { $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
  }

  /// Refuses further connections, and returns those that are open.
  func refuseOthers() -> [any Channel] {
    state.withLock { state in
      state.limit = 0
      return Array(state.channels.values)
    }
  }
}

/// The reason that a server cannot listen.
public struct WebServerError: Error, CustomStringConvertible {
  /// The address or name.
  public let host: String
  /// The port.
  public let port: Int
  /// Whether another program uses the port.
  public let isPortTaken: Bool
  let reason: String

  /// A message with the port, the address and the system's reason.
  public var description: String { "port \(port) of \(host): \(reason)" }
}

/// Limits that a server imposes on its clients.
public struct WebServerLimits: Sendable {
  /// Maximum number of simultaneous connections; further ones are refused.
  public var connections = 256
  /// Maximum size of a request's first line and headers, in bytes.
  public var maximumHeadSize = 16_384
  /// Maximum time for a client to send a complete request, or to receive a pending write.
  public var patience = Duration.seconds(30)

  /// Creates the default limits.
  public init() {}
}
