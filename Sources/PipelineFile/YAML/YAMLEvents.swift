// SPDX-License-Identifier: MPL-2.0

internal import CYAML

/// A place in a YAML text, both counted from 1; columns are Unicode scalars.
struct YAMLMark: Equatable {
  let line: Int
  let column: Int

  init(_ mark: yaml_mark_t) {
    line = Int(clamping: mark.line) &+ 1
    column = Int(clamping: mark.column) &+ 1
  }
}

/// What makes a text no YAML.
struct YAMLError: Error {
  /// In the words of libyaml.
  let problem: String
  let mark: YAMLMark?
  /// What was being read, such as "while parsing a flow sequence", and where that began.
  var context: String?
  var contextMark: YAMLMark?
}

/// A step through a YAML document.
struct YAMLEvent {
  /// What may stand before a node and changes its meaning.
  struct NodeProperties {
    let anchor: String?
    let tag: String?
  }

  enum Kind {
    case streamStart, streamEnd, documentStart, documentEnd
    case alias(String)
    /// `isPlain`: written without quotes, and not as a block of text.
    case scalar(String, NodeProperties, isPlain: Bool)
    case sequenceStart(NodeProperties)
    case sequenceEnd
    case mappingStart(NodeProperties)
    case mappingEnd
  }

  let kind: Kind
  let mark: YAMLMark
}

/// libyaml's parser of one text: one event after the other.
final class YAMLEvents {
  /// The parser points into itself and into the text: both stay where they are.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let text: UnsafeMutableBufferPointer<UInt8>

  init(_ text: String) throws(YAMLError) {
    parser = .allocate(capacity: 1)
    parser.initialize(to: yaml_parser_t())
    let bytes = text.utf8
    self.text = .allocate(capacity: bytes.count)
    _ = self.text.initialize(from: bytes)
    guard yaml_parser_initialize(parser) == 1 else {
      throw YAMLError(problem: "there is no memory to read it", mark: nil)
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, self.text.baseAddress, self.text.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    text.deallocate()
  }

  /// The next event. Behind the end of the stream, that end again.
  func next() throws(YAMLError) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
    defer { yaml_event_delete(&event) }
    return YAMLEvent(kind: Self.kind(of: event), mark: YAMLMark(event.start_mark))
  }

  private static func kind(of event: yaml_event_t) -> YAMLEvent.Kind {
    switch event.type {
    case YAML_STREAM_START_EVENT: return .streamStart
    case YAML_DOCUMENT_START_EVENT: return .documentStart
    case YAML_DOCUMENT_END_EVENT: return .documentEnd
    case YAML_ALIAS_EVENT: return .alias(string(event.data.alias.anchor) ?? "")
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let bytes = UnsafeBufferPointer(start: scalar.value, count: Int(clamping: scalar.length))
      return .scalar(
        String(decoding: bytes, as: UTF8.self),
        .init(anchor: string(scalar.anchor), tag: string(scalar.tag)),
        isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
    case YAML_SEQUENCE_START_EVENT:
      let start = event.data.sequence_start
      return .sequenceStart(.init(anchor: string(start.anchor), tag: string(start.tag)))
    case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
    case YAML_MAPPING_START_EVENT:
      let start = event.data.mapping_start
      return .mappingStart(.init(anchor: string(start.anchor), tag: string(start.tag)))
    case YAML_MAPPING_END_EVENT: return .mappingEnd
    default: return .streamEnd
    }
  }

  private static func string(_ text: UnsafePointer<UInt8>?) -> String? {
    text.map { String(cString: $0) }
  }

  private func failure() -> YAMLError {
    let parser = parser.pointee
    return YAMLError(
      problem: parser.problem.map { String(cString: $0) } ?? "there is no memory to read it",
      mark: parser.error == YAML_READER_ERROR ? nil : YAMLMark(parser.problem_mark),
      context: parser.context.map { String(cString: $0) },
      contextMark: parser.context == nil ? nil : YAMLMark(parser.context_mark))
  }
}

extension YAMLEvents {
  /// More than the format nests. libyaml's time grows with the square of the depth.
  static let depthLimit = 24

  /// Reads a text to its end: it must be one document, free of mistakes.
  static func check(_ text: String) throws(YAMLError) {
    let events = try YAMLEvents(text)
    var depth = 0
    var documents = 0
    while true {
      let event = try events.next()
      switch event.kind {
      case .sequenceStart, .mappingStart:
        depth += 1
        if depth > depthLimit {
          throw YAMLError(problem: "nested more than \(depthLimit) deep", mark: event.mark)
        }
      case .sequenceEnd, .mappingEnd: depth -= 1
      case .alias: throw YAMLError(problem: "found undefined alias", mark: event.mark)
      case .documentStart:
        documents += 1
        if documents > 1 {
          throw YAMLError(problem: "but found another document", mark: event.mark)
        }
      case .streamEnd: return
      case .streamStart, .documentEnd, .scalar: break
      }
    }
  }
}
