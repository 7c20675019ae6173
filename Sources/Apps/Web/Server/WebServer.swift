// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix

/// A web server for few peers, any of which may be hostile: HTTP/1.1 without encryption. Where there
/// are many, or they are far away, a reverse proxy stands before it.
///
/// ```swift
/// let server = try await WebServer.start(on: ["127.0.0.1"], port: 8080, responder)
/// print(server.port)
/// await server.stop()
/// ```
public final class WebServer: Sendable {
  /// The port that it listens on.
  public let port: Int
  private let group: MultiThreadedEventLoopGroup

  private init(port: Int, _ group: MultiThreadedEventLoopGroup) {
    self.port = port
    self.group = group
  }

  /// Begins to listen, on the same port of all addresses.
  ///
  /// - Parameters:
  ///   - hosts: addresses of this machine, or names of it. One that the machine does not have is
  ///     passed over, where it has another.
  ///   - port: 0 for any that is free.
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
        ?? WebServerError(host: "", port: port, isPortTaken: false, reason: "no address is given")
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

  /// Closes all connections, and listens no more.
  public func stop() async { try? await group.shutdownGracefully() }
}

/// Why a server cannot listen.
public struct WebServerError: Error, CustomStringConvertible {
  public let host: String
  public let port: Int
  /// Another program listens there.
  public let isPortTaken: Bool
  let reason: String

  public var description: String { "port \(port) of \(host): \(reason)" }
}

/// What a server bears from its peers.
public struct WebServerLimits: Sendable {
  /// So many are connected at the same time; a further one is turned away at once.
  public var connections = 256
  /// Of the first line and the headers of a request, in bytes.
  public var headSize = 16_384
  /// How long is waited for a peer to send the whole head of a request, or to take some of what it is
  /// sent.
  public var patience = Duration.seconds(30)

  public init() {}
}
