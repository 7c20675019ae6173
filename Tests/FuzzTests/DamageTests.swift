// SPDX-License-Identifier: MPL-2.0

import Foundation
import FuzzTargets
import GStreamer
import TestElements
import TestKit
import Testing

/// A sample of the complete run of `make fuzz`.
@Suite(.serialized)
struct DamageTests {
  init() throws {
    try BuiltPlugin.require()
  }

  @Test("the undamaged forms of a movie play without messages")
  func forms() async throws {
    let movie = try await SeedMovies.own()
    #expect(BoxTree.read(movie.bytes).flatMap(\.bytes) == movie.bytes)
    for seed in DamageCampaign.Seed.all("own", movie) {
      for mode in DamageCampaign.Mode.allCases {
        let outcome = play(seed.bytes, mode.upstream)
        #expect(outcome.errors + outcome.warnings == [], "\(seed.name)")
        #expect(outcome.buffers["left"] == 6, "\(seed.name): \(outcome)")
        #expect(outcome.buffers["right"] ?? 0 >= 6, "\(seed.name): \(outcome)")
        #expect(!outcome.isSilent)
      }
    }
  }

  @Test(
    "a file cut off anywhere, or with any wrong byte, gives an error or its readable part",
    .tags(.long))
  func damage() async throws {
    let seeds = DamageCampaign.Seed.all("own", try await SeedMovies.own())
    let campaign = DamageCampaign(seeds, boundaryShare: 3, cuts: 50, bytes: 1000, number: 3)
    for one in campaign.cases {
      let complaint = campaign.complaint(about: one)
      #expect(complaint == nil)
    }
  }
}
