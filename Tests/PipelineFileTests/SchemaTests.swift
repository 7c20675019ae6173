// SPDX-License-Identifier: MPL-2.0

import Foundation
import PipelineFile
import Testing

struct SchemaTests {
  private func schema() throws -> [String: Any] {
    let data = Data(PipelineFile.schema.utf8)
    return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test("the schema is JSON and names each section of a file")
  func sections() throws {
    let properties = try #require(try schema()["properties"] as? [String: Any])
    #expect(
      Set(properties.keys) == [
        "version", "description", "parameters", "include", "elements", "templates", "links", "run",
      ])
    #expect(try schema()["additionalProperties"] as? Bool == false)
  }

  @Test("the schema knows each type of parameter, as the check does")
  func parameterTypes() throws {
    let sections = try #require(try schema()["properties"] as? [String: Any])
    let parameters = try #require(sections["parameters"] as? [String: Any])
    let patterns = try #require(parameters["patternProperties"] as? [String: Any])
    let parameter = try #require(patterns.values.first as? [String: Any])
    let keys = try #require(parameter["properties"] as? [String: Any])
    let type = try #require(keys["type"] as? [String: Any])
    #expect(type["enum"] as? [String] == ParameterType.allCases.map(\.rawValue))
    #expect(parameter["required"] as? [String] == ["type"])
  }

  @Test("elements and properties of pads have patterns of their own")
  func elementPatterns() throws {
    let sections = try #require(try schema()["properties"] as? [String: Any])
    let elements = try #require(sections["elements"] as? [String: Any])
    let patterns = try #require(elements["patternProperties"] as? [String: Any])
    func matching(_ name: String) throws -> Int {
      try patterns.keys.filter { try name.firstMatch(of: Regex($0)) != nil }.count
    }
    #expect(try matching("mux") == 1)
    #expect(try matching("mux.audio_%u") == 1)
    #expect(try matching("2nd source") == 0)
  }
}
