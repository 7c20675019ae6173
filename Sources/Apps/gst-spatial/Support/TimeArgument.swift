// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import PipelineFile

/// A duration on the command line: `30s`, `1.5min`, `500ms`, `1:02:03`, or a number of seconds.
struct TimeArgument: ExpressibleByArgument {
  let duration: Duration

  init?(argument: String) {
    if let nanoseconds = PipelineFile.nanoseconds(ofDuration: argument) {
      duration = .nanoseconds(nanoseconds)
      return
    }
    // A number alone means seconds, as in other tools.
    guard let seconds = Double(argument), (0...1e9).contains(seconds) else { return nil }
    duration = .seconds(seconds)
  }
}
