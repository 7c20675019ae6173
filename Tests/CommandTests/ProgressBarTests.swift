// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// The progress bar in a pseudo-terminal.
@Suite(.tags(.process))
struct ProgressBarTests {
  /// What a person sees, drawn into rows.
  struct Screen {
    var rows = [""]

    mutating func draw(_ text: String) {
      var rest = text.unicodeScalars[...]
      while let scalar = rest.popFirst() {
        switch scalar {
        case "\n": rows.append("")
        case "\r": rows[rows.count - 1] += "\r"
        case "\u{1B}":
          // Only "clear to the end of the screen", after a carriage return.
          let isClear = rest.prefix(2).elementsEqual("[J".unicodeScalars)
          if isClear, rows[rows.count - 1].hasSuffix("\r") { rows[rows.count - 1] = "" }
          rest = rest.drop { !$0.properties.isAlphabetic }.dropFirst()
        default: rows[rows.count - 1].unicodeScalars.append(scalar)
        }
      }
    }
  }

  @Test("the bar redraws in place, fits a resized window, and leaves a clean summary")
  func bar() throws {
    let folder = try TemporaryFolder()
    let built = try #require(Repository.built)
    let terminal = try PseudoTerminal(columns: 100)
    let process = Process()
    process.executableURL = built.appending(path: "gst-spatial")
    process.arguments = ["run", "live-test-to-mvhevc", "frames=45", "output=out.mov"]
    process.currentDirectoryURL = folder.url
    process.standardInput = terminal.far
    process.standardOutput = terminal.far
    process.standardError = terminal.far
    var environment = ProcessInfo.processInfo.environment
    environment["TERM"] = "xterm"
    process.environment = environment
    try process.run()
    try terminal.far.close()

    let wide = terminal.read { $0.contains("fps") }
    terminal.resize(columns: 30)
    let narrow = terminal.read { _ in false }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)

    let frames = { (text: String) in text.components(separatedBy: "\r\u{1B}[J").dropFirst() }
    #expect(frames(wide).allSatisfy { $0.count < 100 })
    // The first one may have been drawn before the change.
    let later = frames(narrow).dropFirst().prefix { !$0.contains("out.mov") }
    #expect(later.count > 2)
    #expect(later.allSatisfy { $0.count < 30 && !$0.contains("\n") }, "\(later)")

    // Whole facts, not the first letters of one.
    let facts = /(starting|\d+ %|[\d:]+( left)?|[\d.]+x|[\d.]+ fps|[\d.]+ [kMG]?B|finishing.*)/
    #expect(
      later.allSatisfy { line in
        line.split(separator: "  ").allSatisfy { part in
          part.wholeMatch(of: facts) != nil || part.unicodeScalars.allSatisfy { $0.value > 0x2580 }
        }
      }, "\(later)")

    var screen = Screen()
    screen.draw((wide + narrow).replacing("\r\n", with: "\n"))
    #expect(screen.rows.count == 2 && screen.rows[1].isEmpty, "\(screen.rows)")
    // A live source leaves frames out on a busy machine, so its movie may be longer than 45 frames.
    #expect(screen.rows[0].hasPrefix("out.mov: ") && screen.rows[0].contains(" s of video in "))
  }
}

/// Both ends of a terminal.
private final class PseudoTerminal {
  let near: FileHandle
  let far: FileHandle

  init(columns: UInt16) throws {
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (unlocked, number) = (CInt(0), CUnsignedInt(0))
    // TIOCSPTLCK and TIOCGPTN; Glibc's module has neither them nor the functions around them.
    guard master >= 0, ioctl(master, 0x4004_5431, &unlocked) == 0,
      ioctl(master, 0x8004_5430, &number) == 0
    else { throw Failure("there is no pseudo-terminal") }
    let name = "/dev/pts/\(number)"
    let slave = open(name, O_RDWR | O_NOCTTY)
    guard slave >= 0 else { throw Failure("the terminal does not open") }
    near = FileHandle(fileDescriptor: master, closeOnDealloc: true)
    far = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    resize(columns: columns)
  }

  func resize(columns: UInt16) {
    var size = winsize(ws_row: 25, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(near.fileDescriptor, UInt(TIOCSWINSZ), &size)
  }

  /// What is drawn until `isEnough`, or until the program ends.
  func read(until isEnough: (String) -> Bool) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Foundation.read(near.fileDescriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      bytes += chunk[..<count]
      if isEnough(String(decoding: bytes, as: UTF8.self)) { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
