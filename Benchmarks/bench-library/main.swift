// SPDX-License-Identifier: MPL-2.0

import PipelineHost
import StereoMedia

// Typical uses of the library, for scripts/bench-library, which measures the process:
//   bench-library read MOVIE
//   bench-library write MOVIE OUTPUT
//   bench-library play MOVIE SECONDS   prints how many of the due frames were shown, how many of
//                                      them out of order, and how far from their times
//   bench-library compose PIPELINE     with the element `nothing`, which passes frames unchanged
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
  let player = try await StereoPlayer(movie, audio: .automatic)
  player.loops = true
  let frames = player.frames
  player.play()
  let (clock, seconds) = (ContinuousClock(), Double(arguments[3]) ?? 10)
  let start = clock.now
  let total = movie.video?.frames.count ?? 0
  let period = 1 / (movie.video?.frameRate ?? 30)
  var (count, strays, last, rounds) = (0, 0, -1, 0)
  // Time by the clock minus time in the movie, in seconds.
  var offsets: [Double] = []
  for await frame in frames {
    guard start.duration(to: clock.now) < .seconds(seconds) else { break }
    let index = frame.index ?? -1
    // Each frame comes after the previous one, or is the first of a new round.
    if index <= last, index > total / 2 { strays += 1 }
    if index < last { rounds += 1 }
    offsets.append(
      start.duration(to: clock.now) / .seconds(1) - Double(rounds * total + index) * period)
    (count, last) = (count + 1, index)
  }
  offsets.sort()
  let middle = offsets.isEmpty ? 0 : offsets[offsets.count / 2]
  let distances = offsets.map { abs($0 - middle) * 1000 }.sorted()
  func share(_ part: Double) -> String {
    distances.isEmpty ? "-" : "\(distances[Int(Double(distances.count - 1) * part)].rounded())"
  }
  print(
    "\(count) of \(Int(seconds / period)) frames were shown, \(strays) out of order, 99 % within "
      + "\(share(0.99)) ms of their times, all within \(share(1)) ms, \(rounds) rounds")
default:
  print(
    "usage: bench-library read MOVIE | write MOVIE OUTPUT | play MOVIE SECONDS | compose PIPELINE")
}
