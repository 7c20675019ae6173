// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

extension RenditionTrack {
  /// Segments of one coding, as a DASH manifest lists them in a period.
  struct RenditionPeriod: Sendable {
    /// In nanoseconds.
    let start: Int64
    let rendition: Rendition
    let firstSequence: UInt64
    var initializationPath: String?
    /// In units of the track.
    var timeline: [MediaPresentation.Representation.Segment] = []
    /// How many of its segments have left the playlist.
    var removedCount: UInt64 = 0
  }

  /// One of its periods, as a DASH manifest lists it; nil where nothing of it is listed.
  func representation(_ period: RenditionPeriod, path: String) -> MediaPresentation.Representation? {
    guard let initialization = period.initializationPath, !period.timeline.isEmpty else {
      return nil
    }
    let rendition = period.rendition
    let content: MediaPresentation.Content
    switch (rendition.content, rendition.track.sampleEntry) {
    case (.video(let video), .video(let entry)):
      content = .video(
        width: Int(entry.width), height: Int(entry.height), frameRate: video.frameRate)
    case (.audio(let audio), .audio(let entry)):
      content = .audio(
        sampleRate: entry.sampleRate, channelCount: Int(entry.channelCount),
        language: audio.language)
    default:
      return nil
    }
    let media = FileNames.template(settings.names.segment, rendition: rendition.name, from: path)
    return MediaPresentation.Representation(
      id: rendition.name, content: content, codecs: rendition.codecs, bandwidth: bitRate.peak,
      timescale: rendition.track.timescale,
      initialization: FileNames.address(of: initialization, from: path),
      media: media, startNumber: period.firstSequence + period.removedCount,
      segments: period.timeline)
  }
}
