// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `gst-spatial view`: its page in a browser, and what it refuses.
@Suite(.tags(.process))
struct ViewCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func makeSpatial(frames: Int = 12, mux: String = "") async throws {
    try await TestMovie.spatial(
      folder.path("a.mov"), frames: frames, "width=640,height=180,framerate=30/1", mux: mux)
  }

  /// Writes the pictures of all frames into a folder.
  private func writeFrames(_ show: String) throws {
    let written = try Command.run(
      ["frames", "a.mov", "--every", "33333333ns", "--show", show, "-o", show], in: folder)
    try #require(written.status == 0, "\(written)")
  }

  /// What a program under Tests/Tools sees of `a.mov` in a browser.
  private func look(_ tool: String) async throws -> Seen {
    let (command, address, _) = try view(["a.mov", "--port", "0"])
    let said = try await Program.output(of: looking(tool, address), in: folder.url)
    try end(command)
    return try JSONDecoder().decode(Seen.self, from: said)
  }

  private func looking(_ tool: String, _ address: String) throws -> [String] {
    let python = try #require(ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"])
    let tool = Repository.url.appending(path: "Tests/Tools/\(tool)").path
    return [python, tool, address, folder.url.path]
  }

  private func view(_ arguments: [String], shell: String = "") throws -> (
    command: Program, address: String, said: String
  ) {
    let command = try Command.start(["view"] + arguments, in: folder, shell: shell)
    let said = try command.wait(for: "/\n")
    let address = try #require(said.firstMatch(of: /http:\/\/\S+\//), "\(said)").0
    return (command, String(address), said)
  }

  private func end(_ command: Program) throws {
    command.interrupt()
    let result = command.result()
    // SwiftNIO reports on standard error if something happens after the end of its threads.
    #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
  }

  private func status(_ arguments: [String]) async throws -> String {
    let said = try await Program.output(
      of: [
        "curl", "--silent", "--path-as-is", "--globoff", "--output", "/dev/null", "--write-out",
        "%{http_code}",
      ] + arguments, in: folder.url)
    return String(decoding: said, as: UTF8.self)
  }

  @Test("only clients on this machine that know the address get answers, and no other files")
  func refusals() async throws {
    try await makeSpatial()
    let (command, address, _) = try view(["a.mov", "--port", "0"])
    let root = try #require(address.firstMatch(of: /http:\/\/[^\/]+\//)).0
    let host = { (name: String) in ["--header", "Host: \(name)", address] }
    let table: [(String, [String])] = [
      ("200", [address]), ("200", ["\(address)movie.json"]), ("200", ["\(address)viewer.js"]),
      ("200", ["\(address)frame/11/left?w=100"]), ("200", ["--head", "\(address)frame/3/both"]),
      // Another machine's ssh forwards from a port of its own.
      ("200", host("localhost:9999")), ("200", host("[::1]:1")), ("200", host("127.0.0.1")),
      ("421", host("evil.example")), ("421", host("localhost.evil.example")), ("421", host("")),
      ("404", ["\(root)"]), ("404", ["\(root)movie.json"]),
      ("404", ["\(root)0\(address.suffix(33))"]),
      ("404", ["\(root)\(String(repeating: "0", count: 32))/"]),
      ("403", ["--header", "Sec-Fetch-Site: cross-site", address]),
      ("403", ["--header", "Sec-Fetch-Site: same-site", address]),
      ("200", ["--header", "Sec-Fetch-Site: same-origin", address]),
      ("405", ["--request", "POST", "--data", "x=1", address]),
      ("405", ["--request", "PUT", "\(address)a.mov"]), ("405", ["--request", "OPTIONS", address]),
      ("404", ["\(address)a.mov"]), ("404", ["\(address)frame/12/left"]),
      ("404", ["\(address)frame/-1/left"]), ("404", ["\(address)frame/99999999999999999999/left"]),
      ("404", ["\(address)frame/1/middle"]), ("404", ["\(address)frame/1/left?f=bmp"]),
      ("404", ["\(address)frame/1/left?w=1000000000"]), ("404", ["\(address)frame/1/left?w=0"]),
      ("400", ["\(address)../../../../../../etc/passwd"]),
      ("400", ["\(address)frame/..%2f..%2fetc%2fpasswd/left"]),
      ("404", ["\(address)//etc/passwd"]),
    ]
    for (expected, arguments) in table {
      #expect(try await status(arguments) == expected, "\(arguments)")
    }
    let heads = String(
      decoding: try await Program.output(
        of: ["curl", "--silent", "--head", address, root.description], in: folder.url),
      as: UTF8.self)
    for header in [
      "Content-Security-Policy: default-src 'none';", "Referrer-Policy: no-referrer",
      "Cross-Origin-Resource-Policy: same-origin", "X-Content-Type-Options: nosniff",
    ] {
      #expect(heads.components(separatedBy: header).count == 3, "\(heads)")
    }
    try end(command)
  }

  @Test("pictures are those of 'frames', byte by byte")
  func pictures() async throws {
    try await makeSpatial()
    let (command, address, _) = try view(["a.mov", "--port", "0"])
    for show in ["left", "right", "both", "anaglyph"] {
      let written = try Command.run(
        ["frames", "a.mov", "--at", "0.2s", "--show", show, "-o", "\(show).png"], in: folder)
      try #require(written.status == 0, "\(written)")
      let served = try await Program.output(
        of: ["curl", "--silent", "\(address)frame/6/\(show)?f=png"], in: folder.url)
      #expect(try served == Data(contentsOf: URL(filePath: folder.path("\(show).png"))), "\(show)")
    }
    try end(command)
  }

  @Test("unviewable movies are reported at once, with alternatives")
  func messages() async throws {
    try await makeSpatial()
    for (arguments, expected) in [
      (
        ["missing.mov"], "error: 'missing.mov' cannot be read as a movie: No such file or directory"
      ),
      (["a.mov", "--port", "70000"], "--port must be a number from 0 to 65535"),
      (["a.mov", "--host", "0.0.0.0"], "add --insecure"),
    ] {
      let result = try Command.run(["view"] + arguments, in: folder)
      #expect(result.status != 0 && result.errors.contains(expected), "\(result)")
    }
    // With --insecure, by any address, but not by other sites' names.
    let (open, there, _) = try view(["a.mov", "--host", "0.0.0.0", "--insecure", "--port", "0"])
    let local = there.replacing(/\/\/[^\/]+:/, with: "//127.0.0.1:")
    #expect(try await status([local]) == "200")
    #expect(try await status(["--header", "Host: 192.0.2.7:1", local]) == "200")
    #expect(try await status(["--header", "Host: evil.example", local]) == "421")
    open.interrupt()
    let warned = open.result()
    #expect(warned.status == 0 && warned.errors.contains("nothing is encrypted"), "\(warned)")
    let (first, address, _) = try view(["a.mov"])
    // The next port that is free; and the way from where the person sits.
    let (second, other, line) = try view(
      ["a.mov"], shell: "export SSH_CONNECTION='192.0.2.1 50000 192.0.2.2 22'; ")
    #expect(address.prefix(23) != other.prefix(23))
    let port = try #require(other.firstMatch(of: /:(\d+)\//)).1
    #expect(line.contains("ssh -L \(port):localhost:\(port) 192.0.2.2"), "\(line)")
    second.interrupt()
    _ = second.result()
    try end(first)
  }

  private static let browser: Bool = {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium-headless-shell")
      && (try? Python.data(["-c", "import playwright, axe_playwright_python"])) != nil
  }()

  private struct Seen: Decodable {
    let wrong: [String]
  }

  @Test(
    "a browser shows exactly the frames that 'frames' writes, by any kind of seek",
    .enabled(if: browser, "needs Chromium and playwright (scripts/setup python)"))
  func page() async throws {
    try await makeSpatial(frames: 60)
    for show in ["left", "right", "anaglyph"] { try writeFrames(show) }
    let seen = try await look("view_movie.py")
    #expect(seen.wrong.isEmpty, "\(seen)")
  }

  @Test(
    "an immersive movie is seen from within",
    .enabled(if: browser, "needs Chromium and playwright (scripts/setup python)"))
  func around() async throws {
    try await makeSpatial(mux: "projection=half-equirectangular")
    for show in ["left", "right"] { try writeFrames(show) }
    let seen = try await look("view_around.py")
    #expect(seen.wrong.isEmpty, "\(seen)")
  }

  @Test(
    "keys and mouse work the page",
    .enabled(if: browser, "needs Chromium and playwright (scripts/setup python)"))
  func keys() async throws { try await work("view_keys.py") }

  @Test(
    "touch and screen readers work the page, and axe-core finds nothing wrong", .tags(.exhaustive),
    .enabled(if: browser, "needs Chromium and playwright (scripts/setup python)"),
    arguments: ["view_touch.py", "view_access.py"])
  func hands(tool: String) async throws { try await work(tool) }

  private func work(_ tool: String) async throws {
    try await makeSpatial(frames: 240, mux: "quality=12 key-int-max=15")
    let seen = try await look(tool)
    #expect(seen.wrong.isEmpty, "\(seen)")
  }

  @Test(
    "a page whose viewer was stopped keeps its picture, and nothing else is said in the terminal",
    .enabled(if: browser, "needs Chromium and playwright (scripts/setup python)"))
  func stopped() async throws {
    try await makeSpatial(frames: 60)
    try writeFrames("left")
    let (command, address, _) = try view(["a.mov", "--port", "0"])
    let page = try Program(looking("view_stopped.py", address), in: folder.url, errors: .shown)
    try page.wait(for: "ready\n")
    try end(command)
    let result = page.result()
    let seen = try JSONDecoder().decode(Seen.self, from: result.data)
    #expect(seen.wrong.isEmpty && result.status == 0, "\(seen)")
  }
}
