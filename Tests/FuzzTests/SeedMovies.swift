// SPDX-License-Identifier: MPL-2.0

import Foundation
import FuzzTargets
import GStreamer
import Testing

/// Movies to damage.
enum SeedMovies {
  /// Layered video and PCM sound, by `mvhevcmux`.
  static func own() async throws -> SeedMovie {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mov")
    defer { try? FileManager.default.removeItem(at: file) }
    let pipeline = try Pipeline(
      parsing: "stereotestsrc num-buffers=6 ! video/x-raw,width=128,height=64,framerate=30/1 ! "
        + "sbssplit name=s s.left ! stereotagger eye=left baseline=64 ! queue ! mux.left "
        + "s.right ! stereotagger eye=right ! queue ! mux.right audiotestsrc num-buffers=2 ! "
        + "audio/x-raw,rate=8000,channels=1 ! queue ! mux.audio_0 "
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(file.path)")
    try await pipeline.run()
    return try #require(SeedMovie([UInt8](try Data(contentsOf: file))))
  }
}
