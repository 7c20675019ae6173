// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The file that a movie is decoded from. Layered H.265 without a container is copied into a movie
/// first, in a folder of its own, so that it can be looked at as one.
package final class MovieSource: Sendable {
  /// The movie's file.
  package let path: String
  /// What messages call it.
  let name: String
  package let facts: MovieFacts
  private let folder: ScratchFolder?

  /// Throws a ``StereoMediaError`` where the file is no movie.
  package init(_ path: String) async throws {
    name = path
    guard try await Blocking.run({ Self.isByteStream(path) }) else {
      self.path = path
      facts = try await Blocking.run { MovieFacts(try MovieReader(path: path)) }
      folder = nil
      return
    }
    try await Engine.start()
    let folder = try ScratchFolder()
    do {
      let copy = "\(folder.path)/movie.mov"
      try await Self.copy(path, to: copy)
      var facts = try await Blocking.run { MovieFacts(try MovieReader(path: copy)) }
      facts.byteStream = path
      (self.path, self.facts, self.folder) = (copy, facts, folder)
    } catch {
      folder.remove()
      throw error
    }
  }

  deinit { folder?.remove() }

  /// Whether a file begins with a start code.
  private static func isByteStream(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return false }
    defer { close(file) }
    var start = [UInt8](repeating: 0xFF, count: 4)
    let count = read(file, &start, start.count)
    return count == 4 && (start.starts(with: [0, 0, 1]) || start == [0, 0, 0, 1])
  }

  private static func copy(_ path: String, to movie: String) async throws {
    let pipeline = try Pipeline(
      parsing: "filesrc name=source ! mvhevcdemux name=demux demux.video_0 ! queue "
        + "! mux.video_0 mvhevcmux name=mux ! filesink name=sink")
    defer { pipeline.end() }
    try pipeline.element(named: "source")?.set("location", parsing: path)
    try pipeline.element(named: "sink")?.set("location", parsing: movie)
    do {
      try await pipeline.run()
    } catch let failure as PipelineFailure {
      throw StereoMediaError.unreadable(path, failure.message)
    }
  }
}
