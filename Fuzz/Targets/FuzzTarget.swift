// SPDX-License-Identifier: MPL-2.0

/// What is fed with hostile input: by `make fuzz`, which looks for more of it, and by the tests,
/// which run what was found.
///
/// A target has done well if it comes back, soon and with its memory bounded: a trap ends the
/// process.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// The box reader, on a movie.
  case boxes
  /// Parameter sets, SEI and decoder configuration records, on one of them.
  case parameterSets = "parameter-sets"
  /// Slice segment headers, on a byte stream.
  case slices
  /// Flattening and its relatives, on a layered byte stream.
  case flatten
  /// Splitting into eyes, on a layered byte stream.
  case splitEyes = "split-eyes"
  /// Weaving, on a layered byte stream whose layers are taken for the eyes.
  case weave
  /// The player of movies, without GStreamer.
  case player
  /// Recovering a recording that was cut off.
  case recovery
  /// Media playlists, read and written again.
  case playlists
  /// Spherical metadata of Apple and Google, on one box's content.
  case immersive
  /// Projections and lenses of any figures, and pictures drawn with them.
  case geometry
  /// `mvhevcdemux` that is pushed a movie.
  case demuxPush = "demux-push"
  /// `mvhevcdemux` that reads a movie.
  case demuxPull = "demux-pull"

  public func run(_ bytes: [UInt8]) {
    switch self {
    case .boxes: readBoxes(bytes)
    case .parameterSets: readParameterSets(bytes)
    case .slices: readSlices(bytes)
    case .flatten: flattenLayers(bytes)
    case .splitEyes: splitIntoEyes(bytes)
    case .weave: weaveLayers(bytes)
    case .player: playMovie(bytes)
    case .recovery: recoverMovie(bytes)
    case .playlists: readPlaylist(bytes)
    case .immersive: readImmersive(bytes)
    case .geometry: drawProjections(bytes)
    case .demuxPush: demux(bytes, byPulling: false)
    case .demuxPull: demux(bytes, byPulling: true)
    }
  }

  /// Whether the target needs the plugin.
  public var needsPlugin: Bool { self == .demuxPush || self == .demuxPull }
}
