// SPDX-License-Identifier: MPL-2.0

import PipelineFile
import PipelineHost
import TestElements
import TestKit
import Testing

/// Runs a ready pipeline. It has nothing to warn of.
func runReady(_ name: String, _ arguments: [String]) async throws {
  try BuiltPlugin.require()
  let pipeline = try HostedPipeline.load(Repository.pipeline(name), arguments: arguments)
  #expect(pipeline.warnings.all.isEmpty)
  try await PipelineRun(pipeline).run()
}
