// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

extension RenditionTrack {
  /// A part of a segment with a separate `moof` box.
  struct Chunk: Sendable {
    let fragment: Fragment
    /// The content of `mdat`.
    let content: [Output.Block]
    /// Presentation time of the first sample, in nanoseconds.
    let time: Int64
    let duration: UInt64
    /// Presentation time of the sample that is shown first, in nanoseconds.
    let earliest: Int64
    /// Presentation time of the end, in nanoseconds; of samples, that of the next one is not known.
    var end: Int64?

    var blocks: [Output.Block] { [.bytes(fragment.header)] + content }

    var startsWithSync: Bool { fragment.parts.first?.startsWithSync ?? false }
  }

  /// Returns the I-frame playlist entries of a segment with their sizes in bytes. Each covers its
  /// chunk without the boxes before `moof`.
  static func keyframes(
    of segment: MediaSegment, in chunks: [Chunk]
  ) -> [(entry: MediaSegment, size: UInt64)] {
    guard let start = chunks.first?.fragment.offset else { return [] }
    return chunks.indices.filter { chunks[$0].startsWithSync }.map { index in
      let chunk = chunks[index]
      let prefix = chunk.fragment.indexOffset - chunk.fragment.offset
      let size = chunk.fragment.size - prefix
      var entry = segment
      // Each is shown until the next one.
      entry.duration =
        chunk.duration
        + chunks[(index + 1)...].prefix { !$0.startsWithSync }.reduce(0) { $0 + $1.duration }
      entry.programDateTime = segment.programDateTime.map { $0 &+ (chunk.time &- chunks[0].time) }
      entry.byteRange = ByteRange(length: size, offset: chunk.fragment.offset - start + prefix)
      return (entry, size)
    }
  }
}

extension PackagedSample {
  /// Returns the properties of the sample as a fragment has them, in units of a track's clock.
  func description(_ clock: TrackClock) -> SampleDescription {
    /// In nanoseconds.
    let day: Int64 = 86_400_000_000_000
    let decode = clock.units(decodeTime)
    return SampleDescription(
      size: size, decodeTime: decode,
      duration: UInt32(clamping: clock.units(min(Int64(clamping: duration), day))),
      compositionOffset: Int32(clamping: clock.units(presentationTime) &- decode),
      isSync: isSync, dependency: dependency)
  }
}

extension RenditionTrack {
  /// Writes the initialization section, if there is none of the format.
  mutating func writeInitialization(to outputs: inout [Output]) throws {
    guard format.initialization == nil else { return }
    let path = names.initialization(initializationCount)
    initializationCount += 1
    outputs.append(
      .file(.initializationSegment, path: path, [.bytes(try format.writer.initializationSegment())])
    )
    format.initialization = InitializationSection(names.address(path))
    periods[periods.count - 1].initializationPath = path
  }

  /// Writes the file of the open segment, which is complete.
  func writeSegment(from start: Int64, until end: Int64?, to outputs: inout [Output]) {
    let path = names.segment(sequence)
    let fragments = chunks.flatMap(\.blocks)
    guard rendition.subtitles != nil else {
      return outputs.append(.file(.segment, path: path, fragments))
    }
    let text = WebVTT.segment(cues.shown(from: start, to: end ?? .max), at: start)
    outputs.append(.file(.segment, path: path, [.bytes(text)]))
    guard settings.names.manifest != nil else { return }
    outputs.append(.file(.segment, path: names.fragments(sequence), fragments))
  }
}

extension RenditionTrack {
  /// The segments between two discontinuities, which are a period of a DASH manifest.
  struct RenditionPeriod: Sendable {
    /// Start in nanoseconds.
    let start: Int64
    var rendition: Rendition
    let firstSequence: UInt64
    var initializationPath: String?
    /// In units of the track's timescale.
    var timeline: [MediaPresentation.Representation.Segment] = []
    /// Number of segments that have left the playlist.
    var removedCount: UInt64 = 0
  }

  /// Returns a period of this rendition for a DASH manifest, without segments if none is listed.
  func representation(_ period: RenditionPeriod, path: String) -> MediaPresentation.Representation?
  {
    // Gaps have no files, and a manifest has no word for them: those before the first segment and
    // after the last one are left out.
    let gapCount = period.timeline.prefix(while: \.isGap).count
    var segments = Array(period.timeline.dropFirst(gapCount))
    while segments.last?.isGap ?? false { segments.removeLast() }
    if period.initializationPath == nil { segments = [] }
    let rendition = period.rendition
    guard let content = MediaPresentation.Content(rendition) else { return nil }
    let media = FileNames.template(settings.names.segment, rendition: rendition.name, from: path)
    var representation = MediaPresentation.Representation(
      id: rendition.name, content: content, codecs: rendition.codecs, bandwidth: bitRate.peak,
      timescale: rendition.track.timescale,
      initialization: period.initializationPath.map { FileNames.address(of: $0, from: path) } ?? "",
      media: media, startNumber: period.firstSequence + period.removedCount + UInt64(gapCount),
      segments: segments)
    representation.hasMetadata = hasMetadata
    representation.key = rendition.key
    return representation
  }
}

extension MediaPresentation.Content {
  /// The properties of a rendition; nil if its media type is not that of its sample entry.
  fileprivate init?(_ rendition: Rendition) {
    switch (rendition.content, rendition.track.sampleEntry) {
    case (.video(let video), .video(let entry)):
      var content = MediaPresentation.Video(
        width: Int(entry.width), height: Int(entry.height), frameRate: video.frameRate,
        layout: video.layout)
      content.range = video.range
      content.pixelAspectRatio = entry.pixelAspectRatio
      content.colour = entry.colour
      self = .video(content)
    case (.audio(let audio), .audio(let entry)):
      // Names that are made up tell nothing.
      let isMadeUp = audio.name == audio.language || audio.name == rendition.name
      self = .audio(
        MediaPresentation.Audio(
          sampleRate: entry.sampleRate, channelCount: Int(entry.channelCount),
          language: audio.language, title: isMadeUp ? nil : audio.name,
          isDefault: audio.isDefault))
    case (.subtitles(let subtitles), _):
      let isMadeUp = subtitles.name == subtitles.language || subtitles.name == rendition.name
      self = .text(
        MediaPresentation.Text(
          language: subtitles.language, title: isMadeUp ? nil : subtitles.name,
          isDefault: subtitles.isDefault, isForced: subtitles.isForced))
    default:
      return nil
    }
  }
}
