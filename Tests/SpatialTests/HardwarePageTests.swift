// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import ISOBMFF
import TestElements
import TestKit
import Testing

/// The lines of docs/hardware.md that weave the streams of two encoders.
@Suite(.tags(.process))
struct HardwarePageTests {
  private static let lines =
    (try? DocumentedLines(Repository.url.appending(path: "docs/hardware.md")).commands)?.filter {
      $0.contains("mvhevcmux")
    } ?? []
  private static let software =
    "x265enc key-int-max=24 speed-preset=ultrafast "
    + "option-string=scenecut=0:bframes=0"

  @Test(
    "its lines differ in the encoder alone, and weave its streams where it exists, or x265enc's")
  func weaves() throws {
    try BuiltPlugin.require()
    let folder = try TemporaryFolder()
    let encoder = /([a-z0-9]+h265enc) [^!]*/
    let name = /location=[a-z0-9]+.mov/
    var commands: Set<String> = []
    for line in Self.lines {
      commands.insert(
        line.replacing(encoder, with: Self.software + " ")
          .replacing(name, with: "location=software.mov"))
    }
    #expect(Self.lines.count == 4 && commands.count == 1)
    for line in Self.lines {
      let encoder = try #require(line.firstMatch(of: encoder)).output.1
      if ElementFactory.named(String(encoder)) != nil { commands.insert(line) }
    }
    for command in commands {
      let result = try Program.run(["bash", "-c", "cd '\(folder.url.path)' && \(command)"])
      #expect(result.status == 0 && !result.output.contains("ERROR"), "\(result.output)")
      let output = try #require(command.firstMatch(of: /filesink location=(\S+)/)).output.1
      #expect(try MovieFile(folder.path(String(output))).video().samples.count == 48)
    }
  }
}
