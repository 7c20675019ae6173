// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit

/// A screen for a program: its words go after these. The server stays when autovideosink lets go of
/// the first sink that it tries.
let virtualScreen = ["xvfb-run", "-a", "-s", "-noreset -screen 0 640x480x24"]

/// The built command, as a shell runs it.
enum Command {
  /// The path of something that was built: the command, or an example.
  static func built(_ name: String = "gst-spatial") throws -> String {
    guard let built = Repository.built else {
      throw Failure("GST_PLUGIN_PATH does not lead to the built command (scripts/test sets it)")
    }
    return built.appending(path: name).path
  }

  /// Starts the command.
  ///
  /// - Parameter shell: what a shell does before it becomes the command.
  static func start(
    _ arguments: [String], in folder: TemporaryFolder, shell: String = ""
  ) throws -> Program {
    try Program(
      ["sh", "-c", shell + "exec \"$@\"", "sh", built()] + arguments, in: folder.url)
  }

  /// Runs the command to its end.
  static func run(
    _ arguments: [String], in folder: TemporaryFolder, shell: String = ""
  ) throws -> Program.Result {
    try start(arguments, in: folder, shell: shell).result()
  }
}
