// SPDX-License-Identifier: MPL-2.0

internal import CYAML

/// A position in a YAML text; line and column are counted from 1, columns in Unicode scalars.
struct YAMLMark: Equatable {
  let line: Int
  let column: Int

  init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  init(_ mark: yaml_mark_t) {
    line = Int(clamping: mark.line) &+ 1
    column = Int(clamping: mark.column) &+ 1
  }
}

/// A syntax error in a YAML text.
struct YAMLError: Error {
  /// libyaml's description of the problem.
  let problem: String
  let mark: YAMLMark?
  /// The character at the mark that is not allowed in YAML.
  var character: Unicode.Scalar?
  /// The construct being parsed, such as "while parsing a flow sequence".
  var context: String?
  /// The position where that construct began.
  var contextMark: YAMLMark?
  /// The lines before this one have no errors.
  var firstLine = 1
}

/// An event of the YAML parser.
struct YAMLEvent {
  /// Optional properties before a node that change its meaning.
  struct NodeProperties {
    let anchor: String?
    let tag: String?
  }

  enum Kind {
    case streamStart, streamEnd, documentStart, documentEnd
    case alias(String)
    /// `isPlain`: neither quoted nor a block scalar.
    case scalar(String, NodeProperties, isPlain: Bool)
    case sequenceStart(NodeProperties)
    case sequenceEnd
    case mappingStart(NodeProperties)
    case mappingEnd
  }

  let kind: Kind
  let mark: YAMLMark
}

/// The events of libyaml's parser for one text, which must be a single document.
final class YAMLEvents {
  /// The parser holds pointers into itself and into the text, so neither may move.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let text: UnsafeMutableBufferPointer<UInt8>
  private var depth = 0
  private var documents = 0
  /// First line of the last event, or last line of a block scalar: a quoted or multi-line text may
  /// have been meant to end earlier.
  private var line = 1

  /// Deeper than the format nests. libyaml's time grows with the square of the depth.
  private static let depthLimit = 24

  init(_ text: String) throws(YAMLError) {
    parser = .allocate(capacity: 1)
    parser.initialize(to: yaml_parser_t())
    let bytes = text.utf8
    self.text = .allocate(capacity: bytes.count)
    _ = self.text.initialize(from: bytes)
    guard yaml_parser_initialize(parser) == 1 else {
      throw YAMLError(problem: "there is not enough memory to read it", mark: nil)
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, self.text.baseAddress, self.text.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    text.deallocate()
  }

  /// Returns the next event; after the end of the stream, the end event again.
  func next() throws(YAMLError) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
    defer { yaml_event_delete(&event) }
    let mark = YAMLMark(event.start_mark)
    let kind = Self.kind(of: event)
    switch kind {
    case .sequenceStart, .mappingStart:
      depth += 1
      if depth > Self.depthLimit {
        throw failure("nested more than \(Self.depthLimit) deep", mark)
      }
    case .sequenceEnd, .mappingEnd: depth -= 1
    case .documentStart:
      documents += 1
      if documents > 1 { throw failure("but found another document", mark) }
    case .streamStart, .streamEnd, .documentEnd, .alias, .scalar: break
    }
    line = Self.isBlock(event) ? YAMLMark(event.end_mark).line : mark.line
    return YAMLEvent(kind: kind, mark: mark)
  }

  /// Parses a text to its end to find errors.
  static func check(_ text: String) throws(YAMLError) {
    let events = try YAMLEvents(text)
    while true {
      if case .streamEnd = try events.next().kind { return }
    }
  }

  private static func isBlock(_ event: yaml_event_t) -> Bool {
    event.type == YAML_SCALAR_EVENT
      && [YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE].contains(event.data.scalar.style)
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

  private func failure(_ problem: String, _ mark: YAMLMark) -> YAMLError {
    YAMLError(problem: problem, mark: mark, firstLine: line)
  }

  /// Returns the error that libyaml reports.
  private func failure() -> YAMLError {
    let parser = parser.pointee
    let problem = parser.problem.map { String(cString: $0) }
    let isUnreadable = parser.error == YAML_READER_ERROR
    return YAMLError(
      problem: problem ?? "there is not enough memory to read it",
      mark: isUnreadable ? mark(ofByte: parser.problem_offset) : YAMLMark(parser.problem_mark),
      character: isUnreadable
        ? UInt32(exactly: parser.problem_value).flatMap(Unicode.Scalar.init) : nil,
      context: parser.context.map { String(cString: $0) },
      contextMark: parser.context == nil ? nil : YAMLMark(parser.context_mark), firstLine: line)
  }

  /// Converts a byte offset; libyaml reports unreadable characters only by byte offset.
  private func mark(ofByte offset: Int) -> YAMLMark {
    var (line, column) = (1, 1)
    var previous: UInt8 = 0
    for byte in text.prefix(offset) {
      let isBreak = byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
      if isBreak, byte == UInt8(ascii: "\r") || previous != UInt8(ascii: "\r") {
        (line, column) = (line + 1, 1)
      } else if !isBreak, byte & 0xC0 != 0x80 {
        column += 1
      }
      previous = byte
    }
    return YAMLMark(line: line, column: column)
  }
}
