// SPDX-License-Identifier: MPL-2.0

extension MovieWriter {
  func writeMovie(to writer: inout BoxWriter) {
    let written = tracks.indices.filter { tracks[$0].tables.sampleCount > 0 }
    let timings = written.map {
      TrackTiming(
        tracks[$0].tables, timescale: tracks[$0].description.timescale,
        movieTimescale: movieTimescale)
    }
    writer.box("moov") {
      MovieHeader(
        timescale: movieTimescale, duration: timings.map(\.duration).max() ?? 0,
        creationTime: metadata.creationTimeSince1904,
        nextTrackNumber: UInt32(clamping: tracks.count + 1)
      ).write(to: &$0)
      for (index, timing) in zip(written, timings) {
        let id = TrackID(rawValue: UInt32(clamping: index + 1))
        let references = tracks[index].description.references.filter { reference in
          written.contains { UInt32(clamping: $0 + 1) == reference.track.rawValue }
        }
        TrackBoxes(
          id: id, track: tracks[index], timing: timing, container: container,
          creationTime: metadata.creationTimeSince1904, references: references
        ).write(to: &$0)
      }
      metadata.write(to: &$0, container: container)
    }
  }
}
