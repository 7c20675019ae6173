// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// `Examples/engines`: each engine makes the same movie, byte for byte.
@Suite(.tags(.process, .judge))
struct EngineTests {
  private let folder: EngineFolder

  init() throws {
    folder = try EngineFolder()
  }

  @Test("GNU parallel makes the movie of one process")
  func parallel() async throws {
    try await folder.movie()
    let reference = try folder.reference()
    let result = try folder.shell(
      "bash \(EngineFolder.engines)/parallel.sh a.mp4 b.mov work 2 --parts 2s "
        + EngineFolder.options)
    #expect(result.status == 0, "\(result.errors)")
    let isSame = try folder.bytes("b.mov") == reference
    #expect(isSame)
  }

  @Test(
    "Slurm makes the movie of one process, and cancels the join of parts that fail",
    .enabled(if: getuid() == 0, "only root starts slurmd"))
  func slurm() async throws {
    try await folder.movie()
    let reference = try folder.reference()
    let result = try folder.slurm(
      """
      join=$(bash slurm.sh a.mp4 b.mov work --parts 2s \(EngineFolder.options)) || exit 8
      wait_for "$join"
      cat *.log >&2
      # A second array over the same folder does nothing; a changed input fails for good.
      bash slurm.sh a.mp4 b.mov work --parts 2s \(EngineFolder.options) > again || exit 7
      wait_for "$(cat again)"
      gst-spatial plan a.mp4 c.mov --work other --parts 2s \(EngineFolder.options) || exit 6
      printf x >> a.mp4
      array=$(sbatch --parsable --array=0-1 part.sbatch other)
      join=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes \
        --wrap 'touch joined')
      wait_for "$join"
      scontrol -o show job "$array" | grep -o 'ExitCode=[0-9:]*' | sort -u
      """)
    #expect(result.status == 0, "\(result.errors)\n\(result.output)")
    let isSame = try folder.bytes("b.mov") == reference
    #expect(isSame)
    #expect(result.output.contains("ExitCode=2:0"), "\(result.output)")
    #expect(!folder.names.contains("joined"))
  }

  @Test("the lines of docs/scale.md run")
  func page() async throws {
    try await folder.movie("side-by-side.mp4", frames: 30)
    try FileManager.default.createDirectory(
      atPath: folder.path("films"), withIntermediateDirectories: false)
    try await folder.movie("films/film.mp4", frames: 10)
    let page = try DocumentedLines(Repository.url.appending(path: "docs/scale.md"))
    #expect(page.commands.count == 12)
    for command in page.commands {
      let result = try folder.shell(command)
      #expect(result.status == 0, "\(command): \(result.errors)")
    }
    for name in [
      "spatial.mov", "planned.mov", "limited.mov", "scene.mov", "film.mov",
      "spatial/film_MVHEVC.mov",
    ] {
      #expect(try MovieFile(folder.path(name)).videoEntry().lhvC != nil, "\(name)")
    }
  }

  @Test(
    "Snakemake makes the movie of one process, and the schema of Kubernetes accepts its files",
    .tags(.exhaustive))
  func installedTools() async throws {
    let tools = try folder.shell(
      "python3 -m venv tools && tools/bin/pip install -q snakemake kubernetes-validate")
    try #require(tools.status == 0, "\(tools.errors)")
    try await folder.movie()
    let reference = try folder.reference()
    for (output, passes) in [("one.mov", ""), ("two.mov", "--two-pass bitrate=400 ")] {
      let result = try folder.shell(
        "tools/bin/snakemake -s '\(EngineFolder.engines)/Snakefile' --cores 2 --config input=a.mp4 "
          + "output=$PWD/\(output) folder=\(output).parts "
          + "options='--parts 2s \(passes)\(EngineFolder.options)'")
      #expect(result.status == 0, "\(result.errors)")
    }
    let isSame = try folder.bytes("one.mov") == reference
    #expect(isSame)
    let samples = try MovieFile(folder.path("two.mov")).samples("vide")
    let size = samples.reduce(0) { $0 + $1.count }
    // In kbit/s, at 30 frames a second.
    let rate = Double(size) * 8 * 30 / Double(samples.count) / 1000
    #expect(abs(rate - 400) < 60, "\(rate)")
    let schema = try folder.shell(
      "cd '\(EngineFolder.engines)' && '\(folder.path("tools"))'/bin/kubernetes-validate --strict "
        + "parts-job.yaml join-job.yaml")
    #expect(schema.status == 0, "\(schema.output)\(schema.errors)")
  }

  @Test("the files of Kubernetes are right by its rules for jobs")
  func kubernetes() throws {
    for name in ["parts-job.yaml", "join-job.yaml"] {
      let text = try String(contentsOfFile: "\(EngineFolder.engines)/\(name)", encoding: .utf8)
      #expect(text.contains("apiVersion: batch/v1") && text.contains("restartPolicy: Never"))
    }
    let parts = try String(
      contentsOfFile: "\(EngineFolder.engines)/parts-job.yaml", encoding: .utf8)
    // What the exit codes of `part` mean, and the number of a task.
    #expect(parts.contains("completionMode: Indexed") && parts.contains("values: [2]"))
    #expect(parts.contains("[gst-spatial, part, /work/film]"))
  }
}
