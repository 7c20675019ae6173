// SPDX-License-Identifier: MPL-2.0

import PipelineHost
import StereoMedia

// What programs do with the library, for scripts/bench-library, which measures the process:
//   bench-library read MOVIE
//   bench-library write MOVIE OUTPUT
//   bench-library play MOVIE SECONDS   prints how many of the frames that were due were shown, and how many others
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
case (4, "play"):
  let movie = try await StereoMovie(arguments[2])
  let player = try await StereoPlayer(movie, sound: .none)
  player.loops = true
  let frames = player.frames
  player.play()
  let (clock, seconds) = (ContinuousClock(), Double(arguments[3]) ?? 10)
  let start = clock.now
  var (count, strays, last) = (0, 0, -1)
  for await frame in frames {
    guard start.duration(to: clock.now) < .seconds(seconds) else { break }
    let index = frame.index ?? -1
    // Each frame is behind the one before, or the first of another round.
    let total = movie.video?.frames.count ?? 0
    if index <= last, index > total / 2 { strays += 1 }
    (count, last) = (count + 1, index)
  }
  let due = seconds * (movie.video?.frameRate ?? 30)
  print("\(count) of \(Int(due)) frames were shown, \(strays) out of order")
default:
  print(
    "usage: bench-library read MOVIE | write MOVIE OUTPUT | play MOVIE SECONDS | compose PIPELINE")
}
