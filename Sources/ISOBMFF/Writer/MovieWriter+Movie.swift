extension MovieWriter {
  func writeMovie(to writer: inout BoxWriter) {
    let written = tracks.indices.filter { tracks[$0].tables.sampleCount > 0 }
    let timings = written.map {
      TrackTiming(
        tracks[$0].tables, timescale: tracks[$0].description.timescale,
        movieTimescale: movieTimescale)
    }
    writer.box("moov") {
      writeMovieHeader(duration: timings.map(\.duration).max() ?? 0, to: &$0)
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

  /// ISO/IEC 14496-12 8.2.2.
  private func writeMovieHeader(duration: UInt64, to writer: inout BoxWriter) {
    let creationTime = metadata.creationTimeSince1904
    let wide = duration > UInt32.max || creationTime > UInt32.max
    writer.fullBox("mvhd", version: wide ? 1 : 0) {
      $0.write(creationTime, wide: wide)
      $0.write(creationTime, wide: wide)
      $0.write(movieTimescale)
      $0.write(duration, wide: wide)
      $0.write(UInt32(0x1_0000))
      $0.write(UInt16(0x100))
      $0.write(zeros: 10)
      TransformMatrix.identity.write(to: &$0)
      $0.write(zeros: 24)
      $0.write(UInt32(clamping: tracks.count + 1))
    }
  }
}
