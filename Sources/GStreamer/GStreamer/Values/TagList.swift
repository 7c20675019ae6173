// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// Facts about a stream or a file: title, codec, and the stereo tags of this plugin.
public final class TagList: MiniObject, @unchecked Sendable, CustomStringConvertible {
  package var pointer: UnsafeMutablePointer<GstTagList> { cast(raw) }

  package init(adopting pointer: UnsafeMutablePointer<GstTagList>) {
    super.init(adopting: cast(pointer))
  }

  package convenience init(retaining pointer: UnsafeMutablePointer<GstTagList>) {
    self.init(adopting: gst_tag_list_ref(pointer))
  }

  public convenience init() {
    self.init(adopting: gst_tag_list_new_empty())
  }

  public var isEmpty: Bool { gst_tag_list_is_empty(pointer) != 0 }

  /// Whether the tags are about the whole file rather than one stream.
  public var isGlobal: Bool {
    get { gst_tag_list_get_scope(pointer) == GST_TAG_SCOPE_GLOBAL }
    set {
      gst_tag_list_set_scope(pointer, newValue ? GST_TAG_SCOPE_GLOBAL : GST_TAG_SCOPE_STREAM)
    }
  }

  /// Adds a value, replacing what the tag had. The value has the type the tag is registered with.
  public func set(_ tag: String, _ value: Value) {
    value.withGValue { gst_tag_list_add_value(pointer, GST_TAG_MERGE_REPLACE, tag, $0) }
  }

  /// The first value of a tag.
  public subscript(tag: String) -> Value? {
    gst_tag_list_get_value_index(pointer, tag, 0).flatMap { Value($0) }
  }

  public func string(_ tag: String) -> String? {
    guard case .string(let value) = self[tag] else { return nil }
    return value
  }

  public func double(_ tag: String) -> Double? {
    guard case .double(let value) = self[tag] else { return nil }
    return value
  }

  /// These tags and those of `other`; where both have one, `other` wins.
  public func merging(_ other: TagList) -> TagList {
    TagList(
      adopting: gst_tag_list_merge(pointer, other.pointer, GST_TAG_MERGE_REPLACE)
        ?? gst_tag_list_new_empty())
  }

  public var description: String { adopt(gst_tag_list_to_string(pointer)) ?? "" }

  /// The three-letter code of ISO 639-2/T for a language tag; nil for one that is no code.
  public static func languageCode(_ tag: String) -> String? {
    gst_tag_get_language_code_iso_639_2T(tag).map { String(cString: $0) }
  }

  /// The two-letter code of ISO 639-1 for a language tag; nil for one that has none.
  public static func shortLanguageCode(_ tag: String) -> String? {
    gst_tag_get_language_code_iso_639_1(tag).map { String(cString: $0) }
  }

  /// Adds what people call the coding of a stream with these caps, under a tag such as
  /// ``Tag/videoCodec``.
  public func addCodecDescription(_ tag: String, of caps: Caps) {
    gst_pb_utils_add_codec_description_to_tag_list(pointer, tag, caps.pointer)
  }

  /// The kinds of value a tag of one's own can have.
  public enum Kind: Sendable {
    case string, double
    /// Bytes, and what they are.
    case sample
  }
}

/// A stream tag of one's own.
public struct TagDeclaration: PluginFeature {
  public let name: String
  public let kind: TagList.Kind
  public let nick: String
  public let blurb: String

  /// A tag of this name and kind.
  ///
  /// - Parameters:
  ///   - name: as `gst-launch-1.0 -t` prints it.
  ///   - kind: of its values.
  ///   - nick: a short name for people, translated where possible.
  ///   - blurb: one sentence with units and range.
  public init(_ name: String, _ kind: TagList.Kind, nick: String, blurb: String) {
    self.name = name
    self.kind = kind
    self.nick = nick
    self.blurb = blurb
  }

  /// Registers the tag with the process; a second registration of the name does nothing.
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

  public func register(with plugin: PluginReference) -> Bool {
    register()
    return true
  }
}
