// SPDX-License-Identifier: MPL-2.0

import PipelineFile
import PipelineHost
import TestKit
import Testing

/// Runs a ready pipeline with the built plugin. It has nothing to warn of.
func runReady(_ name: String, _ arguments: [String]) async throws {
  _ = try #require(Repository.built, "scripts/test says where the built plugin is")
  let pipeline = try HostedPipeline.load(Repository.pipeline(name), arguments: arguments)
  #expect(pipeline.warnings.all.isEmpty)
  try await PipelineRun(pipeline).run()
}
