// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import PipelineFile
internal import Web

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve HLS and DASH from a folder, live with low latency.",
    discussion: """
      Serves what mvhevchlssink writes, while it writes it. Players that ask for a playlist with the \
      next part of a stream, or for that part, get it in the moment when it is there; players that \
      know a playlist get what is new in it. Finished streams are served as well.

      What is served is to be read by this machine alone, unless --host says otherwise; for \
      encryption, compression, HTTP/2 and many viewers, a web server stands before it. Files of \
      streams and web pages are served, hidden ones and those outside of the folder are not. Ctrl-C \
      ends it.

      EXAMPLES
        gst-spatial serve live
        gst-spatial serve live --port 8181 --allow-origin https://player.example
        gst-spatial serve live --host 0.0.0.0 --port 8282     for all who reach this machine
      """)

  @Argument(help: "The folder of the stream.", completion: .directory)
  var folder: String

  @Option(help: "The addresses to listen on; several options for several addresses.")
  var host = ["127.0.0.1", "::1"]

  @Option(help: "The port to listen on; 0 for any that is free.")
  var port = 8080

  @Option(
    name: .customLong("allow-origin"),
    help: "Whose web pages may read the stream: an origin, * for all, or none.")
  var allowOrigin = "*"

  @Option(help: "How many connections there may be at a time.")
  var connections = 256

  func validate() throws {
    guard (0...65_535).contains(port) else {
      throw ValidationError("--port is a number from 0 to 65535.")
    }
    guard (1...100_000).contains(connections) else {
      throw ValidationError("--connections is a number from 1 to 100000.")
    }
    guard !allowOrigin.isEmpty, allowOrigin.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw ValidationError(
        "--allow-origin is an origin such as https://player.example, *, or none.")
    }
  }

  func run() async throws {
    let origin: HLSOrigin
    do {
      origin = try HLSOrigin(
        folder: folder, allowedOrigin: allowOrigin == "none" ? nil : allowOrigin)
    } catch {
      Terminal.error.line("error: '\(folder)' cannot be served: \(error)")
      throw ExitCode.mistakes
    }
    let server = try await start(origin)
    for host in host where !Self.isLoopback(host) {
      Terminal.error.line(
        "warning: all who reach \(host) can read \(origin.folder), and nothing is encrypted")
    }
    let name = host.first.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
    await EndSignals.wait {
      Terminal.output.line("serving \(origin.folder) at http://\(name):\(server.port)/")
    }
    await server.stop()
  }

  private func start(_ origin: HLSOrigin) async throws -> WebServer {
    var limits = WebServerLimits()
    limits.connections = connections
    Self.allowFiles(for: connections)
    do {
      return try await WebServer.start(on: host, port: port, limits: limits, origin)
    } catch {
      Terminal.error.line("error: \(error)")
      if error.isPortTaken { Terminal.error.line(" = another program has it; give another --port") }
      throw ExitCode.runFailed
    }
  }

  private static func isLoopback(_ host: String) -> Bool {
    host == "::1" || host == "localhost" || host.hasPrefix("127.")
  }

  /// Each connection may have a file open, beside itself.
  private static func allowFiles(for connections: Int) {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, rlim_t(connections * 2 + 64)))
    _ = setrlimit(resource, &limit)
  }
}
