// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import StereoMedia
internal import Web

/// The sound of a movie as a file that browsers play: AAC in MP4, copied where it is AAC already.
///
/// The file has no name once it is made, so that nothing is left behind, however the viewer ends.
enum ViewedSound {
  /// The first track of sound; nil where there is none.
  static func track(of movie: StereoMovie) -> StereoMovie.Track? {
    movie.tracks.first { $0.kind == .sound }
  }

  /// - Throws: a ``StereoMediaError`` where the sound cannot be had.
  static func file(of movie: StereoMovie) async throws -> OpenFile {
    guard let track = track(of: movie) else {
      throw StereoMediaError(.outOfRange, "'\(movie.path)' has no sound")
    }
    try await Engine.start()
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let coding =
      track.codec == "mp4a"
      ? "aacparse" : "decodebin ! audioconvert ! audioresample ! avenc_aac ! aacparse"
    let pipeline = try Pipeline(
      parsing: "filesrc name=source ! mvhevcdemux name=demux demux.audio_0 ! queue ! \(coding) "
        + "! mp4mux ! filesink name=sink")
    defer { pipeline.end() }
    try pipeline.element(named: "source")?.set("location", parsing: movie.source.path)
    try pipeline.element(named: "sink")?.set("location", parsing: "\(folder.path)/sound.m4a")
    do {
      try await pipeline.run()
    } catch let failure as PipelineFailure {
      throw StereoMediaError(.decodingFailed, "the sound cannot be had: \(failure.message)")
    }
    // The folder for temporary files may be a symbolic link.
    guard let path = realpath(folder.path, nil) else { throw FileError(code: errno) }
    defer { free(path) }
    guard let file = OpenFile(["sound.m4a"], in: String(cString: path)) else {
      throw StereoMediaError(.unreadable, "the sound cannot be read back")
    }
    return file
  }
}
