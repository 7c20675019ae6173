// SPDX-License-Identifier: MPL-2.0

/// Where a movie is: a path, or the URL of a server.
package enum MovieLocation {
  /// Whether a location is the URL of a server of HTTP or HTTPS.
  package static func isURL(_ location: String) -> Bool {
    ["http://", "https://"].contains { location.lowercased().hasPrefix($0) }
  }

  /// Returns the GStreamer element that reads a location.
  static func source(of location: String) -> String {
    isURL(location) ? "souphttpsrc" : "filesrc"
  }
}
