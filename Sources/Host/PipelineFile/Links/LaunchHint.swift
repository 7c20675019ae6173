// SPDX-License-Identifier: MPL-2.0

/// Translates gst-launch syntax found in a pipeline file into the file's own syntax, for messages.
struct LaunchHint {
  /// `queue`, `queue(leaky=no)`, `video/x-raw`, or the name of an element.
  private(set) var steps: [String] = []
  /// Entries of `elements:` for the named elements.
  private var elements: [String] = []
  /// Whether the line consists only of elements with properties, caps and names.
  private var isUnderstood = true

  /// Maximum length of a suggestion, so that a message fits on a line.
  private static let lengthLimit = 200

  /// Translates a range of the scanned text.
  ///
  /// - Parameters:
  ///   - range: elements with their properties, separated by `!` or `->`.
  ///   - isChain: whether this is a template's chain, whose elements have no names.
  init(_ range: Range<Int>, _ scanner: LinkScanner, isChain: Bool) {
    for part in scanner.split(range, by: "->").flatMap({ scanner.split($0, by: "!") }) {
      let words = scanner.words(part).map(scanner.placed.text)
      guard let type = words.first else { continue }
      guard words.count > 1, !type.contains("/") else {
        steps.append(type.hasSuffix(".") ? String(type.dropLast()) : words.joined(separator: " "))
        continue
      }
      if !words.dropFirst().allSatisfy({ $0.dropFirst().contains("=") }) { isUnderstood = false }
      let properties = words.dropFirst().filter { !$0.hasPrefix("name=") }
      if !isChain, let name = words.first(where: { $0.hasPrefix("name=") })?.dropFirst(5) {
        steps.append(String(name))
        elements.append("\(name): \(Self.entry(type, properties))")
      } else {
        let list = properties.joined(separator: ", ")
        steps.append(list.isEmpty ? type : "\(type)(\(list))")
      }
    }
  }

  /// The suggestion for `links:`.
  var link: String {
    let link = steps.joined(separator: " -> ")
    guard isUnderstood, link.count <= Self.lengthLimit else {
      return "write '->' between elements, and properties in parentheses: queue(leaky=no)"
    }
    let names = elements.map { "'\($0)'" }.joined(separator: " and ")
    return "write '\(link)'" + (names.isEmpty ? "" : ", and \(names) in 'elements:'")
  }

  /// `{ type: queue, leaky: no }`
  private static func entry(_ type: String, _ properties: [String]) -> String {
    let fields = properties.map { property in
      let equals = property.firstIndex(of: "=") ?? property.endIndex
      return "\(property[..<equals]): \(property[equals...].dropFirst())"
    }
    return "{ " + (["type: \(type)"] + fields).joined(separator: ", ") + " }"
  }
}
