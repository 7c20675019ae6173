// SPDX-License-Identifier: MPL-2.0

extension FragmentWriter {
  /// The `moov` of an initialization segment: tracks without samples, and what fragments have.
  func writeMovie(to writer: inout BoxWriter, isFinal: Bool) {
    writer.box("moov") {
      MovieHeader(
        timescale: movieTimescale, duration: 0, creationTime: metadata.creationTimeSince1904,
        nextTrackNumber: UInt32(clamping: tracks.count + 1)
      ).write(to: &$0)
      for track in tracks {
        TrackBoxes(
          id: track.id, track: MovieWriter.Track(description: description(of: track)),
          timing: TrackTiming(fragmentedFrom: track.mediaTime),
          container: format.container, creationTime: metadata.creationTimeSince1904,
          references: track.description.references
        ).write(to: &$0)
      }
      metadata.write(to: &$0, container: format.container)
      $0.box("mvex") { mvex in
        if hasDuration { writeDuration(isFinal: isFinal, to: &mvex) }
        for track in tracks {
          mvex.fullBox("trex") {
            $0.write(track.id.rawValue)
            $0.write(UInt32(1))
            $0.write(zeros: 12)
          }
        }
      }
    }
  }

  /// `mehd`, or as much room.
  private func writeDuration(isFinal: Bool, to writer: inout BoxWriter) {
    if isFinal {
      let duration = tracks.map { $0.duration(in: movieTimescale) }.max() ?? 0
      writer.fullBox("mehd", version: 1) { $0.write(duration) }
    } else {
      writer.fullBox("free") { $0.write(UInt64(0)) }
    }
  }

  /// CMAF wants the shape of pixels said even where they are square.
  private func description(of track: FragmentTrack) -> TrackDescription {
    var description = track.description
    if format == .cmaf, case .video(var entry) = description.sampleEntry {
      entry.pixelAspectRatio =
        entry.pixelAspectRatio ?? PixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 1)
      description.sampleEntry = .video(entry)
    }
    return description
  }
}
