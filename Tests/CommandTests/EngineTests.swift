// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `Examples/engines`: each engine makes the same movie, byte for byte.
@Suite(.tags(.process, .judge))
struct EngineTests {
  private let folder: TemporaryFolder
  private static let engines = Repository.url.appending(path: "Examples/engines").path
  private static let options = "packing=side-by-side preset=ultrafast"

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Runs a shell with the built command in its path.
  @discardableResult
  private func shell(_ line: String) throws -> Program.Result {
    let bin = URL(filePath: try Command.built()).deletingLastPathComponent().path
    let result = try Program(
      [
        "bash", "-c",
        "export PATH='\(bin)':$PATH SOURCE_DATE_EPOCH=1700000000 GST_SPATIAL_PIPELINES='"
          + Repository.url.appending(path: "pipelines").path + "'; \(line)",
      ], in: folder.url
    ).result(seconds: 120)
    return result
  }

  private func movie(_ name: String = "a.mp4", frames: Int = 130) async throws {
    try await TestMovie.sideBySide(folder.path(name), frames: frames, width: 192, height: 64)
  }

  /// The movie as one process makes it, part by part.
  private func reference() throws -> Data {
    let made = try shell(
      "gst-spatial plan a.mp4 made.mov --work reference --parts 2s \(Self.options)"
        + " && for n in 1 0; do gst-spatial part reference $n; done && gst-spatial join reference")
    try #require(made.status == 0, "\(made.errors)")
    return try Data(contentsOf: URL(filePath: folder.path("made.mov")))
  }

  @Test("GNU parallel makes the movie of one process")
  func parallel() async throws {
    try await movie()
    let reference = try reference()
    let result = try shell(
      "bash \(Self.engines)/parallel.sh a.mp4 b.mov work 2 --parts 2s "
        + Self.options)
    #expect(result.status == 0, "\(result.errors)")
    let isSame = try Data(contentsOf: URL(filePath: folder.path("b.mov"))) == reference
    #expect(isSame)
  }

  @Test(
    "Slurm makes the movie of one process, and cancels the join of parts that fail",
    .enabled(if: getuid() == 0, "only root starts slurmd"))
  func slurm() async throws {
    try await movie()
    let reference = try reference()
    let tool = Repository.url.appending(path: "Tests/Tools/slurm_cluster.py").path
    let script = """
      cp '\(Self.engines)'/{part.sbatch,slurm.sh} .
      sed -i 's/--cpus-per-task=8 --mem=6G/--cpus-per-task=1 --mem=100/' part.sbatch
      wait_for() {
        for try in $(seq 600); do
          [ -z "$(squeue -h -o %A -j "$1" 2>/dev/null)" ] && return; sleep 0.2
        done
        exit 9
      }
      join=$(bash slurm.sh a.mp4 b.mov work --parts 2s \(Self.options)) || exit 8
      wait_for "$join"
      cat *.log >&2
      # A second array over the same folder does nothing; a changed input fails for good.
      bash slurm.sh a.mp4 b.mov work --parts 2s \(Self.options) > again || exit 7
      wait_for "$(cat again)"
      gst-spatial plan a.mp4 c.mov --work other --parts 2s \(Self.options) || exit 6
      printf x >> a.mp4
      array=$(sbatch --parsable --array=0-1 part.sbatch other)
      join=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes \
        --wrap 'touch joined')
      wait_for "$join"
      scontrol -o show job "$array" | grep -o 'ExitCode=[0-9:]*' | sort -u
      """
    _ = try folder.write(script, to: "script.sh")
    let result = try shell(
      "python3 '\(tool)' '\(folder.path("cluster"))' bash script.sh")
    #expect(result.status == 0, "\(result.errors)\n\(result.output)")
    let isSame = try Data(contentsOf: URL(filePath: folder.path("b.mov"))) == reference
    #expect(isSame)
    #expect(result.output.contains("ExitCode=2:0"), "\(result.output)")
    #expect(!folder.names.contains("joined"))
  }

  @Test("the files of Kubernetes are right by its rules for jobs")
  func kubernetes() throws {
    for name in ["parts-job.yaml", "join-job.yaml"] {
      let text = try String(contentsOfFile: "\(Self.engines)/\(name)", encoding: .utf8)
      #expect(text.contains("apiVersion: batch/v1") && text.contains("restartPolicy: Never"))
    }
    let parts = try String(contentsOfFile: "\(Self.engines)/parts-job.yaml", encoding: .utf8)
    // What the exit codes of `part` mean, and the number of a task.
    #expect(parts.contains("completionMode: Indexed") && parts.contains("values: [2]"))
    #expect(parts.contains("[gst-spatial, part, /work/film]"))
  }
}
