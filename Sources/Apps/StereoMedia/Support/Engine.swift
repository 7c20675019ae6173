// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import SpatialElements

/// Initializes GStreamer and registers the project's elements, once in a process and on first use.
package enum Engine {
  private static let readiness: Result<Void, StereoMediaError> = {
    do {
      try SpatialElements.register()
      return .success(())
    } catch let conflict as PluginConflict {
      return .failure(
        StereoMediaError(
          .elementConflict, "\(conflict)",
          hint: "unset GST_PLUGIN_PATH, or install the version that the program was built with")
      )
    } catch {
      return .failure(StereoMediaError(.missingElement, "\(error)"))
    }
  }()

  /// Initializes them, which takes a while the first time; for threads that may block.
  static func require() throws(StereoMediaError) { try readiness.get() }

  /// Initializes them without blocking a thread of the concurrency pool.
  package static func start() async throws {
    try await Blocking.run { try require() }
  }
}
