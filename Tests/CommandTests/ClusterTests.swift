// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// What goes wrong on clusters, on a real Slurm, at the size that an issue asked for.
@Suite(
  .tags(.process, .judge, .exhaustive), .enabled(if: getuid() == 0, "only root starts slurmd"))
struct ClusterTests {
  private let folder: EngineFolder

  init() throws {
    folder = try EngineFolder()
  }

  @Test("ten minutes in ten parts, with daemons and tasks killed, a task doubled, a part damaged")
  func faults() async throws {
    try await folder.movie(frames: 18_000)
    let reference = try folder.reference(parts: "60s")
    // A fault each time that another part is done, while the others are encoded.
    let result = try folder.slurm(
      """
      work=$PWD/work
      cluster=$PWD/cluster
      daemons=()
      trap 'kill -9 "${daemons[@]}"' EXIT
      convert() { bash slurm.sh a.mp4 b.mov "$work" --parts 60s \(EngineFolder.options); }
      parts_done() { ls "$work"/part-*.json 2> /dev/null | wc -l; }
      wait_for_parts() { while [ "$(parts_done)" -lt "$1" ]; do sleep 0.05; done; }
      kill_task() {
        local task
        # Not the one that is doubled by hand.
        until task=$(pgrep -f "^gst-spatial part $work" | grep -vx "${twice:-}"); do
          sleep 0.05
        done
        kill -9 $(head -n 1 <<< "$task") && echo "killed task"
      }
      kill_daemon() {
        kill -9 "$(cat "$cluster/slurmd.pid")" && echo "killed daemon"
        sleep 1
        slurmd -D >> "$cluster/slurmd.log" 2>&1 &
        daemons+=($!)
      }
      join=$(convert) || exit 8
      wait_for_parts 1; kill_task
      wait_for_parts 2; kill_daemon
      wait_for_parts 3; kill_task
      wait_for_parts 4; kill_daemon
      wait_for_parts 5; gst-spatial part "$work" 8 & twice=$!
      wait_for_parts 6; kill_task
      part=$(ls "$work"/part-*.mov | head -n 1)
      printf '\\377\\377\\377\\377' | dd of="$part" bs=1 seek=20000 conv=notrunc status=none
      wait "$twice" || exit 7
      wait_for "$join"
      [ ! -e b.mov ] && echo "not joined"
      cat spatial-join-*.log
      join=$(convert) || exit 6
      wait_for "$join"
      cat *.log >&2
      """, seconds: 1200)
    #expect(result.status == 0, "\(result.errors)\n\(result.output)")
    let said = result.output
    #expect(said.matches(of: /killed task/).count == 3, "\(said)")
    #expect(said.matches(of: /killed daemon/).count == 2, "\(said)")
    #expect(said.contains("not joined") && said.contains("is missing or damaged"), "\(said)")
    let isSame = try folder.bytes("b.mov") == reference
    #expect(isSame, "\(result.errors)")
  }

  private static let good = (1...25).map { "film\($0)" }
  private static let outputs = good.map { $0 + "_MVHEVC.mov" }.sorted()

  /// Twenty-five movies, and five files that cannot be converted.
  private func movies() async throws {
    let films = folder.path("films")
    try FileManager.default.createDirectory(atPath: films, withIntermediateDirectories: false)
    for (index, name) in Self.good.enumerated() {
      try await folder.movie("films/\(name).mp4", frames: 10 + index % 5)
    }
    let movie = try folder.bytes("films/film1.mp4")
    // Its index is right, and its content zeros.
    var damaged = movie
    let index = try #require(movie.range(of: Data("moov".utf8), options: .backwards)).lowerBound - 4
    damaged.replaceSubrange(64..<index, with: Data(count: index - 64))
    for (name, content) in [
      ("empty.mp4", Data()), ("text.mp4", Data("no movie".utf8)),
      ("truncated.mp4", movie.prefix(movie.count / 2)), ("damaged.mp4", damaged),
    ] {
      try content.write(to: URL(filePath: "\(films)/\(name)"))
    }
    _ = try await Program.output(
      of: ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine", "-t", "1", "audio.mp4"],
      in: URL(filePath: films))
  }

  /// The outputs, and when each was written.
  private func written() throws -> [String: Date] {
    let place = folder.path("out")
    let names = try FileManager.default.contentsOfDirectory(atPath: place)
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        let facts = try FileManager.default.attributesOfItem(atPath: "\(place)/\($0)")
        return ($0, try #require(facts[.modificationDate] as? Date))
      })
  }

  @Test("of thirty movies, twenty-five are made, five reported; a second run does nothing")
  func manyMovies() async throws {
    try await movies()
    let line = "gst-spatial convert films --to-folder out --jobs 2 --layout side-by-side "
    let first = try folder.shell(line + "preset=ultrafast")
    #expect(first.errors.contains("25 done, 0 skipped, 5 failed"), "\(first.errors)")
    let reasons = first.errors.matches(of: /failed: films\/(\w+).mp4: (.+)/)
    #expect(
      Set(reasons.map { String($0.1) }) == ["audio", "damaged", "empty", "text", "truncated"],
      "\(first.errors)")
    #expect(Set(reasons.map { String($0.2) }).count >= 4, "\(first.errors)")
    let made = try written()
    #expect(made.keys.sorted() == Self.outputs)
    let second = try folder.shell(line + "preset=ultrafast")
    #expect(second.errors.contains("0 done, 25 skipped, 5 failed"), "\(second.errors)")
    #expect(try written() == made)
  }

  @Test("the same as an array of Slurm")
  func array() async throws {
    try await movies()
    let result = try folder.slurm(
      """
      ls films/*.mp4 > movies.txt
      for run in 1 2; do
        array=$(sbatch --parsable --array=1-$(wc -l < movies.txt) many.sbatch movies.txt out \
          packing=side-by-side preset=ultrafast)
        wait_for "$array"
        scontrol -o show job "$array" | grep -o 'JobState=[A-Z]*' | sort | uniq -c
        stat --format='%n %y' out/* > "written$run"
      done
      cat *.log >&2
      """, seconds: 600)
    #expect(result.status == 0, "\(result.errors)\n\(result.output)")
    #expect(result.output.matches(of: /25 JobState=COMPLETED/).count == 2, "\(result.output)")
    #expect(result.output.matches(of: /5 JobState=FAILED/).count == 2, "\(result.output)")
    #expect(try written().keys.sorted() == Self.outputs)
    let isSame = try folder.bytes("written1") == folder.bytes("written2")
    #expect(isSame, "the second array wrote movies again")
    for name in ["audio", "damaged", "empty", "text", "truncated"] {
      #expect(result.errors.contains("films/\(name).mp4"), "\(result.errors)")
    }
  }
}
