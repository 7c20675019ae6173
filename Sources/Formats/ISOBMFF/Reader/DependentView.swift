// SPDX-License-Identifier: MPL-2.0

/// The dependent view of H.264 MVC in a track of its own.
///
/// Such a track has sample entries `mvc1` or `mvc2`, and a reference `sbas` to the base view's
/// track; samples of the two with the same decode time are one access unit (ISO/IEC 14496-15, 7.5.2
/// and 7.6.1).
public struct DependentView: Sendable {
  /// Index of the track in the movie.
  public let track: Int
  /// Units of the track's timescale in one of the base view's.
  private let scale: Double
  /// Added to the scaled decode times of the base view, in units of the track's timescale: some
  /// writers begin each track at 0, and delay it by an empty edit.
  private let shift: Double

  fileprivate init(_ index: Int, of base: Track, in movie: Movie) {
    let own = movie.tracks[index]
    let (ticks, baseTicks) = (Double(own.timescale), Double(base.timescale))
    let delay = (base.delay - own.delay) / Double(max(movie.timescale, 1))
    track = index
    scale = ticks / baseTicks
    shift = own.firstMediaTime + (delay - base.firstMediaTime / baseTicks) * ticks
  }

  /// Returns the sample that belongs to one of the base view; nil if there is none.
  public func sample(for base: SampleRecord, in samples: TrackSamples) -> SampleRecord? {
    let time = time(of: base)
    // Writers round the starts of tracks to the movie's timescale.
    let tolerance = Double(base.duration) * scale / 4
    guard let latest = Int64(exactly: (time + tolerance).rounded(.down)),
      let found = samples.index(atDecodeTime: latest).flatMap({ samples.sample(at: $0) }),
      abs(Double(found.decodeTime) - time) <= tolerance
    else { return nil }
    return found
  }

  /// Returns the first sample that may belong to one of the base view after this one.
  public func sample(after base: SampleRecord, in samples: TrackSamples) -> SampleRecord? {
    let time = time(of: base).rounded(.down)
    let index = Int64(exactly: time).flatMap { samples.index(atDecodeTime: $0) }
    return samples.sample(at: index.map { $0 + 1 } ?? 0)
  }

  /// Whether these samples reach one of the base view, so that no later one belongs to it.
  public func isKnown(at base: SampleRecord, in samples: TrackSamples) -> Bool {
    time(of: base) < Double(samples.endDecodeTime)
  }

  private func time(of base: SampleRecord) -> Double {
    Double(base.decodeTime) * scale + shift
  }
}

extension Movie {
  /// Returns the dependent view of a track's pictures; nil if there is none, if both views are in
  /// this track, or if the two cannot be joined.
  public func dependentView(of track: Int) -> DependentView? {
    guard tracks.indices.contains(track), let size = tracks[track].baseViewLengthSize else {
      return nil
    }
    let id = tracks[track].id
    let index = tracks.firstIndex { other in
      other.dependentViewLengthSize == size
        && other.references.contains { $0.type == "sbas" && $0.track == id }
    }
    return index.map { DependentView($0, of: tracks[track], in: self) }
  }

  /// Indices of the tracks whose samples belong to those of other tracks. Hostile files have very
  /// many tracks, so they are gone through once.
  public var dependentViews: Set<Int> {
    var found: [TrackID: [UInt8: Int]] = [:]
    for (index, track) in tracks.enumerated() {
      guard let size = track.dependentViewLengthSize else { continue }
      for reference in track.references
      where reference.type == "sbas" && found[reference.track]?[size] == nil {
        found[reference.track, default: [:]][size] = index
      }
    }
    guard !found.isEmpty else { return [] }
    return Set(
      tracks.compactMap { track in track.baseViewLengthSize.flatMap { found[track.id]?[$0] } })
  }

  /// Returns a track whose sample entries describe both views, if the dependent one has a track of
  /// its own; else the track as it is.
  public func withDependentView(_ track: Int) -> Track {
    guard let dependent = dependentView(of: track),
      let record = tracks[dependent.track].firstVideoEntry?.mvcC
    else { return tracks[track] }
    var track = tracks[track]
    for index in track.sampleEntries.indices {
      guard case .video(var entry) = track.sampleEntries[index] else { continue }
      entry.configuration.append(OpaqueBox("mvcC", payload: record))
      track.sampleEntries[index] = .video(entry)
    }
    return track
  }
}

extension Track {
  fileprivate var firstVideoEntry: VisualSampleEntry? {
    if case .video(let entry)? = sampleEntries.first { entry } else { nil }
  }

  /// The size in bytes of NAL units' lengths, less 1, if this may be the base view alone; else nil.
  fileprivate var baseViewLengthSize: UInt8? {
    guard let entry = firstVideoEntry, entry.mvcC == nil,
      (["avc1", "avc2", "avc3", "avc4"] as [FourCC]).contains(entry.codec)
    else { return nil }
    return entry.avcC.flatMap(Self.lengthSize)
  }

  /// The same if this may be a dependent view alone.
  fileprivate var dependentViewLengthSize: UInt8? {
    guard let entry = firstVideoEntry,
      (["mvc1", "mvc2", "mvc3", "mvc4"] as [FourCC]).contains(entry.codec)
    else { return nil }
    return entry.mvcC.flatMap(Self.lengthSize)
  }

  /// Both records have the size in the same place; nil if the record is too short.
  private static func lengthSize(_ record: [UInt8]) -> UInt8? {
    record.count > 4 ? record[4] & 3 : nil
  }

  /// Start of the first edit with media, in units of the track's timescale.
  fileprivate var firstMediaTime: Double {
    Double(edits.lazy.compactMap(\.mediaTime).first ?? 0)
  }

  /// Duration of the empty edits before it, in units of the movie's timescale.
  fileprivate var delay: Double {
    edits.prefix { $0.mediaTime == nil }.reduce(0) { $0 + Double($1.duration) }
  }
}

extension VisualSampleEntry {
  fileprivate var avcC: [UInt8]? { configuration.first { $0.type == "avcC" }?.payload }
}
