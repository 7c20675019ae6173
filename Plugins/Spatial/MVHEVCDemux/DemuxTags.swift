import CGStreamer
import GStreamer
import ISOBMFF
import StereoVideo

/// What a movie says of itself and of its tracks, as tags.
enum DemuxTags {
  /// The tags of the whole file.
  static func movie(_ movie: Movie, fileType: FileType?) -> TagList {
    let tags = TagList()
    tags.isGlobal = true
    let isQuickTime = fileType?.isQuickTime ?? true
    tags.set(GST_TAG_CONTAINER_FORMAT, .string(isQuickTime ? "Quicktime" : "ISO MP4/M4A"))
    for (names, tag) in texts {
      let item = movie.metadata.first { names.contains($0.key) }
      if let text = item?.value.string, !text.isEmpty, !text.contains("\0") {
        tags.set(tag, .string(text))
      }
    }
    return tags
  }

  /// Names of QuickTime's keys, of `ilst` and of user data.
  private static let texts: [(names: [String], tag: String)] = [
    (["com.apple.quicktime.title", "\u{A9}nam"], GST_TAG_TITLE),
    (["com.apple.quicktime.artist", "\u{A9}ART"], GST_TAG_ARTIST),
    (["com.apple.quicktime.album", "\u{A9}alb"], GST_TAG_ALBUM),
    (["com.apple.quicktime.comment", "\u{A9}cmt"], GST_TAG_COMMENT),
    (["com.apple.quicktime.description", "desc"], GST_TAG_DESCRIPTION),
    (["com.apple.quicktime.copyright", "cprt", "\u{A9}cpy"], GST_TAG_COPYRIGHT),
    (["com.apple.quicktime.keywords", "keyw"], GST_TAG_KEYWORDS),
    (["com.apple.quicktime.software", "\u{A9}too", "\u{A9}swr"], GST_TAG_ENCODER),
    (["com.apple.quicktime.make", "\u{A9}mak"], GST_TAG_DEVICE_MANUFACTURER),
    (["com.apple.quicktime.model", "\u{A9}mod"], GST_TAG_DEVICE_MODEL),
  ]

  /// The tags of one stream of a track.
  ///
  /// - Parameter spatial: how the pair was shot, for streams that show it.
  static func stream(_ track: Track, caps: Caps, spatial: SpatialMetadata?) -> TagList {
    let tags = TagList()
    if let tag = codecTag(track.handlerType) {
      gst_pb_utils_add_codec_description_to_tag_list(tags.pointer, tag, caps.pointer)
    }
    if track.language != "und", !track.language.isEmpty, !track.language.contains("\0") {
      let code = gst_tag_get_language_code_iso_639_1(track.language).map { String(cString: $0) }
      tags.set(GST_TAG_LANGUAGE_CODE, .string(code ?? track.language))
    }
    if case .audio(let entry)? = track.sampleEntries.first {
      if entry.averageBitRate > 0 { tags.set(GST_TAG_BITRATE, .uint(entry.averageBitRate)) }
      if entry.maximumBitRate > 0 { tags.set(GST_TAG_MAXIMUM_BITRATE, .uint(entry.maximumBitRate)) }
    }
    if let rotation = track.matrix.clockwiseRotation, rotation != 0 {
      tags.set(GST_TAG_IMAGE_ORIENTATION, .string("rotate-\(rotation)"))
    }
    spatial?.write(to: tags)
    return tags
  }

  private static func codecTag(_ handler: FourCC) -> String? {
    switch handler {
    case "vide": GST_TAG_VIDEO_CODEC
    case "soun": GST_TAG_AUDIO_CODEC
    default: nil
    }
  }
}
