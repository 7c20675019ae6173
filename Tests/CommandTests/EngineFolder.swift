// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit

/// A folder in which engines convert movies with the built command.
struct EngineFolder {
  static let engines = Repository.url.appending(path: "Examples/engines").path
  static let options = "packing=side-by-side preset=ultrafast"

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  var names: [String] { folder.names }

  func path(_ name: String) -> String { folder.path(name) }

  func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(name))) }

  /// Runs a shell with the built command in its path.
  ///
  /// - Parameter seconds: when it hangs.
  @discardableResult
  func shell(_ line: String, seconds: Double = 300) throws -> Program.Result {
    let bin = URL(filePath: try Command.built()).deletingLastPathComponent().path
    return try Program(
      [
        "bash", "-c",
        "export PATH='\(bin)':$PATH SOURCE_DATE_EPOCH=1700000000 GST_SPATIAL_PIPELINES='"
          + Repository.url.appending(path: "pipelines").path + "'; \(line)",
      ], in: folder.url
    ).result(seconds: seconds)
  }

  /// Runs a script in a Slurm of one node, in which tasks have one processor and 100 MB. The script
  /// has a function `wait_for JOB`.
  func slurm(_ script: String, seconds: Double = 300) throws -> Program.Result {
    let tool = Repository.url.appending(path: "Tests/Tools/slurm_cluster.py").path
    let beginning = """
      cp '\(Self.engines)'/{part.sbatch,many.sbatch,slurm.sh} .
      sed -i 's/--cpus-per-task=8 --mem=6G/--cpus-per-task=1 --mem=100/' part.sbatch many.sbatch
      wait_for() {
        while [ -n "$(squeue -h -o %A -j "$1" 2>/dev/null)" ]; do sleep 0.2; done
      }

      """
    _ = try folder.write(beginning + script, to: "script.sh")
    return try shell(
      "exec python3 '\(tool)' '\(path("cluster"))' \(Int(seconds)) bash script.sh",
      seconds: seconds + 60)
  }

  func movie(_ name: String = "a.mp4", frames: Int = 130) async throws {
    try await TestMovie.sideBySide(path(name), frames: frames, width: 192, height: 64)
  }

  /// The movie as one process makes it, part by part.
  func reference(parts: String = "2s") throws -> Data {
    let made = try shell(
      """
      parts=$(gst-spatial plan a.mp4 made.mov --work reference --parts \(parts) \(Self.options)) &&
        for n in $(seq $((parts - 1)) -1 0); do gst-spatial part reference $n || exit; done &&
        gst-spatial join reference
      """)
    guard made.status == 0 else { throw Failure(made.errors) }
    return try bytes("made.mov")
  }
}
