// SPDX-License-Identifier: MPL-2.0

public import Foundation

/// A page of documentation, and what it tells people to copy: the commands of its `sh` blocks,
/// continued lines joined.
public struct DocumentedLines {
  public let text: String
  public let commands: [String]

  /// Reads a page.
  public init(_ page: URL) throws {
    text = try String(contentsOf: page, encoding: .utf8)
    var commands: [String] = []
    for (index, part) in text.components(separatedBy: "```").enumerated() {
      guard !index.isMultiple(of: 2), part.hasPrefix("sh\n") else { continue }
      let joined = part.dropFirst(3).replacing("\\\n", with: " ")
      commands += joined.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    self.commands = commands
  }

  /// Returns a command as it is for `make test-all`; else with smaller pictures and the fastest
  /// preset of x264, which play no part in what it shows.
  public static func sized(_ command: String) -> String {
    guard Tier.current != "all" else { return command }
    return command.replacing("width=1280,height=360", with: "width=640,height=180")
      .replacing("x264enc !", with: "x264enc speed-preset=ultrafast !")
  }
}
