// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import StereoMedia
internal import Web

struct ViewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "view",
    abstract: "View a movie frame by frame in a web browser, with both eyes.",
    discussion: """
      Prints the address of a page that shows each frame exactly: either eye, both side by side, \
      an anaglyph, their difference, or both in turn, and a rotatable view of immersive movies. \
      The page shows the movie's properties, previews a disparity adjustment, and has the command \
      line that applies it. Space plays and pauses, the period and the comma step, and the \
      question mark lists all keys.

      Only this machine can connect, and only with the printed address. From another machine, \
      forward the port: ssh -L 8717:localhost:8717 NAME. Ctrl-C ends the viewer.

      EXAMPLES
        gst-spatial view movie.mov
        gst-spatial view movie.mov --open
        gst-spatial view side-by-side.mp4 --port 9000
        gst-spatial view movie.mov --host 0.0.0.0 --insecure    for phones
      """)

  @Argument(
    help: "A QuickTime or MP4 movie, or H.265 without a container.",
    completion: PipelineCompletion.movie)
  var movie: String

  @OptionGroup var layout: LayoutOptions

  @Option(
    help: "The port to listen on; 0 for any free one. [default: 8717 or the next free one]")
  var port: Int?

  @Option(help: "An address of this machine for other machines; requires --insecure.")
  var host: String?

  @Flag(help: "Serve other machines without encryption; eavesdroppers can see the movie.")
  var insecure = false

  @Flag(help: "Open the page in the browser.")
  var open = false

  func validate() throws {
    if let port, !(0...65_535).contains(port) {
      throw ValidationError("--port must be a number from 0 to 65535.")
    }
    if let host, !insecure {
      throw ValidationError(
        "With --host \(host), others can read the address and see the movie: nothing is encrypted. "
          + "Forward the port with ssh, or add --insecure.")
    }
  }

  func run() async throws {
    let opened = try await layout.choice.open(movie)
    guard let video = opened.video, !video.frames.isEmpty else {
      Terminal.error.line("error: '\(movie)' cannot be read as a movie: it has no frames")
      throw ExitCode.mistakes
    }
    let viewer = Viewer(opened, ViewerGuard(host: host.map(Self.name(of:))))
    let server = try await start(viewer)
    await EndSignals.wait { announce(viewer, port: server.port) }
    await server.stop()
  }

  private func start(_ viewer: Viewer) async throws -> WebServer {
    var limits = WebServerLimits()
    limits.connections = 32
    let usual = 8717
    let ports = port.map { $0...$0 } ?? usual...usual + 20
    for candidate in ports {
      do {
        return try await WebServer.start(
          on: host.map { [$0] } ?? ["127.0.0.1", "::1"], port: candidate, limits: limits, viewer)
      } catch {
        if error.isPortTaken, candidate != ports.upperBound { continue }
        Terminal.error.line("error: \(error)")
        throw ExitCode.runFailed
      }
    }
    throw ExitCode.runFailed
  }

  private func announce(_ viewer: Viewer, port: Int) {
    if let host {
      Terminal.error.line(
        "warning: everyone with the address can see the movie, and nothing is encrypted on the way "
          + "from \(host)")
    }
    let name = viewer.guardian.host ?? "localhost"
    let address = "http://\(name):\(port)/\(viewer.guardian.token)/"
    var text = "viewing \(movie) at \(address)\n"
    // The third word is this machine's address as the SSH client knows it.
    if host == nil,
      let words = getenv("SSH_CONNECTION").map({ String(cString: $0) })?.split(separator: " "),
      words.count == 4
    {
      text +=
        " = on your own machine, run 'ssh -L \(port):localhost:\(port) \(words[2])' first\n"
    }
    Terminal.output.write(text)
    if open { Self.open(address) }
  }

  /// Returns the name by which other machines reach a listening address. Phones cannot resolve the
  /// host name of most machines, so it is the address of a network interface.
  private static func name(of address: String) -> String {
    guard ["0.0.0.0", "::"].contains(address) else {
      return address.contains(":") ? "[\(address)]" : address
    }
    return networkAddress() ?? "localhost"
  }

  /// The IPv4 address of the first network interface that is up and is not the loopback interface.
  private static func networkAddress() -> String? {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    let interfaces = sequence(first: list) { $0?.pointee.ifa_next }.prefix { $0 != nil }
    for case let interface? in interfaces {
      let flags = interface.pointee.ifa_flags
      guard let address = interface.pointee.ifa_addr, address.pointee.sa_family == AF_INET,
        flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0
      else { continue }
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      guard
        getnameinfo(
          address, socklen_t(MemoryLayout<sockaddr_in>.size), &text, socklen_t(text.count), nil, 0,
          NI_NUMERICHOST) == 0
      else { continue }
      return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    return nil
  }

  /// Opens the address in the desktop's browser, if there is one.
  private static func open(_ address: String) {
    let line = "command -v xdg-open >/dev/null && { xdg-open \(address) >/dev/null 2>&1 & }"
    guard let shell = popen(line, "r"), pclose(shell) == 0 else {
      Terminal.error.line("note: cannot open the page: xdg-open is not available")
      return
    }
  }
}
