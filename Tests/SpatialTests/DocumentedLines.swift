// SPDX-License-Identifier: MPL-2.0

import Foundation

/// A page of documentation, and what it tells people to copy: the commands of its `sh` blocks,
/// continued lines joined.
struct DocumentedLines {
  let text: String
  let commands: [String]

  init(_ page: URL) throws {
    text = try String(contentsOf: page, encoding: .utf8)
    var commands: [String] = []
    for (index, part) in text.components(separatedBy: "```").enumerated() {
      guard !index.isMultiple(of: 2), part.hasPrefix("sh\n") else { continue }
      let joined = part.dropFirst(3).replacing("\\\n", with: " ")
      commands += joined.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    self.commands = commands
  }
}
