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
      Serves the output of mvhevchlssink while it is being written. Requests for the next part of \
      a stream, or for a playlist with it, are held until the part is available, and players can \
      request playlist delta updates. Finished streams are served as well.

      Programs on this machine get the state of the stream at /health and metrics of Prometheus at \
      /metrics, others with a token.

      Only this machine can connect, unless --host is given. For encryption, compression, HTTP/2 \
      or many viewers, use a reverse proxy. Only media files and files of web pages \
      are served, but no hidden files and none outside the folder. Ctrl-C ends the server.

      EXAMPLES
        gst-spatial serve live
        gst-spatial serve live --port 8181 --allow-origin https://player.example
        gst-spatial serve live --host 0.0.0.0 --port 8282     for all machines
        gst-spatial serve live --access-log -                 with a line for each request
      """)

  @Argument(help: "The folder of the stream.", completion: .directory)
  var folder: String

  @Option(help: "An address to listen on; can be repeated.")
  var host = ["127.0.0.1", "::1"]

  @Option(help: "The port to listen on; 0 for any free one.")
  var port = 8080

  @Option(
    name: .customLong("allow-origin"),
    help: "The origin whose web pages may read the stream, * for all, or none.")
  var allowOrigin = "*"

  @Option(help: "The maximum number of simultaneous connections.")
  var connections = 256

  @Option(
    name: .customLong("access-log"),
    help: "The file to which a line is added for each request; - for standard output.")
  var accessLog: String?

  @Option(
    name: .customLong("token-file"),
    help: "A file with the token that others send to read /metrics and /health.",
    completion: .file())
  var tokenFile: String?

  func validate() throws {
    guard (0...65_535).contains(port) else {
      throw ValidationError("--port must be a number from 0 to 65535.")
    }
    guard (1...100_000).contains(connections) else {
      throw ValidationError("--connections must be a number from 1 to 100000.")
    }
    guard !allowOrigin.isEmpty, allowOrigin.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw ValidationError(
        "--allow-origin must be an origin such as https://player.example, *, or none.")
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
    let counts = WebCounts(log: try Self.log(to: accessLog))
    let responder = MonitoredOrigin(origin, counts, token: try tokenFile.map(Self.token))
    let server = try await start(responder, counts)
    for host in host where !Self.isLoopback(host) {
      Terminal.error.line(
        "warning: all clients of \(host) can read \(origin.folder), and nothing is encrypted")
    }
    let name = host.first.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""
    let manager = ServiceManager()
    let pinging = manager.keepAlive()
    await EndSignals.wait {
      manager.tell(.ready(status: "serving \(origin.folder)"))
      Terminal.output.line("serving \(origin.folder) at http://\(name):\(server.port)/")
    }
    pinging?.cancel()
    manager.tell(.stopping)
    await server.stop()
  }

  private func start(_ responder: MonitoredOrigin, _ counts: WebCounts) async throws -> WebServer {
    var limits = WebServerLimits()
    limits.connections = connections
    Self.allowFiles(for: connections)
    do {
      return try await WebServer.start(
        on: host, port: port, limits: limits, observer: counts, responder)
    } catch {
      Terminal.error.line("error: \(error)")
      if error.isPortTaken { Terminal.error.line(" = the port is in use; choose another --port") }
      throw ExitCode.runFailed
    }
  }

  /// Returns what writes a line for each request; nil if there is no log.
  private static func log(to path: String?) throws -> (@Sendable (WebExchange) -> Void)? {
    guard let path else { return nil }
    // Each line is one write at the end of the file, so that programs that cut logs off may do so.
    let file =
      path == "-" ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      let reason = String(cString: strerror(errno))
      Terminal.error.line("error: the access log '\(path)' cannot be opened: \(reason)")
      throw ExitCode.mistakes
    }
    let log = Terminal(descriptor: file)
    return { log.write($0.line(secondsSince1970: time(nil)) + "\n") }
  }

  /// Reads a token: the first line of a file.
  private static func token(_ path: String) throws -> String {
    let text: String
    do {
      text = try SecretFile(path)?.text ?? ""
    } catch {
      Terminal.error.line("error: the token file '\(path)' cannot be read: \(error)")
      throw ExitCode.mistakes
    }
    let line = text.prefix { !$0.isNewline }
    guard line.utf8.count >= 16 else {
      Terminal.error.line(
        "error: the token in '\(path)' is shorter than 16 characters, so that it could be guessed")
      throw ExitCode.mistakes
    }
    return String(line)
  }

  private static func isLoopback(_ host: String) -> Bool {
    host == "::1" || host == "localhost" || host.hasPrefix("127.")
  }

  /// Raises the limit of open files: each connection needs a socket and may have a file open.
  private static func allowFiles(for connections: Int) {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, rlim_t(connections * 2 + 64)))
    _ = setrlimit(resource, &limit)
  }
}
