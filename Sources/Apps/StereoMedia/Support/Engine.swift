// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import SpatialElements

/// GStreamer and the project's elements, ready once in a process and not before something needs them.
package enum Engine {
  private static let readiness: Result<Void, StereoMediaError> = {
    do {
      try SpatialElements.register()
      return .success(())
    } catch let conflict as PluginConflict {
      return .failure(
        StereoMediaError(
          .elementConflict, "\(conflict)",
          hint: "take GST_PLUGIN_PATH away, or install the version that the program was built with")
      )
    } catch {
      return .failure(StereoMediaError(.missingElement, "\(error)"))
    }
  }()

  /// Waits until they are ready, which takes a while the first time: for threads that may block.
  static func require() throws(StereoMediaError) { try readiness.get() }

  /// The same for tasks.
  package static func start() async throws {
    try await Blocking.run { try require() }
  }
}
