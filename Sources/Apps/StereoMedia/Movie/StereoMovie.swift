// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import ISOBMFF
@_exported public import StereoVideo

/// A movie's properties: tracks, layers and eyes, stereo geometry, and the time of each frame.
///
/// Only the movie's index is read; nothing is decoded.
///
/// ```swift
/// let movie = try await StereoMovie("movie.mov")
/// guard movie.isSpatial else { return print(movie.verdict.missing) }
/// for layer in movie.video?.layers ?? [] {
///   print(layer.nuhLayerID, layer.viewID, layer.eye as Any)
/// }
/// ```
public struct StereoMovie: Sendable {
  /// The file format of a movie.
  public enum Container: Equatable, Sendable {
    /// A QuickTime movie, `.mov`.
    case quickTime
    /// An MP4 file (ISO/IEC 14496-14) or another format based on ISO/IEC 14496-12.
    case mp4
    /// H.265 or H.264 without a container (Annex B of each).
    case byteStream
    /// Another format, by its name, such as Matroska: the streams are copied into a temporary
    /// movie, since it has no index of all frames.
    case other(String)
  }

  /// The path that was passed in.
  public let path: String
  /// The file format.
  public let container: Container
  /// Whether the movie is fragmented, with parts of its index throughout the file.
  public let isFragmented: Bool
  /// Size of the file in bytes.
  public let byteCount: Int
  /// Duration of the movie; nil if it is unknown.
  public let duration: Duration?
  /// All tracks, in file order.
  public let tracks: [Track]
  /// The first video track; nil if there is none.
  public let video: VideoTrack?
  /// The title, date, place and so on.
  public let metadata: Metadata
  /// Defects of the file and assumptions that had to be made, one line each.
  public let warnings: [String]
  /// Whether Apple devices show the movie as spatial, and the reasons if they do not.
  public let verdict: SpatialVerdict
  /// Whether Apple devices show the movie as spatial.
  public var isSpatial: Bool { verdict.isSpatial }

  package let source: MovieSource
  package var facts: MovieFacts { source.facts }

  /// Reads the index of a QuickTime or MP4 movie. H.264 and H.265 without a container, or in
  /// Matroska and MPEG transport streams, are first copied into a temporary movie without a name,
  /// which takes as much space as the file and is gone with the process.
  ///
  /// - Throws: a ``StereoMediaError`` if the file cannot be opened or is not a movie.
  public init(_ path: String) async throws {
    self.init(try await MovieSource(path), path)
  }

  /// Reads a movie, and recognizes the layout of its pictures if they are not layered.
  ///
  /// - Parameter complete: adds what the user specifies.
  package init(
    _ path: String, recognizing complete: @escaping (inout LayoutEvidence) -> Void
  ) async throws {
    self.init(try await MovieSource(path, recognizing: complete), path)
  }

  private init(_ source: MovieSource, _ path: String) {
    self.source = source
    let facts = source.facts
    let movie = facts.reader.movie
    self.path = path
    container =
      switch facts.copiedFrom {
      case .byteStream, .h264ByteStream: .byteStream
      case let format?: .other(format.rawValue)
      case nil: facts.reader.fileType?.isQuickTime ?? true ? .quickTime : .mp4
      }
    isFragmented = movie.isFragmented
    byteCount = Int(clamping: facts.reader.size)
    duration = movie.seconds.map(Duration.init(clampedSeconds:))
    tracks = movie.tracks.map(Track.init)
    video = VideoTrack(facts)
    metadata = Metadata(movie)
    warnings = facts.warnings
    verdict = SpatialVerdict(facts)
  }
}

extension StereoMovie {
  /// A track of a movie.
  public struct Track: Equatable, Sendable {
    /// The media type of a track.
    public enum Kind: Equatable, Sendable {
      /// Pictures, or audio.
      case video, audio
      /// Another type, by its handler type, such as `meta` or `text`.
      case other(String)
    }

    /// The track ID: in a valid file, unique and greater than 0.
    public let id: Int
    /// The media type.
    public let kind: Kind
    /// The four-character code of the sample entry, such as `hvc1`; nil if there is none.
    public let codec: String?
    /// Number of samples: frames, or audio packets.
    public let sampleCount: Int
    /// Duration of the track's media; nil if it is unknown.
    public let duration: Duration?
    /// ISO 639-2 code or BCP 47 tag; `und` if it is unknown.
    public let language: String

    init(_ track: ISOBMFF.Track) {
      id = Int(track.id.rawValue)
      kind =
        switch track.handlerType {
        case "vide": .video
        case "soun": .audio
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

  /// The arrangement of the eyes in a track.
  public enum Layout: Equatable, Sendable {
    /// Each eye has a layer of its own (MV-HEVC), or a view of its own (H.264 MVC).
    case multiview
    /// Both eyes share each frame, or alternate from frame to frame.
    case packed(PackingLayout)
    /// One picture for both eyes, according to the movie.
    case mono
  }

  /// A layer of a multiview track.
  public struct Layer: Equatable, Sendable {
    /// `nuh_layer_id` (H.265 7.4.2.2)
    public let nuhLayerID: Int
    /// `ViewId` (H.265 F.7.4.3.1.1)
    public let viewID: Int
    /// The eye that the layer shows; nil if it is not assigned to one.
    public let eye: Eye?
    /// Whether this is the base layer, which decoders without MV-HEVC support show.
    public let isBase: Bool
  }

  /// The video track of a movie.
  public struct VideoTrack: Sendable {
    /// The ID of its entry in ``StereoMovie/tracks``.
    public let id: Int
    /// The arrangement of the eyes.
    public let layout: Layout
    /// The layers, base layer first; empty if the video is not layered H.265.
    public let layers: [Layer]
    /// Stored width of one eye's picture, in pixels.
    public let eyeWidth: Int
    /// Stored height of one eye's picture, in pixels.
    public let eyeHeight: Int
    /// Average frame rate in frames per second; nil if it is unknown.
    public let frameRate: Double?
    /// The colour space that the file signals; nil if it does not, although its coded pictures may.
    public let colour: ColourInformation?
    /// The mastering display that the file signals; nil if there is none.
    public let masteringDisplay: MasteringDisplayColourVolume?
    /// The light levels that the file signals; nil if there are none.
    public let contentLightLevel: ContentLightLevel?
    /// The stereo geometry; fields that are missing in the movie are nil.
    public let spatial: SpatialMetadata
    /// The frames, in presentation order.
    public let frames: FrameIndex

    init?(_ facts: MovieFacts) {
      guard let track = facts.video else { return nil }
      id = Int(track.id.rawValue)
      var (width, height) = (Int(facts.entry?.width ?? 0), Int(facts.entry?.height ?? 0))
      switch facts.stereo {
      case .layered, .twoViews: layout = .multiview
      case .packed(let packing):
        layout = .packed(packing)
        // The whole frame is turned before it is split.
        let isOnItsSide = [90, 270].contains(track.description.orientation.clockwiseRotation)
        if isOnItsSide { (width, height) = (height, width) }
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
      colour = facts.entry?.colour
      masteringDisplay = facts.entry?.masteringDisplay
      contentLightLevel = facts.entry?.contentLightLevel
      spatial = facts.metadata
      frames = facts.frames
    }
  }
}

extension Duration {
  /// Clamps to a range that `Duration` can hold, as a file may contain any number.
  fileprivate init(clampedSeconds seconds: Double) { self = .seconds(min(max(seconds, 0), 1e12)) }
}
