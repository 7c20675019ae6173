// SPDX-License-Identifier: MPL-2.0

extension PipelineFile {
  /// The JSON Schema (2020-12) of pipeline files, for editors; made from what checks them.
  public static var schema: String {
    var root = Shape.object(Shape.pipelineFile).schema(help: Shape.pipelineFile.help)
    root.insert(("title", .string("gst-spatial pipeline file")), at: 0)
    root.insert(("$schema", .string("https://json-schema.org/draft/2020-12/schema")), at: 0)
    return JSON.object(root).text() + "\n"
  }
}

extension Shape {
  private static let scalarTypes = JSON.array([
    .string("string"), .string("number"), .string("boolean"),
  ])

  fileprivate func schema(help: String? = nil) -> [(String, JSON)] {
    var fields: [(String, JSON)] = help.map { [("description", .string($0))] } ?? []
    switch self {
    case .text(.choice(let choices)):
      fields.append(("enum", .array(choices.map { .string($0) })))
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
      fields.append(("items", .object(item.schema())))
    case .map(_, let value, let pads):
      let name = "^[A-Za-z_][A-Za-z0-9_-]*"
      var patterns = [("\(name)$", JSON.object(value.schema()))]
      if let pads { patterns.append(("\(name)\\.[A-Za-z0-9_%-]+$", .object(pads.schema()))) }
      fields.append(("type", .string("object")))
      fields.append(("patternProperties", .object(patterns)))
      fields.append(("additionalProperties", .bool(false)))
    case .object(let object):
      fields.append(("type", .string("object")))
      fields.append(
        (
          "properties",
          .object(object.keys.map { ($0.name, .object($0.shape.schema(help: $0.help))) })
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
    case .either(let one, let other):
      fields.append(("anyOf", .array([.object(one.schema()), .object(other.schema())])))
    }
    return fields
  }
}
