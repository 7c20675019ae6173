// SPDX-License-Identifier: MPL-2.0

/// The playlist of playlists: what can be played, for players to choose from
/// (draft-pantos-hls-rfc8216bis 4.4.6).
public struct MultivariantPlaylist: Equatable, Sendable {
  /// Best first: players begin with the first.
  public var variants: [Variant] = []
  public var audio: [AudioRendition] = []
  /// Playlists of single pictures, for moving through the movie fast; see
  /// ``Variant/iFrames(_:bandwidth:averageBandwidth:)``.
  public var iFrames: [Variant] = []

  public init() {}

  /// The file.
  public var text: String {
    let needsLayout = (variants + iFrames).contains { !$0.layouts.isUsual }
    var lines = [
      "#EXTM3U", "#EXT-X-VERSION:\(needsLayout ? 12 : 6)", "#EXT-X-INDEPENDENT-SEGMENTS",
    ]
    lines += audio.map(\.line)
    lines += variants.flatMap { variant in
      audioGroups(of: variant).flatMap { variant.lines(group: $0) }
    }
    lines += iFrames.map(\.iFrameLine)
    return lines.joined(separator: "\n") + "\n"
  }

  /// What players that know no layouts can play; nil where there is nothing for them. Clients that
  /// do not know version 12 must not play a playlist of that version, so it is a file of its own.
  public var withoutLayouts: MultivariantPlaylist? {
    var playlist = self
    playlist.variants.removeAll { !$0.layouts.isUsual }
    playlist.iFrames.removeAll { !$0.layouts.isUsual }
    return playlist.variants.isEmpty ? nil : playlist
  }

  private func audioGroups(of variant: Variant) -> [AudioGroup?] {
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

/// Renditions of sound that are coded alike, of which a variant is played with one.
struct AudioGroup: Equatable {
  let id: String
  let codecs: String
  private(set) var bandwidth: UInt64
  private(set) var averageBandwidth: UInt64

  init(_ rendition: AudioRendition) {
    (id, codecs) = (rendition.groupID, rendition.codecs)
    (bandwidth, averageBandwidth) = (rendition.bandwidth, rendition.averageBandwidth)
  }

  mutating func add(_ rendition: AudioRendition) {
    bandwidth = max(bandwidth, rendition.bandwidth)
    averageBandwidth = max(averageBandwidth, rendition.averageBandwidth)
  }
}

/// A playlist of video (`EXT-X-STREAM-INF`), or of single pictures of one
/// (`EXT-X-I-FRAME-STREAM-INF`).
public struct Variant: Equatable, Sendable {
  public var uri: String
  /// The largest rate of any segment or two, and of all, without sound; bits a second.
  public var bandwidth: UInt64
  public var averageBandwidth: UInt64
  /// RFC 6381: `hvc1.1.6.L123.B0`.
  public var codecs: String
  /// Of one eye, in pixels.
  public var width: Int
  public var height: Int
  /// Nil where it is not known, or varies.
  public var frameRate: FrameRate?
  public var range: VideoRange
  /// Those that the pictures have by turns, the one of most of them first.
  public var layouts: [RenditionLayout]

  public init(
    _ uri: String, bandwidth: UInt64, averageBandwidth: UInt64, codecs: String, width: Int,
    height: Int, range: VideoRange = .standard, layouts: [RenditionLayout]
  ) {
    (self.uri, self.bandwidth, self.averageBandwidth) = (uri, bandwidth, averageBandwidth)
    (self.codecs, self.width, self.height) = (codecs, width, height)
    (self.range, self.layouts) = (range, layouts)
  }

  /// The playlist `uri` of this one's pictures that are decoded alone.
  ///
  /// - Parameters:
  ///   - bandwidth, averageBandwidth: of the pictures alone, in bits a second.
  public func iFrames(_ uri: String, bandwidth: UInt64, averageBandwidth: UInt64) -> Variant {
    Variant(
      uri, bandwidth: bandwidth, averageBandwidth: averageBandwidth, codecs: codecs, width: width,
      height: height, range: range, layouts: layouts)
  }

  /// What is said of video and of single pictures.
  private func attributes(group: AudioGroup? = nil) -> AttributeList {
    var attributes = AttributeList()
    attributes.add("BANDWIDTH", String(bandwidth &+ (group?.bandwidth ?? 0)))
    attributes.add("AVERAGE-BANDWIDTH", String(averageBandwidth &+ (group?.averageBandwidth ?? 0)))
    attributes.add("CODECS", quoted: group.map { "\(codecs),\($0.codecs)" } ?? codecs)
    attributes.add("RESOLUTION", "\(width)x\(height)")
    attributes.add("FRAME-RATE", frameRate.map { quotient($0.numerator, $0.denominator) })
    attributes.add("VIDEO-RANGE", range.rawValue)
    if !layouts.isUsual { attributes.add("REQ-VIDEO-LAYOUT", quoted: layouts.text) }
    return attributes
  }

  fileprivate func lines(group: AudioGroup?) -> [String] {
    var attributes = attributes(group: group)
    attributes.add("AUDIO", quoted: group?.id)
    attributes.add("CLOSED-CAPTIONS", "NONE")
    return ["#EXT-X-STREAM-INF:\(attributes.text)", uri]
  }

  fileprivate var iFrameLine: String {
    var attributes = attributes()
    attributes.add("URI", quoted: uri)
    return "#EXT-X-I-FRAME-STREAM-INF:\(attributes.text)"
  }
}

/// Frames a second, as a fraction.
public struct FrameRate: Equatable, Sendable {
  public var numerator: UInt64
  public var denominator: UInt64

  public init(_ numerator: UInt64, _ denominator: UInt64 = 1) {
    (self.numerator, self.denominator) = (numerator, denominator)
  }

  /// As DASH has it: `30000/1001`.
  var text: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}

/// The transfer characteristics of a variant.
public enum VideoRange: String, Sendable {
  /// BT.709 and its kin.
  case standard = "SDR"
  /// ARIB STD-B67.
  case hybridLogGamma = "HLG"
  /// SMPTE ST 2084.
  case perceptualQuantizer = "PQ"

  /// - Parameter transferCharacteristics: of ITU-T H.273.
  public init(transferCharacteristics: Int?) {
    switch transferCharacteristics {
    case 16: self = .perceptualQuantizer
    case 18: self = .hybridLogGamma
    default: self = .standard
    }
  }
}

/// A playlist of sound (`EXT-X-MEDIA`).
public struct AudioRendition: Equatable, Sendable {
  public var uri: String
  /// Of the renditions that are coded alike.
  public var groupID: String
  /// For people; unlike all others of the group.
  public var name: String
  /// A BCP 47 tag.
  public var language: String?
  public var isDefault: Bool
  public var channelCount: Int
  /// RFC 6381: `mp4a.40.2`.
  public var codecs: String
  /// Bits a second.
  public var bandwidth: UInt64
  public var averageBandwidth: UInt64

  public init(
    _ uri: String, groupID: String, name: String, language: String? = nil, isDefault: Bool,
    channelCount: Int, codecs: String, bandwidth: UInt64, averageBandwidth: UInt64
  ) {
    (self.uri, self.groupID, self.name, self.language) = (uri, groupID, name, language)
    (self.isDefault, self.channelCount, self.codecs) = (isDefault, channelCount, codecs)
    (self.bandwidth, self.averageBandwidth) = (bandwidth, averageBandwidth)
  }

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

/// How pictures are to be looked at: one entry of `REQ-VIDEO-LAYOUT`
/// (draft-pantos-hls-rfc8216bis 4.4.6.2).
public struct RenditionLayout: Equatable, Sendable {
  public enum Projection: String, Sendable, CaseIterable {
    /// On a plane.
    case rectilinear = "PROJ-RECT"
    /// 360 degrees.
    case equirectangular = "PROJ-EQUI"
    /// 180 degrees.
    case halfEquirectangular = "PROJ-HEQU"
    /// By the lens parameters of each picture.
    case parametricImmersive = "PROJ-PRIM"
  }

  public var isStereo: Bool
  public var projection: Projection

  public init(isStereo: Bool, projection: Projection = .rectilinear) {
    self.isStereo = isStereo
    self.projection = projection
  }

  /// One eye on a plane, which needs no words.
  public var isUsual: Bool { !isStereo && projection == .rectilinear }

  /// `CH-STEREO/PROJ-HEQU`; a plane is not said.
  public var text: String {
    let channels = isStereo ? "CH-STEREO" : "CH-MONO"
    return projection == .rectilinear ? channels : "\(channels)/\(projection.rawValue)"
  }
}

extension [RenditionLayout] {
  /// Nothing of it needs words.
  var isUsual: Bool { allSatisfy(\.isUsual) }

  /// The value of `REQ-VIDEO-LAYOUT`: an entry for each layout that is shown by turns.
  var text: String { map(\.text).joined(separator: ",") }
}
