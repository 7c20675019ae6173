// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Packager
import StereoVideo

/// How playlists change over time, as a property: names and values are those of `hlscmafsink`.
enum PlaylistType: Int32, EnumType {
  case unspecified = 0
  case event = 1
  case vod = 2

  static let typeName = "GstMVHEVCHLSSinkPlaylistType"

  var names: (nick: String, description: String) {
    switch self {
    case .unspecified: ("unspecified", "Live: old segments are removed from the playlists")
    case .event: ("event", "Segments are never removed")
    case .vod: ("vod", "Segments are never removed, and the playlists are final at the end")
    }
  }

  var kind: MediaPlaylist.Kind {
    switch self {
    case .unspecified: .live
    case .event: .event
    case .vod: .onDemand
    }
  }
}

/// Properties of `mvhevchlssink`.
struct HLSSettings: Sendable {
  var segmentNames: String? = FileNames().segment
  var initializationNames: String? = FileNames().initialization
  var playlistNames: String? = FileNames().playlist
  var multivariantPlaylist: String? = FileNames().multivariantPlaylist
  var manifest: String?
  /// In seconds.
  var targetDuration: Int32 = 6
  /// 0 for the target duration.
  var segmentDuration: ClockTime = 0
  /// 0 means to wait without limit.
  var padTimeout: ClockTime = 2 * .second
  /// 0 for no parts.
  var partDuration: ClockTime = 0
  var type = PlaylistType.unspecified
  var playlistLength: Int32 = 5
  var hasEnd = true
  var hasDates = true
  var hasMonoRendition = true
  var hasIFramePlaylist = true
  var sendsKeyframeRequests = true
  var continues = false
  var overwrites = false
  /// Nil for segments that are not encrypted.
  var keyFile: String?
  var hasCues = false
  /// Names of pads, separated by commas.
  var forcedSubtitles: String?

  /// The pads whose subtitles are shown even if the viewer wants none.
  var forcedPads: Set<String> {
    Set((forcedSubtitles ?? "").split { $0 == "," || $0 == " " }.map(String.init))
  }

  var packager: PackagerSettings {
    var settings = PackagerSettings()
    let usual = FileNames()
    settings.names.segment = segmentNames ?? usual.segment
    settings.names.initialization = initializationNames ?? usual.initialization
    settings.names.playlist = playlistNames ?? usual.playlist
    settings.names.iFramePlaylist = Self.iFramePlaylist(settings.names.playlist)
    settings.names.multivariantPlaylist = multivariantPlaylist.flatMap { $0.isEmpty ? nil : $0 }
    settings.names.manifest = manifest.flatMap { $0.isEmpty ? nil : $0 }
    settings.kind = type.kind
    settings.targetDuration = Int(targetDuration)
    settings.segmentDuration = segmentDuration.nanoseconds
    settings.partDuration = partDuration.nanoseconds
    settings.playlistLength = Int(playlistLength)
    settings.patience = InterleaveLimiter.maximumLead.nanoseconds * 6 / 5
    settings.hasEnd = hasEnd
    // The time at which a finished movie was packaged is of no use to clients.
    settings.hasDates = hasDates && type != .vod
    settings.requestsKeyframes = sendsKeyframeRequests
    settings.hasCues = hasCues
    return settings
  }

  /// Returns the path of the I-frame playlist, beside the playlist: `video_0/iframe.m3u8`, or
  /// `video_0-iframe.m3u8` if playlists have no folders of their own.
  private static func iFramePlaylist(_ playlist: String) -> String {
    guard let slash = playlist.lastIndex(of: "/"), playlist[..<slash].contains("%s") else {
      guard let dot = playlist.lastIndex(of: ".") else { return playlist + "-iframe" }
      return "\(playlist[..<dot])-iframe\(playlist[dot...])"
    }
    return playlist[...slash] + "iframe.m3u8"
  }

  static let properties: [Property<MVHEVCHLSSink>] = [
    .string(
      "location", nick: "Location",
      blurb: "Segment files: %s is the rendition, %05d the number",
      default: FileNames().segment, at: \.segmentNames),
    .string(
      "init-location", nick: "Init location",
      blurb: "Initialization section files: %s is the rendition, %05d the number",
      default: FileNames().initialization, at: \.initializationNames),
    .string(
      "playlist-location", nick: "Playlist location",
      blurb: "Media playlists: %s is the rendition", default: FileNames().playlist,
      at: \.playlistNames),
    .string(
      "multivariant-playlist-location", nick: "Multivariant playlist location",
      blurb: "Playlist that lists all renditions", default: FileNames().multivariantPlaylist,
      at: \.multivariantPlaylist),
    .string(
      "mpd-location", nick: "MPD location",
      blurb: "DASH manifest for the same segments (empty = none)", at: \.manifest),
    .int(
      "target-duration", nick: "Target duration",
      blurb: "Maximum duration of segments that playlists promise, in seconds",
      in: 1...3600, default: 6, at: \.targetDuration),
    .time(
      "segment-duration", nick: "Segment duration",
      blurb: "Intended duration of segments, in nanoseconds: a segment ends at the first keyframe "
        + "after it, or before if the next would exceed target-duration (0 = target-duration)",
      at: \.segmentDuration),
    .time(
      "pad-timeout", nick: "Pad timeout",
      blurb: "In live pipelines, how long to wait for a pad without data, in nanoseconds; then its "
        + "playlists have a gap (0 = without limit)",
      default: 2 * .second, at: \.padTimeout),
    .time(
      "part-duration", nick: "Part duration",
      blurb: "Duration of partial segments, in nanoseconds, for low latency (0 = none)",
      at: \.partDuration),
    .choice(
      "playlist-type", nick: "Playlist type", blurb: "How playlists change over time",
      default: .unspecified, at: \.type),
    .int(
      "playlist-length", nick: "Playlist length",
      blurb: "Number of segments in a live playlist (0 = all)", in: 0...100_000, default: 5,
      at: \.playlistLength),
    .bool(
      "enable-endlist", nick: "Enable endlist",
      blurb: "Whether playlists are marked as complete at the end", default: true, at: \.hasEnd),
    .bool(
      "enable-program-date-time", nick: "Enable program date-time",
      blurb:
        "Whether playlists, except with playlist-type=vod, contain the wall-clock time of segments",
      default: true,
      at: \.hasDates),
    .bool(
      "mono-rendition", nick: "Mono rendition",
      blurb: "Whether to add a rendition of the base eye to layered video, without encoding",
      default: true, at: \.hasMonoRendition),
    .bool(
      "iframe-playlist", nick: "I-frame playlist",
      blurb: "Whether to write a playlist of keyframes, for trick play",
      default: true, at: \.hasIFramePlaylist),
    .bool(
      "send-keyframe-requests", nick: "Send keyframe requests",
      blurb: "Whether to request keyframes from encoders where segments should begin",
      default: true, at: \.sendsKeyframeRequests),
    .bool(
      "append", nick: "Append",
      blurb: "Whether to append to existing playlists, after a discontinuity, instead of "
        + "overwriting them", default: false, at: \.continues),
    .bool(
      "overwrite", nick: "Overwrite",
      blurb: "Whether to remove the stream of an earlier run that has these names, unless it is "
        + "the window of a live stream, which another one may replace", default: false,
      at: \.overwrites),
    .bool(
      "cue-tags", nick: "Cue tags",
      blurb: "Whether playlists have EXT-X-CUE-OUT and EXT-X-CUE-IN at breaks, too", default: false,
      at: \.hasCues),
    .string(
      "encryption-key-file", nick: "Encryption key file",
      blurb: "File with the key by which segments are encrypted (cbcs), and with the places where "
        + "players get it: lines with key, key-id, hls-key, pssh, iv (empty = not encrypted); "
        + "when it changes, the next segments have the new key",
      mutable: .playing, at: \.keyFile),
    .string(
      "forced-subtitles", nick: "Forced subtitles",
      blurb: "Pads whose subtitles players show even if the viewer wants none, separated by "
        + "commas: subtitle_1,subtitle_2", at: \.forcedSubtitles),
    MVHEVCHLSSink.statistics,
  ]
}
