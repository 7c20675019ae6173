// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia

/// Converts side-by-side movies to spatial movies, two at a time, in the folders of the originals:
///
///     ConvertAll a.mp4 b.mp4 c.mp4
///
/// Entering q stops; unfinished movies are removed.
@main
enum ConvertAll {
  static func main() async {
    let inputs = Array(CommandLine.arguments.dropFirst())
    guard !inputs.isEmpty else { return print("usage: ConvertAll MOVIE...") }
    let all = Task.detached { await convert(inputs) }
    // Waits for input on its own thread, because tasks share theirs.
    let keys = Thread { while let line = readLine() { if line == "q" { all.cancel() } } }
    keys.start()
    exit(await all.value == 0 ? 0 : 1)
  }

  /// Returns the number of movies that could not be converted. At most two are converted at a time.
  static func convert(_ inputs: [String]) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
      var failures = 0
      for (index, input) in inputs.enumerated() {
        if index >= 2, await group.next() == false { failures += 1 }
        group.addTask { await convert(input) }
      }
      for await isDone in group where !isDone { failures += 1 }
      return failures
    }
  }

  static func convert(_ input: String) async -> Bool {
    var settings = StereoWriter.Settings()
    settings.speed = .veryfast
    let conversion = StereoConverter.convert(
      input, packing: PackingLayout(.sideBySide), settings)
    do {
      for try await progress in conversion {
        let left = progress.timeLeft.map { ", \($0.components.seconds) s left" } ?? ""
        print("\(input): \(Int(progress.fraction * 100)) %\(left)")
      }
      print("\(input): 100 %, wrote \(conversion.output)")
      return true
    } catch is CancellationError {
      print("\(input): cancelled")
    } catch {
      print("\(input): \(error)")
      if let hint = (error as? StereoMediaError)?.hint { print("\(input): \(hint)") }
    }
    return false
  }
}
