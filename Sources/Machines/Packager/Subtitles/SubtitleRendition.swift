// SPDX-License-Identifier: MPL-2.0

/// A subtitle rendition in a multivariant playlist (`EXT-X-MEDIA`).
public struct SubtitleRendition: Equatable, Sendable {
  /// The group of all subtitles.
  static let groupID = "subtitles"

  /// URI of the media playlist.
  public var uri: String
  /// Shown to users; unique, else a number is added.
  public var name: String
  /// A BCP 47 tag.
  public var language: String?
  /// Whether players show it unless the viewer decides otherwise. It is so for one at most.
  public var isDefault: Bool
  /// Whether players show it even if the viewer wants no subtitles.
  public var isForced: Bool

  /// Creates a subtitle rendition.
  public init(
    _ uri: String, name: String, language: String? = nil, isDefault: Bool = false,
    isForced: Bool = false
  ) {
    (self.uri, self.name, self.language) = (uri, name, language)
    (self.isDefault, self.isForced) = (isDefault, isForced)
  }

  var line: String {
    var attributes = AttributeList()
    attributes.add("TYPE", "SUBTITLES")
    attributes.add("GROUP-ID", quoted: Self.groupID)
    attributes.add("NAME", quoted: name)
    attributes.add("LANGUAGE", quoted: language)
    attributes.add("DEFAULT", isDefault ? "YES" : "NO")
    attributes.add("AUTOSELECT", "YES")
    attributes.add("FORCED", isForced ? "YES" : "NO")
    attributes.add("URI", quoted: uri)
    return "#EXT-X-MEDIA:\(attributes.text)"
  }
}
