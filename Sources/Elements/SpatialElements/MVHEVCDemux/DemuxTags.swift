// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// Metadata of a movie and its tracks as tags.
enum DemuxTags {
  /// Returns the tags of the whole file.
  static func movie(_ movie: Movie, fileType: FileType?) -> TagList {
    let tags = TagList()
    tags.isGlobal = true
    let isQuickTime = fileType?.isQuickTime ?? true
    tags.set(Tag.containerFormat, .string(isQuickTime ? "Quicktime" : "ISO MP4/M4A"))
    MetadataTags.add(movie, to: tags)
    return tags
  }

  /// Returns the tags of one stream of a track.
  ///
  /// - Parameter spatial: spatial metadata, for streams that show the pair.
  static func stream(_ track: Track, caps: Caps, spatial: SpatialMetadata?) -> TagList {
    let tags = TagList()
    if let tag = codecTag(track.handlerType) {
      tags.addCodecDescription(tag, of: caps)
    }
    if track.language != "und", !track.language.isEmpty, !track.language.contains("\0") {
      let code = TagList.shortLanguageCode(track.language) ?? track.language
      tags.set(Tag.languageCode, .string(code))
    }
    if case .audio(let entry)? = track.sampleEntries.first {
      if entry.averageBitRate > 0 { tags.set(Tag.bitrate, .uint(entry.averageBitRate)) }
      if entry.maximumBitRate > 0 { tags.set(Tag.maximumBitrate, .uint(entry.maximumBitRate)) }
    }
    if track.orientation != .upright {
      tags.set(Tag.imageOrientation, .string(track.orientation.tag))
    }
    if let name = track.name { tags.set(Tag.title, .string(name)) }
    PrivateMetadata(track.metadata, userData: track.userData, without: ["name"]).write(to: tags)
    PrivateTrack(track).write(to: tags)
    spatial?.write(to: tags)
    if let immersive = track.immersiveMetadata {
      SphereTags(immersive, lenses: track.lenses).write(to: tags)
    }
    return tags
  }

  private static func codecTag(_ handler: FourCC) -> String? {
    switch handler {
    case "vide": Tag.videoCodec
    case "soun": Tag.audioCodec
    default: nil
    }
  }
}

extension Track {
  fileprivate var lenses: LensCollection? {
    guard case .video(let entry) = sampleEntries.first else { return nil }
    return entry.extendedUsage?.lensCollection
  }

  /// The user-given name of the track: `name` in its user data.
  fileprivate var name: String? {
    guard let box = description.userData.first(where: { $0.type == "name" }) else { return nil }
    let name = String(decoding: box.payload.prefix { $0 != 0 }, as: UTF8.self)
    return name.isEmpty ? nil : name
  }
}
