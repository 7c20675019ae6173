// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import ISOBMFF
@_exported public import StereoVideo

/// What a movie is: its tracks, its eyes, how they were shot, and when each frame is shown.
///
/// Only the movie's index is read, and nothing is decoded.
///
/// ```swift
/// let movie = try await StereoMovie("movie.mov")
/// guard movie.isSpatial else { return print(movie.verdict.missing) }
/// for layer in movie.video?.layers ?? [] {
///   print(layer.nuhLayerID, layer.viewID, layer.eye as Any)
/// }
/// ```
public struct StereoMovie: Sendable {
  /// What kind of file the movie is in.
  public enum Container: Equatable, Sendable {
    /// A QuickTime movie, `.mov`.
    case quickTime
    /// An MP4 file (ISO/IEC 14496-14), or another kin of ISO/IEC 14496-12.
    case mp4
    /// H.265 without a container (H.265 Annex B).
    case byteStream
  }

  /// The path that was given.
  public let path: String
  /// What kind of file it is.
  public let container: Container
  /// The index comes in parts throughout the file.
  public let isFragmented: Bool
  /// The size of the file.
  public let byteCount: Int
  /// How long the movie plays; nil where it does not say.
  public let duration: Duration?
  /// All tracks, in the file's order.
  public let tracks: [Track]
  /// The first video track; nil where there is none.
  public let video: VideoTrack?
  /// What is wrong with the file or has to be guessed: a line each, for people.
  public let warnings: [String]
  /// Whether Apple's devices show the movie as spatial, and what is missing where they do not.
  public let verdict: SpatialVerdict
  /// Whether Apple's devices show the movie as spatial.
  public var isSpatial: Bool { verdict.isSpatial }

  package let source: MovieSource
  package var facts: MovieFacts { source.facts }

  /// Reads the index of a QuickTime or MP4 movie, or looks into H.265 without a container.
  ///
  /// - Throws: a ``StereoMediaError`` where the file cannot be opened or is no movie.
  public init(_ path: String) async throws {
    source = try await MovieSource(path)
    let facts = source.facts
    let movie = facts.reader.movie
    self.path = path
    container =
      facts.byteStream != nil
      ? .byteStream : facts.reader.fileType?.isQuickTime ?? true ? .quickTime : .mp4
    isFragmented = movie.isFragmented
    byteCount = Int(clamping: facts.reader.size)
    duration = movie.seconds.map(Duration.init(clampedSeconds:))
    tracks = movie.tracks.map(Track.init)
    video = VideoTrack(facts)
    warnings = facts.warnings
    verdict = SpatialVerdict(facts)
  }
}

extension StereoMovie {
  /// One track of a movie.
  public struct Track: Equatable, Sendable {
    /// What a track is for.
    public enum Kind: Equatable, Sendable {
      case video, sound
      /// Something else, by the four characters of its handler, such as `meta` or `text`.
      case other(String)
    }

    /// Above 0, and unlike that of any other track, in a proper file.
    public let id: Int
    /// What the track is for.
    public let kind: Kind
    /// The four characters of its sample entry, such as `hvc1`; nil where it has none.
    public let codec: String?
    /// How many samples it has: frames, or packets of sound.
    public let sampleCount: Int
    /// How long its media is; nil where that is not known.
    public let duration: Duration?
    /// ISO 639-2, or a BCP 47 tag; `und` where it is not known.
    public let language: String

    init(_ track: ISOBMFF.Track) {
      id = Int(track.id.rawValue)
      kind =
        switch track.handlerType {
        case "vide": .video
        case "soun": .sound
        default: .other("\(track.handlerType)")
        }
      codec =
        switch track.sampleEntries.first {
        case .video(let entry): "\(entry.codec)"
        case .audio(let entry): "\(entry.type(in: .quickTime))"
        case .other(let entry): "\(entry.type)"
        case nil: nil
        }
      sampleCount = track.samples.count
      duration = track.seconds.map(Duration.init(clampedSeconds:))
      language = track.language
    }
  }

  /// How a track holds its eyes.
  public enum Layout: Equatable, Sendable {
    /// A layer for each eye: MV-HEVC.
    case multiview
    /// Both eyes in each frame, or in alternate frames.
    case packed(PackingLayout)
    /// One picture for both eyes, as far as the movie says.
    case mono
  }

  /// A layer of a multiview track.
  public struct Layer: Equatable, Sendable {
    /// `nuh_layer_id` (H.265 7.4.2.2)
    public let nuhLayerID: Int
    /// `ViewId` (H.265 F.7.4.3.1.1)
    public let viewID: Int
    /// The eye that the layer shows; nil where it shows none.
    public let eye: Eye?
    /// The layer that plain decoders show.
    public let isBase: Bool
  }

  /// The video of a movie.
  public struct VideoTrack: Sendable {
    /// That of the track among ``StereoMovie/tracks``.
    public let id: Int
    /// How it holds its eyes.
    public let layout: Layout
    /// The base layer first; empty where the video is no layered H.265.
    public let layers: [Layer]
    /// The width of one eye's picture as it is stored, in pixels.
    public let eyeWidth: Int
    /// The height of one eye's picture as it is stored, in pixels.
    public let eyeHeight: Int
    /// Frames a second, on average; nil where the movie does not say.
    public let frameRate: Double?
    /// How the pair was shot; a nil field is not in the movie.
    public let spatial: SpatialMetadata
    /// The frames, in the order in which they are shown.
    public let frames: FrameIndex

    init?(_ facts: MovieFacts) {
      guard let track = facts.video else { return nil }
      id = Int(track.id.rawValue)
      var (width, height) = (Int(facts.entry?.width ?? 0), Int(facts.entry?.height ?? 0))
      switch facts.stereo {
      case .layered: layout = .multiview
      case .packed(let packing):
        layout = .packed(packing)
        if packing.arrangement == .sideBySide { width /= 2 }
        if packing.arrangement == .topBottom { height /= 2 }
      case .no: layout = .mono
      }
      (eyeWidth, eyeHeight) = (width, height)
      layers = (facts.layers?.layers ?? []).enumerated().map { index, layer in
        Layer(
          nuhLayerID: layer.nuhLayerID, viewID: layer.viewID, eye: layer.eye, isBase: index == 0)
      }
      frameRate = facts.frameRate
      spatial = facts.metadata
      frames = facts.frames
    }
  }
}

extension Duration {
  /// What a file says may be beyond what a duration holds.
  fileprivate init(clampedSeconds seconds: Double) { self = .seconds(min(max(seconds, 0), 1e12)) }
}
