// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Testing

/// An element that does nothing but be there.
private final class Bystander: ElementImplementation {
  struct Settings {}
  struct Streaming {}

  let instance: ElementInstance
  let settings = Locked(Settings())

  init(_ instance: ElementInstance) throws { self.instance = instance }

  func start() throws -> Streaming { Streaming() }

  static func declaration(_ name: String) -> ElementDeclaration<Bystander> {
    ElementDeclaration<Bystander>(
      name: name, typeName: "GstTest\(name)", longName: "Bystander", klass: "Filter",
      description: "For tests", author: "Tests", padTemplates: [])
  }
}

/// Plugins that are linked into a program, beside copies of them.
@Suite(.serialized)
struct PluginInProcessTests {
  private func plugin(_ name: String, version: String) -> PluginDeclaration {
    testPlugin("linked\(name)", version: version, [Bystander.declaration(name)])
  }

  @Test("registering twice has no further effect")
  func twice() throws {
    let plugin = plugin("once", version: "1.0")
    try plugin.registerInProcess()
    try plugin.registerInProcess()
    _ = try Element("once")
  }

  @Test("a loaded copy of the same version is used, one of another version is named")
  func versions() throws {
    #expect(plugin("copied", version: "1.0").registerStatically())
    try plugin("copied", version: "1.0").registerInProcess()
    let conflict = #expect(throws: PluginConflict.self) {
      try plugin("copied", version: "2.0").registerInProcess()
    }
    #expect(conflict?.loadedVersion == "1.0" && conflict?.wantedVersion == "2.0")
    _ = try Element("copied")
  }

  @Test("a later copy is refused without messages from GLib, and the first keeps working")
  func later() throws {
    try plugin("late", version: "1.0").registerInProcess()
    // With G_DEBUG=fatal-criticals, a type registered twice would end the process.
    #expect(!plugin("late", version: "2.0").registerStatically())
    _ = try Element("late")
  }
}
