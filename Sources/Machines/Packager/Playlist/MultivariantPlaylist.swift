// SPDX-License-Identifier: MPL-2.0

/// An HLS multivariant playlist: the variants that players choose from (draft-pantos-hls-rfc8216bis
/// 4.4.6).
public struct MultivariantPlaylist: Equatable, Sendable {
  /// Best first: players start with the first.
  public var variants: [Variant] = []
  /// Audio renditions, which all variants share.
  public var audio: [AudioRendition] = []
  /// Subtitle renditions, which all variants share.
  public var subtitles: [SubtitleRendition] = []
  /// I-frame playlists, for fast scanning; see ``Variant/iFrames(_:bandwidth:averageBandwidth:)``.
  public var iFrames: [Variant] = []

  /// The tags `EXT-X-SESSION-KEY` of the keys in the media playlists.
  public var sessionKeyTags: [String] = []

  /// Creates an empty playlist.
  public init() {}

  /// The content of the playlist file.
  public var text: String {
    let needsLayout = (variants + iFrames).contains { !$0.layouts.isMonoRectilinear }
    var lines = [
      "#EXTM3U", "#EXT-X-VERSION:\(needsLayout ? 12 : 6)", "#EXT-X-INDEPENDENT-SEGMENTS",
    ]
    lines += sessionKeyTags
    let audio = groupedAudio
    lines += audio.map(\.line)
    lines += groupedSubtitles.map(\.line)
    let subtitles = self.subtitles.isEmpty ? nil : SubtitleRendition.groupID
    let groups = Self.groups(of: audio)
    lines += variants.flatMap { variant in
      groups.flatMap { variant.lines(group: $0, subtitles: subtitles) }
    }
    lines += Self.audioOnly(audio, subtitles: subtitles)
    lines += iFrames.map(\.iFrameLine)
    return lines.joined(separator: "\n") + "\n"
  }

  /// The part for players without layout support; nil if it has no variants. Such players must
  /// ignore playlists of version 12, so it is a separate file.
  public var withoutLayouts: MultivariantPlaylist? {
    var playlist = self
    playlist.variants.removeAll { !$0.layouts.isMonoRectilinear }
    playlist.iFrames.removeAll { !$0.layouts.isMonoRectilinear }
    return playlist.variants.isEmpty ? nil : playlist
  }

  /// The audio renditions in groups with the same members, names and defaults (RFC 8216
  /// 4.3.4.1.1): if each coding has all of them, the codings are alternatives, and players choose
  /// one; otherwise they are one group.
  private var groupedAudio: [AudioRendition] {
    var audio = Self.uniquelyNamed(self.audio)
    let members = Dictionary(grouping: audio, by: \.groupID).values.map { Set($0.map(\.member)) }
    if Set(members).count > 1 {
      for index in audio.indices { audio[index].groupID = "audio" }
      audio = Self.uniquelyNamed(audio)
    }
    let usual = (audio.first(where: \.isDefault) ?? audio.first)?.member
    for index in audio.indices { audio[index].isDefault = audio[index].member == usual }
    return audio
  }

  /// The subtitle renditions with unique names; at most one is the default.
  private var groupedSubtitles: [SubtitleRendition] {
    let usual = subtitles.firstIndex(where: \.isDefault)
    var names: Set<String> = []
    return subtitles.enumerated().map { index, rendition in
      var rendition = rendition
      var number = 2
      while !names.insert(rendition.name).inserted {
        rendition.name = "\(subtitles[index].name) \(number)"
        number += 1
      }
      rendition.isDefault = index == usual
      return rendition
    }
  }

  /// Adds numbers to names that a group has already.
  private static func uniquelyNamed(_ audio: [AudioRendition]) -> [AudioRendition] {
    var names: [String: Set<String>] = [:]
    return audio.map { rendition in
      var rendition = rendition
      var number = 2
      let name = rendition.name
      while !names[rendition.groupID, default: []].insert(rendition.name).inserted {
        rendition.name = "\(name) \(number)"
        number += 1
      }
      return rendition
    }
  }

  /// The variant for players that have no picture to show, or no bandwidth for it: the audio that
  /// players choose by default.
  private static func audioOnly(_ audio: [AudioRendition], subtitles: String?) -> [String] {
    guard let rendition = audio.first(where: \.isDefault) else { return [] }
    var attributes = AttributeList()
    let group = AudioGroup(rendition)
    attributes.add("BANDWIDTH", String(group.bandwidth))
    attributes.add("AVERAGE-BANDWIDTH", String(group.averageBandwidth))
    attributes.add("CODECS", quoted: group.codecs)
    attributes.add("AUDIO", quoted: group.id)
    attributes.add("SUBTITLES", quoted: subtitles)
    return ["#EXT-X-STREAM-INF:\(attributes.text)", rendition.uri]
  }

  /// Returns the groups to combine with each variant; one nil without audio.
  private static func groups(of audio: [AudioRendition]) -> [AudioGroup?] {
    var groups: [AudioGroup] = []
    for rendition in audio {
      if let index = groups.firstIndex(where: { $0.id == rendition.groupID }) {
        groups[index].add(rendition)
      } else {
        groups.append(AudioGroup(rendition))
      }
    }
    return groups.isEmpty ? [nil] : groups
  }
}

/// The audio renditions with one group ID, which are combined with each variant.
struct AudioGroup: Equatable {
  let id: String
  /// Of all renditions, separated by commas.
  private(set) var codecs: String
  private(set) var bandwidth: UInt64
  private(set) var averageBandwidth: UInt64

  init(_ rendition: AudioRendition) {
    (id, codecs) = (rendition.groupID, rendition.codecs)
    (bandwidth, averageBandwidth) = (rendition.bandwidth, rendition.averageBandwidth)
  }

  mutating func add(_ rendition: AudioRendition) {
    if !codecs.split(separator: ",").contains(Substring(rendition.codecs)) {
      codecs += ",\(rendition.codecs)"
    }
    bandwidth = max(bandwidth, rendition.bandwidth)
    averageBandwidth = max(averageBandwidth, rendition.averageBandwidth)
  }
}

/// A video rendition (`EXT-X-STREAM-INF`) or its I-frames (`EXT-X-I-FRAME-STREAM-INF`).
public struct Variant: Equatable, Sendable {
  /// URI of the media playlist.
  public var uri: String
  /// Peak segment bit rate without audio, in bits per second.
  public var bandwidth: UInt64
  /// Average bit rate without audio, in bits per second.
  public var averageBandwidth: UInt64
  /// RFC 6381, such as `hvc1.1.6.L123.B0`.
  public var codecs: String
  /// Width of one eye, in pixels.
  public var width: Int
  /// Height of one eye, in pixels.
  public var height: Int
  /// Nil if unknown or variable.
  public var frameRate: FrameRate?
  /// Dynamic range.
  public var range: VideoRange
  /// Those that the pictures have by turns, the one of most of them first.
  public var layouts: [RenditionLayout]

  /// Creates a variant with unknown frame rate.
  public init(
    _ uri: String, bandwidth: UInt64, averageBandwidth: UInt64, codecs: String, width: Int,
    height: Int, range: VideoRange = .standard, layouts: [RenditionLayout]
  ) {
    (self.uri, self.bandwidth, self.averageBandwidth) = (uri, bandwidth, averageBandwidth)
    (self.codecs, self.width, self.height) = (codecs, width, height)
    (self.range, self.layouts) = (range, layouts)
  }

  /// Returns the I-frame variant of this one, whose playlist is at `uri`.
  ///
  /// - Parameters:
  ///   - bandwidth, averageBandwidth: Peak and average bit rate of the I-frames alone, in bits per
  ///     second.
  public func iFrames(_ uri: String, bandwidth: UInt64, averageBandwidth: UInt64) -> Variant {
    Variant(
      uri, bandwidth: bandwidth, averageBandwidth: averageBandwidth, codecs: codecs, width: width,
      height: height, range: range, layouts: layouts)
  }

  /// Returns the attributes common to both tags.
  private func attributes(group: AudioGroup? = nil) -> AttributeList {
    var attributes = AttributeList()
    attributes.add("BANDWIDTH", String(bandwidth &+ (group?.bandwidth ?? 0)))
    attributes.add("AVERAGE-BANDWIDTH", String(averageBandwidth &+ (group?.averageBandwidth ?? 0)))
    attributes.add("CODECS", quoted: group.map { "\(codecs),\($0.codecs)" } ?? codecs)
    attributes.add("RESOLUTION", "\(width)x\(height)")
    attributes.add("FRAME-RATE", frameRate.map { quotient($0.numerator, $0.denominator) })
    attributes.add("VIDEO-RANGE", range.rawValue)
    if !layouts.isMonoRectilinear { attributes.add("REQ-VIDEO-LAYOUT", quoted: layouts.text) }
    return attributes
  }

  fileprivate func lines(group: AudioGroup?, subtitles: String?) -> [String] {
    var attributes = attributes(group: group)
    attributes.add("AUDIO", quoted: group?.id)
    attributes.add("SUBTITLES", quoted: subtitles)
    attributes.add("CLOSED-CAPTIONS", "NONE")
    return ["#EXT-X-STREAM-INF:\(attributes.text)", uri]
  }

  fileprivate var iFrameLine: String {
    var attributes = attributes()
    attributes.add("URI", quoted: uri)
    return "#EXT-X-I-FRAME-STREAM-INF:\(attributes.text)"
  }
}

/// Frames per second as a fraction.
public struct FrameRate: Equatable, Sendable {
  /// Frames per ``denominator`` seconds.
  public var numerator: UInt64
  /// Number of seconds; above 0.
  public var denominator: UInt64

  /// Creates a frame rate.
  public init(_ numerator: UInt64, _ denominator: UInt64 = 1) {
    (self.numerator, self.denominator) = (numerator, denominator)
  }

  /// As written in DASH manifests: `30000/1001`.
  var text: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}

/// The dynamic range of a variant, by its transfer characteristics.
public enum VideoRange: String, Sendable {
  /// BT.709 and similar.
  case standard = "SDR"
  /// ARIB STD-B67.
  case hybridLogGamma = "HLG"
  /// SMPTE ST 2084.
  case perceptualQuantizer = "PQ"

  /// - Parameter transferCharacteristics: ITU-T H.273 code point.
  public init(transferCharacteristics: Int?) {
    switch transferCharacteristics {
    case 16: self = .perceptualQuantizer
    case 18: self = .hybridLogGamma
    default: self = .standard
    }
  }
}

/// An audio rendition (`EXT-X-MEDIA`).
public struct AudioRendition: Equatable, Sendable {
  /// URI of the media playlist.
  public var uri: String
  /// Common to renditions that are coded alike. Written so only if the groups have the same
  /// members; otherwise all are one group.
  public var groupID: String
  /// Shown to users; unique within the group, else a number is added.
  public var name: String
  /// A BCP 47 tag.
  public var language: String?
  /// Whether players choose this rendition by default.
  public var isDefault: Bool
  /// Number of audio channels.
  public var channelCount: Int
  /// RFC 6381, such as `mp4a.40.2`.
  public var codecs: String
  /// Peak segment bit rate, in bits per second.
  public var bandwidth: UInt64
  /// Average bit rate, in bits per second.
  public var averageBandwidth: UInt64

  /// Creates an audio rendition.
  public init(
    _ uri: String, groupID: String, name: String, language: String? = nil, isDefault: Bool,
    channelCount: Int, codecs: String, bandwidth: UInt64, averageBandwidth: UInt64
  ) {
    (self.uri, self.groupID, self.name, self.language) = (uri, groupID, name, language)
    (self.isDefault, self.channelCount, self.codecs) = (isDefault, channelCount, codecs)
    (self.bandwidth, self.averageBandwidth) = (bandwidth, averageBandwidth)
  }

  /// The identity within a group.
  fileprivate var member: String { "\(language ?? "")/\(name)" }

  fileprivate var line: String {
    var attributes = AttributeList()
    attributes.add("TYPE", "AUDIO")
    attributes.add("GROUP-ID", quoted: groupID)
    attributes.add("NAME", quoted: name)
    attributes.add("LANGUAGE", quoted: language)
    attributes.add("DEFAULT", isDefault ? "YES" : "NO")
    attributes.add("AUTOSELECT", "YES")
    attributes.add("CHANNELS", quoted: String(channelCount))
    attributes.add("URI", quoted: uri)
    return "#EXT-X-MEDIA:\(attributes.text)"
  }
}

/// The way in which pictures must be presented: one entry of `REQ-VIDEO-LAYOUT`
/// (draft-pantos-hls-rfc8216bis 4.4.6.2).
public struct RenditionLayout: Equatable, Sendable {
  /// The surface that pictures are projected onto; raw values are those of `REQ-VIDEO-LAYOUT`.
  public enum Projection: String, Sendable, CaseIterable {
    /// A plane.
    case rectilinear = "PROJ-RECT"
    /// A sphere, 360 degrees.
    case equirectangular = "PROJ-EQUI"
    /// Half a sphere, 180 degrees.
    case halfEquirectangular = "PROJ-HEQU"
    /// Defined by the lens parameters of each picture.
    case parametricImmersive = "PROJ-PRIM"
  }

  /// Whether the pictures have two eyes.
  public var isStereo: Bool
  /// The surface that pictures are projected onto.
  public var projection: Projection

  /// Creates a layout.
  public init(isStereo: Bool, projection: Projection = .rectilinear) {
    self.isStereo = isStereo
    self.projection = projection
  }

  /// Whether this is a single view on a plane, which needs no entry.
  public var isMonoRectilinear: Bool { !isStereo && projection == .rectilinear }

  /// Such as `CH-STEREO/PROJ-HEQU`; a plane is omitted.
  public var text: String {
    let channels = isStereo ? "CH-STEREO" : "CH-MONO"
    return projection == .rectilinear ? channels : "\(channels)/\(projection.rawValue)"
  }
}

extension [RenditionLayout] {
  /// Nothing of it needs words.
  var isMonoRectilinear: Bool { allSatisfy(\.isMonoRectilinear) }

  /// The value of `REQ-VIDEO-LAYOUT`: one entry per layout.
  var text: String { map(\.text).joined(separator: ",") }
}
