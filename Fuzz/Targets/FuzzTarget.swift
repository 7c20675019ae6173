// SPDX-License-Identifier: MPL-2.0

/// The entry points for hostile input: `make fuzz` searches for new failures, and the tests run the
/// inputs found so far.
///
/// A target passes if it returns soon and with bounded memory; a trap ends the process.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// The box reader, with a movie.
  case boxes
  /// Parameter sets, SEI and decoder configuration records, with one of these.
  case parameterSets = "parameter-sets"
  /// Slice segment headers, with a byte stream.
  case slices
  /// Flattening, unweaving and base layer extraction, with a layered byte stream.
  case flatten
  /// Splitting into eyes, with a layered byte stream.
  case splitEyes = "split-eyes"
  /// Flattening of H.264 MVC and extraction of its views, with a byte stream of both views.
  case flattenMVC = "flatten-mvc"
  /// The same with an elementary stream for each view, and records, with buffers.
  case pairMVC = "pair-mvc"
  /// Demuxing of both views, and searching, with a transport stream.
  case transportStream = "transport-stream"
  /// Weaving, with a layered byte stream whose layers are used as the two eyes' streams.
  case weave
  /// The movie player, without GStreamer.
  case player
  /// Recovering an interrupted recording.
  case recovery
  /// Media playlists, parsed and written again.
  case playlists
  /// Spherical metadata of Apple and Google, with the content of a box.
  case immersive
  /// Projections and lenses with arbitrary parameters, and pictures drawn with them.
  case geometry
  /// `mvhevcdemux` in push mode, with a movie.
  case demuxPush = "demux-push"
  /// `mvhevcdemux` in pull mode, with a movie.
  case demuxPull = "demux-pull"

  /// Runs the target with one input.
  public func run(_ bytes: [UInt8]) {
    switch self {
    case .boxes: readBoxes(bytes)
    case .parameterSets: readParameterSets(bytes)
    case .slices: readSlices(bytes)
    case .flatten: flattenLayers(bytes)
    case .splitEyes: splitIntoEyes(bytes)
    case .flattenMVC: flattenViews(bytes)
    case .pairMVC: pairViews(bytes)
    case .transportStream: demuxTransportStream(bytes)
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

  /// Whether the target needs the plugin to be registered.
  public var needsPlugin: Bool { self == .demuxPush || self == .demuxPull }
}
