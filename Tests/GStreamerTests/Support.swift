// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// A plugin of elements for tests.
///
/// - Parameter features: are declared when GStreamer is there, since what declares them makes caps.
func testPlugin(
  _ name: String, version: String = "0", _ features: @autoclosure () -> [any PluginFeature]
) -> PluginDeclaration {
  initialize()
  return PluginDeclaration(
    name: name, description: "Tests", version: version, license: "LGPL", source: "gst-spatial",
    package: "gst-spatial", origin: "https://example.org", releaseDate: "2026-11-22",
    features: features())
}

extension [PadTemplate] {
  /// A pad on either side, for anything.
  static var forAnything: [PadTemplate] {
    [PadTemplate("sink", .sink, caps: .any), PadTemplate("src", .source, caps: .any)]
  }
}
