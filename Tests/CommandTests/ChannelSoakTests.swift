// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// A channel around the clock, in miniature: every fault of its sources, kills of the packager, and
/// clients that follow it. `make soak MINUTES=120` takes its time; as one of the tests it lasts a
/// minute.
@Suite(.tags(.exhaustive, .process), .checkedStreams)
struct ChannelSoakTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    StreamWatches.current?.watch(folder.path("live"), in: folder)
  }

  private struct Report: Decodable {
    struct Client: Decodable {
      var reloads, parts, segments: Int
      var longest: Double
    }

    struct Use: Decodable {
      /// Memory in MiB, and open files.
      var early, late: [Int]
    }

    var faults: [String: Int]
    var errors, wrong: [String]
    var clients: [String: Client]
    var packager, server: Use
  }

  private static let seconds =
    ProcessInfo.processInfo.environment["GST_SPATIAL_SOAK_MINUTES"].flatMap(Double.init)
    .map { $0 * 60 } ?? 60

  @Test("the playlists keep the rules, clients get all that is listed, and nothing grows")
  func day() async throws {
    let program = Repository.url.appending(path: "Tests/Tools/soak_channel.py").path
    let data = try await Program.output(
      of: [
        "/usr/bin/python3", program, folder.path("live"), "\(Self.seconds)",
        try Command.built(),
      ], in: folder.url, seconds: Self.seconds + 540)
    let text = String(decoding: data, as: UTF8.self)
    print("soak:", text)
    let report = try JSONDecoder().decode(Report.self, from: data)
    #expect(report.errors.isEmpty && report.wrong.isEmpty, "\(text)")
    #expect(report.clients.count == 4)
    for (name, client) in report.clients {
      #expect(client.segments > 0 && client.parts > 0 && client.longest < 30, "\(name): \(client)")
    }
    for use in [report.packager, report.server] {
      #expect(use.late[0] - use.early[0] < 32 && use.late[1] <= use.early[1] + 8, "\(text)")
    }
  }
}
