// SPDX-License-Identifier: MPL-2.0

import GStreamer
package import ISOBMFF

/// Movie metadata that has a GStreamer tag, in both directions.
package enum MetadataTags {
  /// QuickTime metadata key, followed by the equivalent names in `ilst` and in user data.
  private static let texts: [(names: [String], tag: String)] = [
    (["com.apple.quicktime.title", "\u{A9}nam"], Tag.title),
    (["com.apple.quicktime.artist", "\u{A9}ART"], Tag.artist),
    (["com.apple.quicktime.album", "\u{A9}alb"], Tag.album),
    (["com.apple.quicktime.genre", "\u{A9}gen"], Tag.genre),
    (["com.apple.quicktime.comment", "\u{A9}cmt"], Tag.comment),
    (["com.apple.quicktime.description", "desc"], Tag.description),
    (["com.apple.quicktime.copyright", "cprt", "\u{A9}cpy"], Tag.copyright),
    (["com.apple.quicktime.keywords", "keyw"], Tag.keywords),
    ([softwareKey, "\u{A9}too", "\u{A9}swr"], Tag.encoder),
    (["com.apple.quicktime.make", "\u{A9}mak"], Tag.deviceManufacturer),
    (["com.apple.quicktime.model", "\u{A9}mod"], Tag.deviceModel),
    (["com.apple.quicktime.location.name"], Tag.geoLocationName),
  ]
  private static let softwareKey = "com.apple.quicktime.software"
  private static let dates = ["com.apple.quicktime.creationdate", "\u{A9}day"]
  private static let locations = ["com.apple.quicktime.location.ISO6709", "\u{A9}xyz"]
  private static let accuracies = ["com.apple.quicktime.location.accuracy.horizontal"]

  /// Returns a movie's text for a tag: ISO 8601 for `dateTime`, ISO 6709 for the latitude; nil if
  /// there is none.
  package static func text(_ tag: String, of movie: Movie) -> String? {
    let names =
      switch tag {
      case Tag.dateTime: dates
      case Tag.geoLocationLatitude: locations
      default: texts.first { $0.tag == tag }?.names ?? []
      }
    return text(names, of: movie)
  }

  private static func text(_ names: [String], of movie: Movie) -> String? {
    let item = movie.metadata.first { names.contains($0.key) && $0.value.string != nil }
    guard let text = item?.value.string, !text.isEmpty, !text.contains("\0") else { return nil }
    return text
  }

  /// Adds a movie's metadata to its tags: as standard tags if they exist, else as private data.
  static func add(_ movie: Movie, to tags: TagList) {
    var told: Set<String> = []
    func tell(_ names: [String], _ set: (String) -> Bool) {
      guard let text = text(names, of: movie), set(text) else { return }
      told.formUnion(names)
    }
    for (names, tag) in texts {
      tell(names) {
        tags.set(tag, .string($0))
        return true
      }
    }
    tell(dates) { text in
      guard let date = DateTime(text) else { return false }
      tags.set(Tag.dateTime, date)
      return true
    }
    tell(locations) { text in
      guard let location = GeographicLocation(iso6709: text) else { return false }
      tags.set(Tag.geoLocationLatitude, .double(location.latitude))
      tags.set(Tag.geoLocationLongitude, .double(location.longitude))
      if let altitude = location.altitude {
        tags.set(Tag.geoLocationElevation, .double(altitude))
      }
      return true
    }
    tell(accuracies) { text in
      guard let metres = Double(text), metres >= 0, metres.isFinite else { return false }
      tags.set(Tag.geoLocationHorizontalError, .double(metres))
      return true
    }
    let creationTime =
      movie.creationTime > 0
      ? Int64(exactly: movie.creationTime).map { $0 - 2_082_844_800 } : nil
    if tags.dateTime(Tag.dateTime) == nil,
      let date = creationTime.flatMap({ DateTime(secondsSince1970: $0) })
    {
      tags.set(Tag.dateTime, date)
    }
    var others = PrivateMetadata(movie.metadata, userData: movie.userData, without: told)
    others.creationTime = creationTime
    others.fileLevelBoxes = movie.fileLevelBoxes.movable
    others.otherFileLevelBoxes = movie.fileLevelBoxes.others
    others.write(to: tags)
  }

  private static let coverKey = "covr"

  /// Returns the type of a cover's bytes (QuickTime File Format, "Well-known types"); nil for a
  /// coding that movies cannot have.
  static func coverType(_ image: TagList.Sample) -> UInt32? {
    let types: [String: UInt32] = ["image/jpeg": 13, "image/png": 14, "image/bmp": 27]
    return image.caps?.mediaType.flatMap { types[$0] }
  }

  private static func cover(_ image: TagList.Sample) -> MetadataItem? {
    coverType(image).map { type in
      MetadataItem(
        keySpace: "mdir", key: coverKey,
        value: MetadataValue(typeIndicator: type, bytes: image.content.bytes))
    }
  }

  /// Makes a movie's metadata from tags.
  ///
  /// - Parameter defaultSoftware: the writing software, if no tag names one.
  static func metadata(_ tags: TagList, defaultSoftware: String) -> MovieMetadata {
    var items: [MetadataItem] = []
    func add(_ names: [String], _ text: String?) {
      guard let key = names.first, let text, !text.isEmpty else { return }
      items.append(MetadataItem(key: key, value: .utf8(text)))
    }
    for (names, tag) in texts {
      add(names, tags.string(tag) ?? (names.first == softwareKey ? defaultSoftware : nil))
    }
    let date = tags.dateTime(Tag.dateTime)
    add(dates, date?.text ?? tags.date(Tag.date))
    if let latitude = tags.double(Tag.geoLocationLatitude),
      let longitude = tags.double(Tag.geoLocationLongitude)
    {
      let location = GeographicLocation(
        latitude: latitude, longitude: longitude,
        altitude: tags.double(Tag.geoLocationElevation))
      add(locations, location?.iso6709)
    }
    add(accuracies, tags.double(Tag.geoLocationHorizontalError).map { "\($0)" })
    var keys = Set(items.map(\.key))
    for comment in ExtendedComment.all(in: tags) where keys.insert(comment.key).inserted {
      add([comment.key], comment.text)
    }
    let others = PrivateMetadata(tags)
    if !others.items.contains(where: { $0.key == coverKey }) {
      items += tags.samples(Tag.image).compactMap(cover)
    }
    let told = Set(items.map(\.key))
    var metadata = MovieMetadata(
      creationTime: others.creationTime ?? date?.secondsSince1970,
      items: items + others.items.filter { !told.contains($0.key) }, userData: others.userData)
    metadata.fileLevelBoxes = others.fileLevelBoxes
    return metadata
  }
}

/// A text of a container that names its texts freely, such as Matroska: `MAKE=Acme`.
private struct ExtendedComment {
  let name: String
  let text: String

  /// Those that describe the movie, not how another program stored it: at most 256 of at most
  /// 16 KiB each, far more than any movie has.
  static func all(in tags: TagList) -> [ExtendedComment] {
    tags.strings(Tag.extendedComment).prefix(256).compactMap { comment in
      let parts = comment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[1].isEmpty, comment.utf8.count <= 16_384 else { return nil }
      // `[en]` after the name is the language.
      let name = parts[0].prefix { $0 != "[" }.lowercased()
      let isKey = !name.isEmpty && name.utf8.allSatisfy { 0x20 < $0 && $0 < 0x7F }
      guard isKey, !ofStorage.contains(name), !name.hasPrefix("_") else { return nil }
      return ExtendedComment(name: name, text: String(parts[1]))
    }
  }

  private static let ofStorage: Set<String> = [
    "major_brand", "minor_version", "compatible_brands", "duration", "vendor_id", "handler_name",
    "encoder", "bps", "number_of_frames", "number_of_bytes", "source_id",
  ]

  /// QuickTime's key, or the name itself if QuickTime has none, as FFmpeg writes it.
  var key: String {
    switch name {
    case "make", "model": "com.apple.quicktime.\(name)"
    case "location": "com.apple.quicktime.location.ISO6709"
    default: name
    }
  }
}

extension PictureOrientation {
  /// Parses a value of `image-orientation`; nil for any other text.
  init?(tag: String) {
    let flip = "flip-"
    let isFlipped = tag.hasPrefix(flip)
    let rotation = isFlipped ? String(tag.dropFirst(flip.count)) : tag
    guard rotation.hasPrefix("rotate-"), let degrees = Int(rotation.dropFirst("rotate-".count))
    else { return nil }
    self.init(clockwiseRotation: degrees, isFlipped: isFlipped)
  }

  /// The value of `image-orientation`.
  var tag: String { (isFlipped ? "flip-" : "") + "rotate-\(clockwiseRotation)" }
}

extension TagList {
  /// These tags without those about the encoding and container, which no longer apply once the
  /// stream is encoded again.
  var withoutCoding: TagList {
    removing([
      "codec", "video-codec", "audio-codec", "subtitle-codec", "container-format", "encoder",
      "encoder-version", "bitrate", "nominal-bitrate", "minimum-bitrate", "maximum-bitrate",
    ])
  }
}
