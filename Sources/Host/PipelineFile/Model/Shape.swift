// SPDX-License-Identifier: MPL-2.0

/// The allowed form of a part of a pipeline file. The file check and the JSON Schema for editors
/// are both derived from it, so they cannot disagree.
indirect enum Shape: Sendable {
  /// A single value.
  case text(TextForm)
  case list(of: Shape)
  /// A mapping with arbitrary names as keys; `keys` says what they name. `pads` is the form of the
  /// values of keys with a dot, nil if such keys are not allowed.
  case map(keys: String, of: Shape, pads: Shape? = nil)
  case object(ObjectShape)
  /// A property value: a single value, a list, or the fields of a structure.
  case property
  /// One form or the other; they differ in kind (single value, list, mapping).
  case either(Shape, Shape)

  /// The form of a single value.
  enum TextForm: Sendable {
    case any
    case boolean
    case choice([String])
    case duration
    /// A non-negative integer.
    case count
  }
}

/// A mapping with known keys.
struct ObjectShape: Sendable {
  struct Key: Sendable {
    let name: String
    let help: String
    let shape: Shape
    var isRequired = false
  }

  /// The described thing, such as "a parameter".
  let what: String
  let help: String
  let keys: [Key]
  /// The form of values of other keys; nil if other keys are not allowed.
  var others: Shape?
}

extension Shape {
  /// A whole pipeline file.
  static let pipelineFile = ObjectShape(
    what: "a pipeline file", help: "A GStreamer pipeline for gst-spatial.",
    keys: [
      .init(
        name: "version", help: "The version of the format; 1 by default.",
        shape: .text(.choice([PipelineFile.formatVersion]))),
      .init(
        name: "description", help: "What the pipeline does, in a sentence.", shape: .text(.any)),
      .init(
        name: "parameters", help: "Values that can be given on the command line as name=value.",
        shape: .map(keys: "parameters", of: .object(parameter))),
      .init(
        name: "include", help: "Files whose elements, templates and links belong to this one.",
        shape: .list(of: .either(.text(.any), .object(include)))),
      .init(
        name: "elements",
        help: "The elements by name; 'name.pad' holds properties of a pad.",
        shape: .map(
          keys: "elements", of: .either(.text(.any), .object(element)), pads: .object(pad))),
      .init(
        name: "templates", help: "Branches that links pass through by name.",
        shape: .map(keys: "templates", of: .object(template))),
      .init(
        name: "links", help: "The links: 'source -> decode', 'split.left -> mux.left'.",
        shape: .list(of: .text(.any))),
      .init(name: "run", help: "How the pipeline runs.", shape: .object(run)),
    ])

  static let parameter = ObjectShape(
    what: "a parameter", help: "A value that the user can set.",
    keys: [
      .init(
        name: "type", help: "The type of its values.",
        shape: .text(.choice(ParameterType.allCases.map(\.rawValue))), isRequired: true),
      .init(name: "help", help: "One sentence for the user.", shape: .text(.any)),
      .init(name: "unit", help: "The unit of the number.", shape: .text(.any)),
      .init(name: "minimum", help: "The minimum value.", shape: .text(.any)),
      .init(name: "maximum", help: "The maximum value.", shape: .text(.any)),
      .init(
        name: "choices",
        help: "The values of a choice: a list, or a mapping to the values that elements get.",
        shape: .either(.list(of: .text(.any)), .map(keys: "choices", of: .text(.any)))),
      .init(
        name: "endings", help: "The allowed extensions of a path: [mov, mp4].",
        shape: .list(of: .text(.any))),
      .init(
        name: "list",
        help: "Whether it has any number of values; a link that refers to it is made for each.",
        shape: .text(.boolean)),
      .init(
        name: "default",
        help: "The value if none is given, or a list of values; may refer to other parameters.",
        shape: .either(.text(.any), .list(of: .text(.any)))),
      .init(
        name: "environment", help: "The environment variable that overrides the default.",
        shape: .text(.any)),
      .init(
        name: "required", help: "Whether a value is required to run.", shape: .text(.boolean)),
    ])

  static let element = ObjectShape(
    what: "an element", help: "A GStreamer element and its properties.",
    keys: [
      .init(
        name: "type", help: "The element's type, as gst-inspect-1.0 lists it.",
        shape: .text(.any), isRequired: true)
    ],
    others: .property)

  static let pad = ObjectShape(
    what: "a pad", help: "Properties of a pad.", keys: [], others: .property)

  static let template = ObjectShape(
    what: "a template", help: "A branch: elements that follow each other.",
    keys: [
      .init(
        name: "parameters", help: "Values that a link gives in parentheses: 'eye(name=left)'.",
        shape: .map(keys: "parameters", of: .object(parameter))),
      .init(
        name: "chain",
        help: "Element types, elements with properties, caps, templates.",
        shape: .list(of: .either(.text(.any), .object(element))), isRequired: true),
    ])

  static let include = ObjectShape(
    what: "an include", help: "Another file and the values of its parameters.",
    keys: [
      .init(
        name: "file", help: "Its path, relative to this file.", shape: .text(.any),
        isRequired: true),
      .init(
        name: "with", help: "Values of its parameters.",
        shape: .map(keys: "parameters", of: .text(.any))),
      .init(
        name: "inherit",
        help: "'all': its parameters take the values of this file's parameters of the same names, "
          + "unless 'with' gives others.",
        shape: .text(.choice(["all"]))),
    ])

  static let run = ObjectShape(
    what: "'run'", help: "How the pipeline runs.",
    keys: [
      .init(
        name: "on-error", help: "The reaction to an error.",
        shape: .text(.choice(RunSettings.OnError.allCases.map(\.rawValue)))),
      .init(
        name: "restarts",
        help: "Maximum number of consecutive restarts; 10 by default.",
        shape: .text(.count)),
      .init(
        name: "watchdog", help: "Time without progress after which the run counts as frozen.",
        shape: .text(.duration)),
    ])
}

extension PipelineFile {
  /// The JSON Schema (2020-12) of pipeline files, for editors; derived from the rules that check
  /// them.
  public static var schema: String { JSON.object(root()).text() + "\n" }

  /// Returns the schema with the element types of a registry and their properties, in one line.
  public static func schema(elementsOf registry: some ElementRegistry) -> String {
    let types = registry.elementTypeNames.compactMap(registry.elementType)
    let names = JSON.object([
      ("anyOf", [.object([("enum", .array(types.map { .string($0.name) }))]), Shape.reference])
    ])
    var element = Shape.object(Shape.element).schema(help: Shape.element.help)
    element.removeAll { $0.0 == "additionalProperties" }
    let properties = types.map { type in
      let known = type.properties.filter(\.isWritable).map { ($0.name, $0.type.schema) }
      let then: [(String, JSON)] = [
        ("properties", .object([("type", true)] + known)), ("additionalProperties", false),
      ]
      let condition: JSON = [
        "properties": ["type": ["const": .string(type.name)]], "required": ["type"],
      ]
      return JSON.object([("if", condition), ("then", .object(then))])
    }
    element.append(("allOf", .array(properties)))
    let definitions = JSON.object([("type", names), ("element", .object(element))])
    return JSON.object(root(elements: true) + [("$defs", definitions)]).line + "\n"
  }

  private static func root(elements: Bool = false) -> [(String, JSON)] {
    var root = Shape.object(Shape.pipelineFile).schema(
      help: Shape.pipelineFile.help, hasElements: elements)
    root.insert(("title", .string("gst-spatial pipeline file")), at: 0)
    root.insert(("$schema", .string("https://json-schema.org/draft/2020-12/schema")), at: 0)
    return root
  }
}

extension PropertyType {
  /// The schema of a value, which may refer to a parameter.
  fileprivate var schema: JSON {
    switch self {
    case .boolean: ["anyOf": [["type": "boolean"], Shape.reference]]
    // Numbers may have units: 10s, 100MB.
    case .integer, .unsigned, .number: ["type": ["number", "string"]]
    case .enumeration(let nicks):
      [
        "anyOf": [
          .object([("enum", .array(nicks.map { .string($0.nick) }))]), ["type": "integer"],
          Shape.reference,
        ]
      ]
    case .flags: ["type": ["string", "array", "integer"]]
    case .string, .caps, .fraction, .structure, .array, .other:
      ["type": ["string", "number", "boolean", "array", "object"]]
    }
  }
}

extension Shape {
  private static let scalarTypes = JSON.array([
    .string("string"), .string("number"), .string("boolean"),
  ])

  /// A text that refers to a parameter.
  fileprivate static let reference: JSON = ["type": "string", "pattern": "\\$\\{"]

  /// - Parameter hasElements: Whether elements and their types have definitions of their own.
  fileprivate func schema(help: String? = nil, hasElements: Bool = false) -> [(String, JSON)] {
    var fields: [(String, JSON)] = help.map { [("description", .string($0))] } ?? []
    switch self {
    case .text(.choice(let choices)):
      // YAML reads a number that is not quoted as a number.
      let numbers = choices.compactMap { Int64($0) }.map { JSON.integer($0) }
      fields.append(("enum", .array(numbers + choices.map { .string($0) })))
    case .text(.boolean):
      fields.append(("type", .string("boolean")))
    case .text(.count):
      fields.append(("type", .string("integer")))
    case .text(.duration):
      fields.append(("type", .string("string")))
    case .text(.any):
      fields.append(("type", Self.scalarTypes))
    case .list(let item):
      fields.append(("type", .string("array")))
      fields.append(("items", .object(item.schema(hasElements: hasElements))))
    case .map(let keys, let value, let pads):
      let name = "^[A-Za-z_][A-Za-z0-9_-]*"
      // A text is the type of an element here, and anything in a chain.
      let content: JSON =
        hasElements && keys == "elements"
        ? ["anyOf": [["$ref": "#/$defs/type"], ["$ref": "#/$defs/element"]]]
        : .object(value.schema(hasElements: hasElements))
      var patterns = [("\(name)$", content)]
      if let pads { patterns.append(("\(name)\\.[A-Za-z0-9_%-]+$", .object(pads.schema()))) }
      fields.append(("type", .string("object")))
      fields.append(("patternProperties", .object(patterns)))
      fields.append(("additionalProperties", .bool(false)))
    case .object(let object):
      fields.append(("type", .string("object")))
      fields.append(
        (
          "properties",
          .object(
            object.keys.map {
              ($0.name, .object($0.shape.schema(help: $0.help, hasElements: hasElements)))
            })
        ))
      let required = object.keys.filter(\.isRequired).map { JSON.string($0.name) }
      if !required.isEmpty { fields.append(("required", .array(required))) }
      fields.append(
        ("additionalProperties", object.others.map { .object($0.schema()) } ?? .bool(false)))
    case .property:
      fields.append(
        (
          "type",
          .array(["string", "number", "boolean", "array", "object"].map { .string($0) })
        ))
    case .either(.text(.any), .object(let object))
    where hasElements && object.what == Shape.element.what:
      fields.append(("anyOf", [["type": Self.scalarTypes], ["$ref": "#/$defs/element"]]))
    case .either(let one, let other):
      fields.append(("anyOf", .array([.object(one.schema()), .object(other.schema())])))
    }
    return fields
  }
}
