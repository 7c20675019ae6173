// SPDX-License-Identifier: MPL-2.0

package import CGStreamer
internal import StereoVideo

/// Metadata of a stream or a file, such as title, codec and stereo tags: `GstTagList`.
public final class TagList: MiniObject, @unchecked Sendable, CustomStringConvertible {
  package var pointer: UnsafeMutablePointer<GstTagList> { cast(raw) }

  package init(adopting pointer: UnsafeMutablePointer<GstTagList>) {
    super.init(adopting: cast(pointer))
  }

  package convenience init(retaining pointer: UnsafeMutablePointer<GstTagList>) {
    self.init(adopting: gst_tag_list_ref(pointer))
  }

  /// Creates an empty list of stream tags.
  public convenience init() {
    self.init(adopting: gst_tag_list_new_empty())
  }

  /// Whether there are no tags.
  public var isEmpty: Bool { gst_tag_list_is_empty(pointer) != 0 }

  /// Whether the tags describe the whole file rather than one stream.
  public var isGlobal: Bool {
    get { gst_tag_list_get_scope(pointer) == GST_TAG_SCOPE_GLOBAL }
    set {
      gst_tag_list_set_scope(pointer, newValue ? GST_TAG_SCOPE_GLOBAL : GST_TAG_SCOPE_STREAM)
    }
  }

  /// Sets a tag to one value, replacing its previous ones. The value must have the tag's registered
  /// type.
  public func set(_ tag: String, _ value: Value) {
    value.withGValue { gst_tag_list_add_value(pointer, GST_TAG_MERGE_REPLACE, tag, $0) }
  }

  /// Returns the first value of a tag.
  public subscript(tag: String) -> Value? {
    gst_tag_list_get_value_index(pointer, tag, 0).flatMap { Value($0) }
  }

  /// Returns the first string of a tag; nil if there is none.
  public func string(_ tag: String) -> String? {
    guard case .string(let value) = self[tag] else { return nil }
    return value
  }

  /// Returns the first double of a tag; nil if there is none.
  public func double(_ tag: String) -> Double? {
    guard case .double(let value) = self[tag] else { return nil }
    return value
  }

  /// Returns the tags of both lists; for tags in both, those of `other`.
  public func merging(_ other: TagList) -> TagList {
    TagList(
      adopting: gst_tag_list_merge(pointer, other.pointer, GST_TAG_MERGE_REPLACE)
        ?? gst_tag_list_new_empty())
  }

  /// The tags in `gst-launch-1.0` syntax.
  public var description: String { adopt(gst_tag_list_to_string(pointer)) ?? "" }

  /// Returns the ISO 639-2/T three-letter code for a language code; nil if the latter is unknown.
  public static func languageCode(_ tag: String) -> String? {
    gst_tag_get_language_code_iso_639_2T(tag).map { String(cString: $0) }
  }

  /// Returns the name of a language in the user's own, such as "German"; nil if the code is
  /// unknown, or that of an undetermined language.
  public static func languageName(_ tag: String) -> String? {
    tag == "und" ? nil : gst_tag_get_language_name(tag).map { String(cString: $0) }
  }

  /// Returns the ISO 639-1 two-letter code for a language code; nil if it has none.
  public static func shortLanguageCode(_ tag: String) -> String? {
    gst_tag_get_language_code_iso_639_1(tag).map { String(cString: $0) }
  }

  /// Sets a tag such as ``Tag/videoCodec`` to the codec's human-readable name according to these
  /// caps.
  public func addCodecDescription(_ tag: String, of caps: Caps) {
    gst_pb_utils_add_codec_description_to_tag_list(pointer, tag, caps.pointer)
  }

  /// The value types of application-defined tags.
  public enum Kind: Sendable {
    case string, double
    /// Bytes with a description of their content.
    case sample
  }
}

/// An application-defined stream tag.
public struct TagDeclaration: PluginFeature {
  /// The name of the tag.
  public let name: String
  /// The type of its values.
  public let kind: TagList.Kind
  /// A short name for users.
  public let nick: String
  /// A description for users.
  public let blurb: String

  /// Declares a tag.
  ///
  /// - Parameters:
  ///   - name: The name, as `gst-launch-1.0 -t` prints it.
  ///   - kind: Type of the values.
  ///   - nick: A short name for users, translated if possible.
  ///   - blurb: One sentence, with units and range.
  public init(_ name: String, _ kind: TagList.Kind, nick: String, blurb: String) {
    self.name = name
    self.kind = kind
    self.nick = nick
    self.blurb = blurb
  }

  /// Registers the tag in this process; does nothing if the name is already registered.
  public func register() {
    guard gst_tag_exists(name) == 0 else { return }
    let type =
      switch kind {
      case .string: cgst_type_string()
      case .double: cgst_type_double()
      case .sample: gst_sample_get_type()
      }
    gst_tag_register_static(
      permanent(name), GST_TAG_FLAG_META, type, permanent(nick), permanent(blurb), nil)
  }

  /// Registers the tag; always succeeds.
  public func register(with plugin: PluginReference) -> Bool {
    register()
    return true
  }
}

/// Names of GStreamer's predefined tags.
public enum Tag {
  /// `GST_TAG_ALBUM`
  public static let album = GST_TAG_ALBUM
  /// `GST_TAG_ARTIST`
  public static let artist = GST_TAG_ARTIST
  /// `GST_TAG_ATTACHMENT`
  public static let attachment = GST_TAG_ATTACHMENT
  /// `GST_TAG_AUDIO_CODEC`
  public static let audioCodec = GST_TAG_AUDIO_CODEC
  /// `GST_TAG_BITRATE`
  public static let bitrate = GST_TAG_BITRATE
  /// `GST_TAG_COMMENT`
  public static let comment = GST_TAG_COMMENT
  /// `GST_TAG_CONTAINER_FORMAT`
  public static let containerFormat = GST_TAG_CONTAINER_FORMAT
  /// `GST_TAG_COPYRIGHT`
  public static let copyright = GST_TAG_COPYRIGHT
  /// `GST_TAG_DATE`
  public static let date = GST_TAG_DATE
  /// `GST_TAG_DATE_TIME`
  public static let dateTime = GST_TAG_DATE_TIME
  /// `GST_TAG_DESCRIPTION`
  public static let description = GST_TAG_DESCRIPTION
  /// `GST_TAG_DEVICE_MANUFACTURER`
  public static let deviceManufacturer = GST_TAG_DEVICE_MANUFACTURER
  /// `GST_TAG_DEVICE_MODEL`
  public static let deviceModel = GST_TAG_DEVICE_MODEL
  /// `GST_TAG_ENCODER`
  public static let encoder = GST_TAG_ENCODER
  /// `GST_TAG_EXTENDED_COMMENT`
  public static let extendedComment = GST_TAG_EXTENDED_COMMENT
  /// `GST_TAG_GENRE`
  public static let genre = GST_TAG_GENRE
  /// `GST_TAG_GEO_LOCATION_ELEVATION`
  public static let geoLocationElevation = GST_TAG_GEO_LOCATION_ELEVATION
  /// `GST_TAG_GEO_LOCATION_HORIZONTAL_ERROR`
  public static let geoLocationHorizontalError = GST_TAG_GEO_LOCATION_HORIZONTAL_ERROR
  /// `GST_TAG_GEO_LOCATION_LATITUDE`
  public static let geoLocationLatitude = GST_TAG_GEO_LOCATION_LATITUDE
  /// `GST_TAG_GEO_LOCATION_LONGITUDE`
  public static let geoLocationLongitude = GST_TAG_GEO_LOCATION_LONGITUDE
  /// `GST_TAG_GEO_LOCATION_NAME`
  public static let geoLocationName = GST_TAG_GEO_LOCATION_NAME
  /// `GST_TAG_IMAGE`
  public static let image = GST_TAG_IMAGE
  /// `GST_TAG_IMAGE_ORIENTATION`
  public static let imageOrientation = GST_TAG_IMAGE_ORIENTATION
  /// `GST_TAG_KEYWORDS`
  public static let keywords = GST_TAG_KEYWORDS
  /// `GST_TAG_LANGUAGE_CODE`
  public static let languageCode = GST_TAG_LANGUAGE_CODE
  /// `GST_TAG_MAXIMUM_BITRATE`
  public static let maximumBitrate = GST_TAG_MAXIMUM_BITRATE
  /// `GST_TAG_PRIVATE_DATA`
  public static let privateData = GST_TAG_PRIVATE_DATA
  /// `GST_TAG_TITLE`
  public static let title = GST_TAG_TITLE
  /// `GST_TAG_VIDEO_CODEC`
  public static let videoCodec = GST_TAG_VIDEO_CODEC
}

extension TagList {
  /// Appends bytes with a description of their content to a tag's values.
  public func append(
    _ tag: String, _ content: Buffer, name: String, _ fields: [(key: String, value: Value)]
  ) {
    guard let information = makeStructure(name, fields),
      let sample = gst_sample_new(content.pointer, nil, nil, information)
    else { return }
    var value = GValue()
    g_value_init(&value, gst_sample_get_type())
    g_value_take_boxed(&value, UnsafeMutableRawPointer(sample))
    gst_tag_list_add_value(pointer, GST_TAG_MERGE_APPEND, tag, &value)
    g_value_unset(&value)
  }

  /// Returns all values of a tag that are texts.
  public func strings(_ tag: String) -> [String] {
    (0..<gst_tag_list_get_tag_size(pointer, tag)).compactMap { index in
      var text: UnsafeMutablePointer<gchar>?
      guard gst_tag_list_get_string_index(pointer, tag, index, &text) != 0 else { return nil }
      return adopt(text)
    }
  }

  /// Returns a tag that is a date without a time, as `2020-02-03`; nil if there is none.
  public func date(_ tag: String) -> String? {
    var date: UnsafeMutablePointer<GDate>?
    guard gst_tag_list_get_date(pointer, tag, &date) != 0, let date else { return nil }
    defer { g_date_free(date) }
    guard g_date_valid(date) != 0 else { return nil }
    func padded(_ number: some BinaryInteger, _ count: Int) -> String {
      let text = "\(number)"
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    return [
      padded(g_date_get_year(date), 4), padded(g_date_get_month(date).rawValue, 2),
      padded(g_date_get_day(date), 2),
    ].joined(separator: "-")
  }

  /// A tag's value that is bytes.
  public struct Sample {
    /// The bytes.
    public let content: Buffer
    /// The media type; nil if it is not known.
    public let caps: Caps?
    /// A description of the content; nil if there is none.
    public let information: StructureView?
  }

  /// Returns all values of a tag that are bytes.
  public func samples(_ tag: String) -> [Sample] {
    (0..<gst_tag_list_get_tag_size(pointer, tag)).compactMap { index in
      var sample: OpaquePointer?
      guard gst_tag_list_get_sample_index(pointer, tag, index, &sample) != 0, let sample else {
        return nil
      }
      // The list keeps the contents alive with a reference of its own.
      defer { gst_sample_unref(sample) }
      guard let content = gst_sample_get_buffer(sample) else { return nil }
      return Sample(
        content: Buffer(retaining: content),
        caps: gst_sample_get_caps(sample).map { Caps(retaining: $0) },
        information: gst_sample_get_info(sample).map { StructureView($0, in: self) })
    }
  }

  /// Returns a copy without some tags.
  public func removing(_ tags: [String]) -> TagList {
    guard let copy = gst_tag_list_copy(pointer) else { return TagList() }
    for tag in tags { gst_tag_list_remove_tag(copy, tag) }
    return TagList(adopting: copy)
  }

  /// Returns the tags without some of the values of a tag that are bytes.
  public func removing(_ tag: String, where isUnwanted: (Sample) -> Bool) -> TagList {
    let all = samples(tag)
    let kept = all.indices.filter { !isUnwanted(all[$0]) }
    guard kept.count < all.count else { return self }
    let rest = removing([tag])
    for index in kept {
      gst_tag_list_add_value(
        rest.pointer, GST_TAG_MERGE_APPEND, tag,
        gst_tag_list_get_value_index(pointer, tag, guint(index)))
    }
    return rest
  }
}

/// A named part of a stream.
public struct Chapter: Equatable, Sendable {
  /// The title; empty if there is none.
  public let title: String
  /// Start in stream time.
  public let start: ClockTime
  /// End in stream time; nil for the start of the next chapter or the end of the stream.
  public let stop: ClockTime?

  /// Creates a chapter; times are stream times.
  public init(title: String, start: ClockTime, stop: ClockTime?) {
    (self.title, self.start, self.stop) = (title, start, stop)
  }
}

extension Event {
  /// Creates a TOC event with chapters, which are in order; nil if GStreamer cannot.
  public static func tableOfContents(_ chapters: [Chapter]) -> Event? {
    guard let toc = gst_toc_new(GST_TOC_SCOPE_GLOBAL) else { return nil }
    defer { gst_mini_object_unref(UnsafeMutablePointer(toc)) }
    for (number, chapter) in chapters.enumerated() {
      let entry = gst_toc_entry_new(GST_TOC_ENTRY_TYPE_CHAPTER, "chapter-\(number)")
      let next = chapters.dropFirst(number + 1).first?.start
      gst_toc_entry_set_start_stop_times(
        entry, gint64(clamping: chapter.start.nanoseconds),
        (chapter.stop ?? next).map { gint64(clamping: $0.nanoseconds) } ?? -1)
      let tags = TagList()
      tags.set("title", .string(chapter.title))
      gst_toc_entry_set_tags(entry, gst_tag_list_copy(tags.pointer))
      gst_toc_append_entry(toc, entry)
    }
    return Event(adopting: gst_event_new_toc(toc, 0))
  }

  /// The chapters of a TOC event, in order; those of its first edition if it has editions. Nil for
  /// other events.
  public var chapters: [Chapter]? {
    guard type == GST_EVENT_TOC else { return nil }
    var toc: OpaquePointer?
    gst_event_parse_toc(pointer, &toc, nil)
    guard let toc else { return nil }
    defer { gst_mini_object_unref(UnsafeMutablePointer(toc)) }
    return Chapter.chapters(of: toc)
  }
}

extension Chapter {
  /// Maximum number of chapters read; no real movie has more.
  private static let most = 10_000

  /// Returns the chapters of the first edition, if there are editions, else of the top level.
  static func chapters(of toc: OpaquePointer) -> [Chapter] {
    var entries = gst_toc_get_entries(toc)
    if let first = entries?.pointee.data.map({ OpaquePointer($0) }),
      gst_toc_entry_get_entry_type(first) == GST_TOC_ENTRY_TYPE_EDITION
    {
      entries = gst_toc_entry_get_sub_entries(first)
    }
    return chapters(entries)
  }

  private static func chapters(_ entries: UnsafeMutablePointer<GList>?) -> [Chapter] {
    var chapters: [Chapter] = []
    var place = entries
    while let item = place, chapters.count < most {
      if let chapter = item.pointee.data.flatMap({ Chapter(OpaquePointer($0)) }) {
        chapters.append(chapter)
      }
      place = item.pointee.next
    }
    return chapters
  }

  /// Nil if the entry is not a chapter or has no start.
  private init?(_ entry: OpaquePointer) {
    var (start, stop): (gint64, gint64) = (-1, -1)
    guard gst_toc_entry_get_entry_type(entry) == GST_TOC_ENTRY_TYPE_CHAPTER,
      gst_toc_entry_get_start_stop_times(entry, &start, &stop) != 0,
      let begin = ClockTime(exactly: start)
    else { return nil }
    var title: UnsafeMutablePointer<gchar>?
    if let tags = gst_toc_entry_get_tags(entry) {
      gst_tag_list_get_string(tags, GST_TAG_TITLE, &title)
    }
    self.title = adopt(title) ?? ""
    self.start = begin
    self.stop = ClockTime(exactly: stop).flatMap { $0 > begin ? $0 : nil }
  }
}
