// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import Foundation
internal import GStreamer
internal import SpatialElements
internal import TestKit

/// The project's elements, for tests: the plugin as it was built, found through GST_PLUGIN_PATH as
/// in any application; or, if GST_SPATIAL_STATIC is set, the same elements linked into the tests.
public enum BuiltPlugin {
  private static let isFound: Bool = {
    initialize()
    if ProcessInfo.processInfo.environment["GST_SPATIAL_STATIC"] != nil {
      return (try? SpatialElements.register()) != nil
    }
    return ["stereotestsrc", "sbssplit", "stereotagger", "mvhevcenc", "mvhevcmux"].allSatisfy {
      guard let factory = gst_element_factory_find($0) else { return false }
      gst_object_unref(UnsafeMutableRawPointer(factory))
      return true
    }
  }()

  /// Finds the elements.
  ///
  /// - Throws: a `Failure` if they are not there, lest a test fails for a reason that it does not
  ///   give.
  public static func require() throws {
    guard isFound else {
      throw Failure(
        "GStreamer does not find this project's elements. Build them and say where they are: "
          + "swift build -c release --product gstspatial; "
          + "export GST_PLUGIN_PATH=$PWD/.build/release (scripts/test does both)")
    }
  }
}
