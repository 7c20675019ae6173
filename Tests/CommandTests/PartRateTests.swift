// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// A bitrate over a movie that is encoded in parts.
@Suite(.tags(.process, .judge))
struct PartRateTests {
  private let folder: EngineFolder
  private static let settings = ["--layout", "side-by-side", "preset=ultrafast"]

  /// Four scenes of two seconds that need very different bitrates: the second is noise, the third
  /// black.
  init() async throws {
    folder = try EngineFolder()
    let size = "size=192x64:rate=30"
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=\(size):duration=2", "-f", "lavfi",
        "-i", "nullsrc=\(size):duration=2,geq=random(1)*255:128:128", "-f", "lavfi", "-i",
        "color=black:\(size):duration=2", "-f", "lavfi", "-i", "mandelbrot=\(size)", "-lavfi",
        "[3]trim=duration=2[m];[0][1][2][m]concat=n=4", "-c:v", "libx264", "-preset", "ultrafast",
        "-qp", "1", "-pix_fmt", "yuv420p", "a.mp4",
      ], in: folder.folder.url)
  }

  @discardableResult
  private func run(_ words: String...) throws -> Program.Result {
    try folder.shell("gst-spatial \(words.joined(separator: " "))")
  }

  private func succeed(_ words: String...) throws {
    let result = try folder.shell("gst-spatial \(words.joined(separator: " "))")
    try #require(result.status == 0, "\(words): \(result.errors)")
  }

  private func plan(_ output: String, _ work: String) throws {
    try succeed(
      "plan a.mp4 \(output) --work \(work) --parts 2s --two-pass bitrate=400",
      Self.settings.joined(separator: " "))
  }

  /// The bitrate of a movie's pictures in kbit/s.
  private func bitrate(_ name: String) throws -> Double {
    Double(try MovieFile(folder.path(name)).samples("vide").reduce(0) { $0 + $1.count }) / 1000
  }

  /// The likeness in decibels of a movie's base view to the left half of the source, by FFmpeg.
  private func likeness(_ name: String) async throws -> Double {
    let text = try await Program.output(
      of: [
        "ffmpeg", "-v", "info", "-i", name, "-i", "a.mp4", "-lavfi",
        "[1]crop=iw/2:ih:0:0[b];[0][b]psnr=stats_file=-", "-f", "null", "/dev/null",
      ], in: folder.folder.url)
    let errors = String(decoding: text, as: UTF8.self).matches(of: /mse_y:([0-9.]+)/)
      .compactMap { Double($0.1) }
    try #require(errors.count == 240, "\(errors.count) pictures")
    return 10 * log10(255 * 255 / (errors.reduce(0, +) / 240))
  }

  @Test("two passes over parts meet the bitrate, about as well as over one piece")
  func rate() async throws {
    let settings = Self.settings.joined(separator: " ")
    try succeed("convert a.mp4 one.mov --two-pass bitrate=400", settings)
    let parts = try run(
      "convert a.mp4 parts.mov --work work --parts 2s --jobs 2 --two-pass bitrate=400", settings)
    #expect(parts.status == 0, "\(parts.errors)")
    #expect(parts.errors.contains("measured part 3 of 4"), "\(parts.errors)")
    let rates = (one: try bitrate("one.mov"), parts: try bitrate("parts.mov"))
    #expect(abs(rates.parts / 400 - 1) < 0.1, "\(rates)")
    let likeness = (one: try await likeness("one.mov"), parts: try await likeness("parts.mov"))
    #expect(likeness.parts > likeness.one - 1, "\(likeness) at \(rates)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("work")).sorted()
        == ["movie.json", "plan.json", "times"])

    // Any order, tasks that are doubled, and other processes make the same movie.
    try plan("again.mov", "again")
    for number in [3, 1, 0, 2, 1] { try succeed("part again \(number) --measure") }
    let status = try run("status again")
    #expect(status.output.contains("0 of 4 parts\nmeasured: 4"), "\(status.output)")
    for number in [2, 0, 3, 1] { try succeed("part again \(number)") }
    try succeed("join again")
    let isSame = try folder.bytes("again.mov") == folder.bytes("parts.mov")
    #expect(isSame)
  }

  @Test("a part is not encoded before all are measured, nor with damaged measurements")
  func unmeasured() throws {
    try plan("b.mov", "work")
    for number in 0..<3 { try succeed("part work \(number) --measure") }
    let early = try run("part work 0")
    #expect(
      early.status == 1 && early.errors.contains("gst-spatial part work 3 --measure"),
      "\(early.errors)")
    try succeed("part work 3 --measure")
    try succeed("part work 0")
    let statistics = URL(filePath: folder.path("work/part-00001.pass.left"))
    var bytes = try Data(contentsOf: statistics)
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: statistics)
    let damaged = try run("part work 1")
    #expect(
      damaged.status == 1 && damaged.errors.contains("measurements are damaged"),
      "\(damaged.errors)")
    for number in [1, 2, 3] { try succeed("part work \(number) --measure") }
    for number in [1, 2, 3] { try succeed("part work \(number)") }
    try succeed("join work")

    try succeed("plan a.mp4 c.mov --work single --parts 2s", Self.settings.joined(separator: " "))
    let single = try run("part single 0 --measure")
    #expect(single.status == 2 && single.errors.contains("one pass"), "\(single.errors)")
    let one = try run(
      "plan a.mp4 c.mov --work other --two-pass", Self.settings.joined(separator: " "))
    #expect(one.status == 2 && one.errors.contains("requires bitrate"), "\(one.errors)")
  }

  @Test(
    "Slurm and GNU parallel measure all parts before they encode them", .tags(.exhaustive),
    .enabled(if: getuid() == 0, "only root starts slurmd"))
  func engines() throws {
    let options = "--parts 2s --two-pass bitrate=400 packing=side-by-side preset=ultrafast"
    let parallel = try folder.shell(
      "bash \(EngineFolder.engines)/parallel.sh a.mp4 one.mov one 2 \(options)")
    #expect(parallel.status == 0, "\(parallel.errors)")
    let slurm = try folder.slurm(
      "wait_for \"$(bash slurm.sh a.mp4 two.mov two \(options))\"; cat *.log >&2")
    #expect(slurm.status == 0, "\(slurm.errors)")
    let isSame = try folder.bytes("one.mov") == folder.bytes("two.mov")
    #expect(isSame, "\(slurm.errors)")
  }
}
