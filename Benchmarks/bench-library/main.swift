// SPDX-License-Identifier: MPL-2.0

import PipelineHost
import StereoMedia

// What programs do with the library, for scripts/bench-library, which measures the process:
//   bench-library read MOVIE
//   bench-library write MOVIE OUTPUT
//   bench-library compose PIPELINE     with the element `nothing`, which gives frames as they are
let arguments = CommandLine.arguments
switch (arguments.count, arguments.dropFirst().first) {
case (3, "read"):
  for try await _ in StereoReader(try await StereoMovie(arguments[2])) {}
case (4, "write"):
  let movie = try await StereoMovie(arguments[2])
  var settings = StereoWriter.Settings()
  (settings.speed, settings.rate) = (.ultrafast, .quality(30))
  _ = try await StereoWriter.write(arguments[3], settings) { writer in
    for try await frame in StereoReader(movie) { try await writer.append(frame) }
  }
case (3, "compose"):
  try await StereoElements.filter("nothing") { $0 }
  try await PipelineRun(HostedPipeline.load(arguments[2])).run()
default:
  print("usage: bench-library read MOVIE | write MOVIE OUTPUT | compose PIPELINE")
}
