// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Packager

/// Taking over a folder from earlier runs: one writer at a time, and nothing that is meant to stay
/// is lost unless the user says so.
extension MVHEVCHLSSink.Streaming {
  /// Makes this run the only one that writes the presentation, before its first file.
  ///
  /// - Throws: an ``ElementError`` if another run is writing it, or if it would replace a stream
  ///   that is meant to stay.
  mutating func takeOver() throws {
    guard !hasTakenOver else { return }
    hasTakenOver = true
    let names = element.settings.current.packager.names
    let inputs = self.inputs.values.filter(\.isDescribed).map(\.stream.name).sorted()
    guard output.isFolder, let first = inputs.first else { return }
    try output.folder.own(names.multivariantPlaylist ?? names.playlistPath(ofRendition: first))
    try replaceEarlier(with: inputs.flatMap { [$0, $0 + "_mono"] })
  }

  private func replaceEarlier(with renditions: [String]) throws {
    let settings = element.settings.current
    guard !settings.continues else { return }
    let packager = settings.packager
    let earlier = EarlierPresentation(packager.names, with: renditions) { path in
      (try? output.folder.read(path)) ?? nil
    }
    guard earlier.isToBeKept(from: packager) else { return }
    guard !settings.overwrites else { return output.folder.remove(earlier) }
    let name =
      packager.names.multivariantPlaylist
      ?? packager.names.playlistPath(ofRendition: renditions[0])
    throw ElementError(
      .settings,
      "'\(name)' is there already, of "
        + (earlier.hasEnded ? "a finished stream" : "a stream that was not finished")
        + "; overwrite=true (--force of gst-spatial run) removes that stream, append=true "
        + "continues it, and another folder keeps it.")
  }
}
