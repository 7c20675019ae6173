// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile

/// Values of a pipeline file in the syntax that GStreamer reads.
enum PropertyText {
  /// - Parameter description: of the property, where it is known.
  static func text(
    _ property: ResolvedGraph.Property, _ description: PropertyDescription?
  ) -> String {
    let type = description?.type
    switch property.value {
    case .text(let text, _):
      if let number = description?.unit?.number(text.text), type?.isWhole == true { return number }
      if case .boolean = type { return boolean(text.text) }
      return text.text
    case .list(let items):
      if case .flags = type { return items.map(plain).joined(separator: "+") }
      return "<\(items.map(nested).joined(separator: ", "))>"
    case .fields(let fields): return structure(property.name, fields)
    }
  }

  /// GStreamer knows neither "on" nor "off".
  private static func boolean(_ text: String) -> String {
    switch text.lowercased() {
    case "on", "yes", "1", "true": "true"
    default: "false"
    }
  }

  private static func structure(_ name: String, _ fields: [ResolvedGraph.Property]) -> String {
    ([name] + fields.map { "\($0.name)=\(nested($0.value))" }).joined(separator: ", ")
  }

  private static func plain(_ value: ResolvedGraph.Value) -> String {
    if case .text(let text, _) = value { text.text } else { nested(value) }
  }

  /// Within other values. GStreamer guesses the type of a text in quotes, too.
  private static func nested(_ value: ResolvedGraph.Value) -> String {
    switch value {
    case .text(let text, _): quoted(text.text)
    case .list(let items): "<\(items.map(nested).joined(separator: ", "))>"
    case .fields(let fields): "(structure)\(quoted(structure("fields", fields) + ";"))"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for character in text {
      if character == "\"" || character == "\\" { result += "\\" }
      result.append(character)
    }
    return result + "\""
  }
}

extension PropertyType {
  fileprivate var isWhole: Bool {
    switch self {
    case .integer, .unsigned: true
    default: false
    }
  }
}
