// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// Describes the movie and its tracks, from the caps and tags of the streams so far and from the
/// element's properties.
struct MuxDescription {
  let element: MVHEVCMux
  let inputs: [MuxInput]
  /// Global-scope tags.
  let globalTags: TagList

  // MARK: The movie

  /// How the pair was shot, from properties and tags; properties win.
  var spatialMetadata: SpatialMetadata {
    element.settings.current.spatial.metadata(after: SpatialMetadata(movieTags))
  }

  /// Returns the pair's projection onto a sphere, and the lenses; nil if no property or tag has
  /// one.
  private func immersiveMetadata() throws -> (
    immersive: ImmersiveMetadata, lenses: LensCollection?
  )? {
    let tags = try element.settings.current.spatial.sphereTags(after: SphereTags(movieTags))
    return tags.immersiveMetadata(spatialMetadata.projection).map { ($0, tags.lenses) }
  }

  /// Returns how a stream was shot, from properties and its pad's tags; properties win.
  private func spatialMetadata(of input: MuxInput) -> SpatialMetadata {
    let tags = globalTags.merging(input.tags)
    return element.settings.current.spatial.metadata(
      after: SpatialMetadata(element.mergingSetterTags(with: tags)))
  }

  /// Returns how a stream's pictures surround the viewer, from properties and its pad's tags;
  /// properties win.
  private func sphereTags(of input: MuxInput) throws -> SphereTags {
    let tags = globalTags.merging(input.tags)
    return try element.settings.current.spatial.sphereTags(
      after: SphereTags(element.mergingSetterTags(with: tags)))
  }

  /// Tags of the movie, merged with the application's tags in the mode that it has chosen. Tags of
  /// global scope take precedence over tags of streams.
  private var movieTags: TagList {
    // Tags that always belong to a stream.
    var others = [Tag.encoder, Tag.privateData, Tag.extendedComment]
    if !globalTags.isEmpty { others.append(Tag.title) }
    let streams = inputs.sorted { $0.name < $1.name }.reduce(TagList()) { $0.merging($1.tags) }
    return element.mergingSetterTags(with: streams.removing(others).merging(globalTags))
  }

  /// Returns the metadata of the movie as a whole.
  ///
  /// - Parameter isSpatial: whether a track has stereo views.
  func movieMetadata(isSpatial: Bool) -> MovieMetadata {
    var metadata = MetadataTags.metadata(movieTags, defaultSoftware: ProjectVersion.name)
    metadata.creationTime =
      element.settings.current.creationTime ?? metadata.creationTime ?? secondsSince1970ForFiles()
    if isSpatial {
      let said = Set(metadata.items.map(\.key))
      metadata.items += MovieMetadata.spatialItems.filter { !said.contains($0.key) }
    }
    return metadata
  }

  /// The warning that files attached to the source are not written; nil if there are none.
  var attachmentWarning: ElementError? {
    let attached = globalTags.samples(Tag.attachment)
    let pictures = globalTags.samples(Tag.image).filter { MetadataTags.coverType($0) == nil }
    let names = (attached + pictures).map { sample in
      sample.information?.string("filename").map { "'\($0)'" }
        ?? sample.caps?.mediaType ?? "a file without a name"
    }
    guard !names.isEmpty else { return nil }
    return ElementError(
      .mux,
      "What is attached to the source is not written, since a movie has no place for it: "
        + names.joined(separator: ", ") + ".")
  }

  /// The warning that data of the source's top level are not written; nil if there are none.
  ///
  /// - Parameter areFragments: whether fragments are written, which have no such data at all.
  func fileLevelWarning(areFragments: Bool) -> ElementError? {
    let metadata = PrivateMetadata(movieTags)
    let names =
      metadata.otherFileLevelBoxes
      + (areFragments && !metadata.fileLevelBoxes.isEmpty ? ["XMP ('uuid')"] : [])
    guard !names.isEmpty else { return nil }
    return ElementError(
      .mux,
      "What the source has outside of its index and its tracks is not written: "
        + names.joined(separator: ", ") + ".")
  }

  // MARK: Tracks

  /// Returns the description of a stream's track.
  ///
  /// - Parameter first: the first buffer; nil if there is none, or only a gap.
  func describe(_ input: MuxInput, first: Buffer?) throws -> TrackDescription {
    guard let caps = input.caps else {
      throw ElementError(.mux, "The stream on \(input.name) ended before it said what it is.")
    }
    switch input.kind {
    case .audio:
      let entry = try input.audioEntry(
        container: element.settings.current.container.container, first: first)
      if entry.coding == .mp2 {
        element.postWarning(
          ElementError(
            .format,
            "The audio on \(input.name) is MPEG audio of layer I or II, which Apple's players do "
              + "not play in movies; encode it as AAC."))
      }
      let timescale =
        entry.sampleRate > 0 ? entry.sampleRate : PrivateTrack(input.tags)?.timescale ?? 0
      return described(
        TrackDescription(.audio(entry), timescale: timescale > 0 ? timescale : 48_000),
        by: [input])
    case .subtitle:
      return described(
        TrackDescription(.other(TimedText.subtitles), timescale: MuxSubtitles.timescale),
        by: [input])
    case .meta:
      let track = PrivateTrack(input.tags)
      let entry = try MuxMetaCaps.sampleEntry(caps, pad: input.name, track: track)
      let timescale = track.map(\.timescale).flatMap { $0 > 0 ? $0 : nil }
      var description = TrackDescription(.other(entry), timescale: timescale ?? 90_000)
      description.mediaHeader = track?.mediaHeader
      return described(description, by: [input])
    case .video, .eye: return try describeVideo(input, caps, first)
    }
  }

  private func describeVideo(
    _ input: MuxInput, _ caps: Caps, _ first: Buffer?
  ) throws -> TrackDescription {
    var entry = try input.videoEntry(first: first)
    var (metadata, sphere) = (spatialMetadata(of: input), try sphereTags(of: input))
    // Otherwise nothing in a movie says which eye the base view of MVC shows.
    if entry.mvcC != nil { metadata.heroEye = metadata.heroEye ?? MVCInput.baseEye(of: caps) }
    element.warn(of: entry.addSpatialBoxes(caps, metadata, sphere))
    let rate = input.frameRate
    let clock = TrackClock(framesPerSecond: rate.numerator, rate.denominator)
    var track = described(TrackDescription(.video(entry), timescale: clock.timescale), by: [input])
    if var immersive = sphere.immersiveMetadata(metadata.projection) {
      immersive.packing = PackingLayout(multiviewCaps: caps)
      track.sphericalVideoV1 = SphericalVideoV1(around: immersive)
    }
    return track
  }

  /// Returns the description of the eyes' track. Its sample entry is set when the parameter sets
  /// are known.
  func describeEyes(_ stereo: StereoInput) throws -> TrackDescription? {
    guard let base = stereo.stream(stereo.baseEye) else { return nil }
    let rate = base.frameRate ?? Fraction(0, 1)
    let clock = TrackClock(framesPerSecond: rate.numerator, rate.denominator)
    let entry = VisualSampleEntry(width: 0, height: 0, hvcC: [])
    var track = described(
      TrackDescription(.video(entry), timescale: clock.timescale),
      by: [stereo.baseEye.other, stereo.baseEye].compactMap { eye in
        inputs.first { $0.name == eye.rawValue }
      })
    track.sphericalVideoV1 = try immersiveMetadata().flatMap {
      SphericalVideoV1(around: $0.immersive)
    }
    return track
  }

  /// Sets the sample entry of the eyes' track, if its parameter sets are known.
  func setEyesEntry(_ stereo: StereoInput, of movie: MovieFileWriter) throws {
    guard let configuration = stereo.configuration,
      let base = stereo.stream(stereo.baseEye)
    else { return }
    var entry = try MuxVideoCaps.sampleEntry(configuration, base)
    if let (immersive, lenses) = try immersiveMetadata() {
      element.warn(of: entry.surround(immersive, spatialMetadata, lenses))
    } else {
      let metadata = spatialMetadata.fillingGapsWithDefaults()
      entry.extendedUsage = VideoExtendedUsage(metadata)
      entry.horizontalFieldOfView = metadata.horizontalFieldOfView
    }
    try movie.setSampleEntry(.video(entry), of: MuxPads.eyesTrack)
  }

  /// Returns a track with the metadata in pads' tags; the last pad's tags win.
  private func described(_ track: TrackDescription, by inputs: [MuxInput]) -> TrackDescription {
    let tags = inputs.reduce(TagList()) { $0.merging($1.tags) }
    var track = track
    if let language = tags.string(Tag.languageCode) {
      let primary = language.prefix { $0 != "-" }
      track.language =
        TagList.languageCode(language) ?? TagList.languageCode(String(primary)) ?? "und"
      if primary != language { track.languageTag = language }
    }
    if let orientation = element.mergingSetterTags(with: globalTags.merging(tags))
      .string(Tag.imageOrientation).flatMap(PictureOrientation.init(tag:)), track.isVideo
    {
      track.orientation = orientation
    }
    let origin = PrivateTrack(tags)
    track.alternateGroup = origin?.alternateGroup ?? 0
    track.handlerName = origin?.handlerName
    track.isEnabled = inputs.contains { isSelected($0) }
    let others = PrivateMetadata(tags)
    (track.metadata, track.userData) = (others.items, others.userData)
    // Without tags of global scope, the stream's title is the movie's.
    if !globalTags.isEmpty, let name = tags.string(Tag.title) {
      track.userData.append(OpaqueBox("name", payload: Array(name.utf8)))
    }
    return track
  }

  /// Whether a pad's stream is played by default.
  private func isSelected(_ input: MuxInput) -> Bool { start(of: input)?.isUnselected != true }

  /// The STREAM_START event of a pad; nil if there was none.
  private func start(of input: MuxInput) -> Event? {
    element.sinkPads.first { $0.name == input.name }?.streamStart
  }

  /// Makes the tracks of a kind that do not come from a movie alternatives to each other, so that
  /// players play only one of them: the first that is to be selected, as `matroskademux` says of
  /// default tracks, or else the first that is played by default.
  func makeAlternatives(of kind: MuxInput.Kind, in tracks: inout [TrackDescription]) {
    let found = inputs.filter { $0.kind == kind && PrivateTrack($0.tags) == nil }
    let own = found.compactMap(\.track).sorted()
    let selected = found.filter { start(of: $0)?.isSelected == true }.compactMap(\.track)
    // Matroska says of each text whether it is displayed by default.
    let saysAll = kind == .subtitle && globalTags.string(Tag.containerFormat) == "Matroska"
    if saysAll { for track in own { tracks[track].isEnabled = selected.contains(track) } }
    guard own.count > 1 else { return }
    let taken = Set(tracks.map(\.alternateGroup))
    let group = (1...UInt16.max).first { !taken.contains($0) } ?? 1
    let played =
      selected.min() ?? own.first { tracks[$0].isEnabled } ?? (saysAll ? nil : own[0])
    for track in own {
      tracks[track].alternateGroup = group
      tracks[track].isEnabled = track == played
    }
  }

  /// Restores the references between tracks that come from the same movie.
  func addReferences(to tracks: inout [TrackDescription]) {
    var origins: [(track: Int, movie: String, origin: PrivateTrack)] = []
    for pad in element.sinkPads {
      guard let input = inputs.first(where: { $0.name == pad.name }),
        let track = input.kind == .eye ? MuxPads.eyesTrack : input.track,
        let origin = PrivateTrack(input.tags),
        let stream = pad.streamStart?.streamID
      else { continue }
      // Stream IDs of the eyes end with the eye's name, those of `mvhevcdemux` after the track's
      // number, those of `sbssplit` in its place.
      var parts = stream.split(separator: "/", omittingEmptySubsequences: false)[...]
      if parts.last.flatMap({ Eye(rawValue: String($0)) }) != nil { parts.removeLast() }
      if parts.count > 1, parts.last.flatMap({ UInt32($0) }) != nil { parts.removeLast() }
      origins.append((track, parts.joined(separator: "/"), origin))
    }
    for (track, movie, origin) in origins where tracks.indices.contains(track) {
      for reference in origin.references {
        guard
          let target = origins.first(where: { $0.movie == movie && $0.origin.id == reference.track }
          )
        else { continue }
        let new = TrackReference(
          type: reference.type, track: TrackID(rawValue: UInt32(clamping: target.track + 1)))
        if !tracks[track].references.contains(new) { tracks[track].references.append(new) }
      }
    }
  }
}

extension TrackDescription {
  var isVideo: Bool {
    if case .video = sampleEntry { true } else { false }
  }

  /// Whether the sample entry declares stereo views.
  var isStereo: Bool {
    if case .video(let entry) = sampleEntry { entry.extendedUsage?.views != nil } else { false }
  }
}
