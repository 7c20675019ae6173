// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix

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
  private let group: MultiThreadedEventLoopGroup

  private init(port: Int, _ group: MultiThreadedEventLoopGroup) {
    self.port = port
    self.group = group
  }

  /// Starts listening, on the same port of all addresses.
  ///
  /// - Parameters:
  ///   - hosts: addresses or names of this machine. Addresses that the machine does not have are
  ///     skipped, as long as one remains.
  ///   - port: the port; 0 for any free one.
  ///   - limits: limits for the clients.
  ///   - responder: answers the requests.
  /// - Throws: a ``WebServerError``.
  public static func start(
    on hosts: [String], port: Int, limits: WebServerLimits = WebServerLimits(),
    _ responder: any WebResponder
  ) async throws(WebServerError) -> WebServer {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let bootstrap = bootstrap(group, limits, responder)
    var bound: Int?
    var missing: WebServerError?
    for host in hosts {
      let wanted = bound ?? port
      do {
        bound = try await bootstrap.bind(host: host, port: wanted).get().localAddress?.port
      } catch {
        let code = (error as? IOError)?.errnoCode
        let problem = WebServerError(
          host: host, port: wanted, isPortTaken: code == EADDRINUSE,
          reason: code.map { String(cString: strerror($0)) } ?? "\(error)")
        guard code == EADDRNOTAVAIL || code == EAFNOSUPPORT else {
          try? await group.shutdownGracefully()
          throw problem
        }
        missing = problem
      }
    }
    guard let bound else {
      try? await group.shutdownGracefully()
      throw missing
        ?? WebServerError(host: "", port: port, isPortTaken: false, reason: "no address was given")
    }
    return WebServer(port: bound, group)
  }

  private static func bootstrap(
    _ group: MultiThreadedEventLoopGroup, _ limits: WebServerLimits, _ responder: any WebResponder
  ) -> ServerBootstrap {
    let connections = ConnectionCount(limit: limits.connections)
    return ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard connections.begin() else { throw ChannelError.inputClosed }
          channel.closeFuture.whenComplete { _ in connections.end() }
          let connection = try Connection(channel, limits, responder)
          let task = Task { await connection.serve() }
          channel.closeFuture.whenComplete { _ in task.cancel() }
        }
      }
  }

  /// Stops listening and closes all connections.
  public func stop() async { try? await group.shutdownGracefully() }
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
