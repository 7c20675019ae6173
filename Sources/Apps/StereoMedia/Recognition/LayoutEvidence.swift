// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
package import ISOBMFF
package import StereoVideo

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// All that is known about the layout of a movie's pictures, from the strongest evidence to the
/// weakest. ``RecognizedLayout`` decides from it.
package struct LayoutEvidence: Sendable {
  /// The arrangement of two eyes, if the user specifies it.
  package struct GivenPacking: Equatable, Sendable {
    package var arrangement: PackingLayout.Arrangement
    package var rightViewFirst: Bool
    /// Whether each eye is squeezed to half; nil to recognize it.
    package var isHalf: Bool?

    package init(
      _ arrangement: PackingLayout.Arrangement, rightViewFirst: Bool = false, isHalf: Bool? = nil
    ) {
      self.arrangement = arrangement
      self.rightViewFirst = rightViewFirst
      self.isHalf = isHalf
    }
  }

  /// The eyes as the file or its streams declare them.
  package enum DeclaredEyes: Equatable, Sendable {
    case packed(PackingLayout.Arrangement, rightViewFirst: Bool)
    /// One picture for both eyes.
    case one
    /// A view of H.264 MVC for each eye.
    case twoViews
    /// An arrangement that no element can separate, in words.
    case inseparable(String)
    /// This number of video tracks with frames of the same size, which may be eyes.
    case severalTracks(Int)
  }

  /// The projection as the file declares it.
  package enum DeclaredProjection: Equatable, Sendable {
    case kind(ProjectionKind)
    /// A projection that surrounds the viewer, but that cannot be converted, in words.
    case unsupported(String)
  }

  /// The size of the frames, after the rotation that the file declares.
  package struct Frame: Equatable, Sendable {
    package var width: Int
    package var height: Int
    /// Width of a pixel divided by its height.
    package var pixelShape: Double

    /// - Returns: nil if a size is not positive or the pixels have no usable shape.
    package init?(_ width: Int, _ height: Int, pixelShape: Double = 1) {
      guard width > 0, height > 0, pixelShape.isFinite, (0.01...100).contains(pixelShape) else {
        return nil
      }
      self.width = width
      self.height = height
      self.pixelShape = pixelShape
    }

    /// Width divided by height, in pixels.
    var ratio: Double { Double(width) / Double(height) }
    /// Width divided by height, as displayed.
    var displayedRatio: Double { ratio * pixelShape }

    /// Returns whether the pixels are about twice as wide, or as high, as a square: eyes that were
    /// squeezed to half are displayed in their own shape.
    func hasPixels(undoing arrangement: PackingLayout.Arrangement) -> Bool {
      switch arrangement {
      case .sideBySide: pixelShape > 1.8
      case .topBottom: pixelShape < 0.56
      case .frameByFrame: false
      }
    }
  }

  /// The arrangement that the user specifies.
  package var givenPacking: GivenPacking?
  /// The projection that the user specifies.
  package var givenProjection: RecognizedLayout.Projection?
  /// Whether the other eye is in a file of its own.
  package var isOneEye = false
  package var declaredEyes: DeclaredEyes?
  package var declaredProjection: DeclaredProjection?
  package var name: FileNameLayout
  /// Nil if it is unknown.
  package var frame: Frame?
  /// The result of examining the pictures; nil if they have not been examined.
  package var pictures: PictureFinding?

  /// Creates evidence that consists of a file's name.
  ///
  /// - Parameter path: of the movie, or its URL, whose query is not part of the name.
  package init(path: String) {
    let isURL = MovieLocation.isURL(path)
    name = FileNameLayout(path: isURL ? String(path.prefix { !"?#".contains($0) }) : path)
  }
}

extension RecognizedLayout {
  /// Time limit for the examination of the pictures before a conversion, which a wrong guess would
  /// waste.
  package static let conversionBudget = Duration.seconds(20)
  /// The same before the movie is only described or shown, for which the user waits.
  package static let displayBudget = Duration.seconds(3)

  /// Recognizes the layout of a movie in any container.
  ///
  /// - Parameters:
  ///   - container: the content of the file's index.
  ///   - budget: time limit for the examination of the pictures.
  ///   - complete: adds to the evidence what the user specifies.
  /// - Throws: a ``Refusal``.
  package static func recognize(
    _ path: String, _ container: ContainerFacts, within budget: Duration,
    _ complete: (inout LayoutEvidence) -> Void = { _ in }
  ) async throws(Refusal) -> RecognizedLayout {
    var evidence = LayoutEvidence(path: path)
    switch container {
    case .movie(let facts) where facts.video == nil: throw .noVideo
    case .movie(let facts):
      if let obstacle = facts.entry?.conversionObstacle ?? facts.separateView {
        throw .unreadable(obstacle)
      }
      evidence.declare(facts)
    case .matroska(let video): evidence.declare(video)
    case .multiview, .other: break
    }
    complete(&evidence)
    // Other containers, and what streams declare themselves, are left to GStreamer.
    let probe: Result<PictureProbe, Refusal>
    do throws(Refusal) {
      probe = .success(try await PictureProbe(path: path))
    } catch {
      probe = .failure(error)
    }
    if case .success(let probe) = probe {
      evidence.frame = probe.video.frame ?? evidence.frame
      // Matroska's stereo mode of MVC is that of alternating frames, too.
      let isMVC = probe.video.declaredEyes == .twoViews
      evidence.declaredEyes = (isMVC ? nil : evidence.declaredEyes) ?? probe.video.declaredEyes
    }
    while true {
      switch recognize(evidence) {
      case .recognized(let layout): return layout
      case .refused(let refusal): throw refusal
      case .needsPictures: evidence.pictures = await (try probe.get()).finding(within: budget)
      }
    }
  }
}

/// The content of the index of a file, as far as this project reads it.
package enum ContainerFacts: Sendable {
  /// A QuickTime or MP4 movie.
  case movie(MovieFacts)
  /// A Matroska or WebM file.
  case matroska(MatroskaVideo)
  /// A transport stream or a byte stream with both views of H.264 MVC.
  case multiview
  /// A file of another format.
  case other

  /// Reads a file. Throws a ``StereoMediaError`` if it is a QuickTime or MP4 movie, but damaged:
  /// `decodebin` may lose the error of a demuxer that fails at once, and wait without end.
  package init(path: String) throws {
    do {
      self = .movie(MovieFacts(try MovieReader(path: path)))
    } catch let error as StereoMediaError where error == .notAMovie(path) {
      if let video = MatroskaVideo(path: path) {
        self = .matroska(video)
      } else {
        let format = CopiedFormat(path: path)
        self = format.map { MultiviewProbe.isMultiview(path, $0) } ?? false ? .multiview : .other
      }
    }
  }
}

extension ContainerFacts {
  /// Whether the video is H.264 MVC, with a view for each eye.
  package var hasTwoViews: Bool {
    switch self {
    case .movie(let facts): facts.stereo == .twoViews
    case .matroska(let video): video.isMultiview
    case .multiview: true
    case .other: false
    }
  }
}

extension VisualSampleEntry {
  /// The reason that the pictures cannot be converted although they may be decoded; nil if there is
  /// none.
  package var conversionObstacle: String? {
    if codec == "encv" { return "its video is encrypted" }
    if dolbyVisionProfile == 5 {
      return "its video is Dolby Vision of profile 5, whose colours only its own players know"
    }
    return nil
  }

  /// The profile of Dolby Vision (`dv_profile` of `DOVIDecoderConfigurationRecord`); nil if the
  /// video is none.
  package var dolbyVisionProfile: Int? {
    let record = configuration.first { ["dvcC", "dvvC", "dvwC"].contains($0.type) }
    guard let bytes = record?.payload, bytes.count >= 4 else { return nil }
    return Int(bytes[2] >> 1)
  }
}

extension LayoutEvidence {
  /// Adds what a QuickTime or MP4 movie declares.
  fileprivate mutating func declare(_ facts: MovieFacts) {
    let tracks = facts.reader.movie.tracks.filter(\.isPossibleEye)
    if let packing = facts.entry?.packing {
      declaredEyes = .packed(packing.arrangement, rightViewFirst: packing.rightViewFirst)
    } else if facts.entry?.stereoscopicMode == .monoscopic {
      declaredEyes = .one
    } else if tracks.count > 1, Set(tracks.map(\.frameSize)).count == 1 {
      declaredEyes = .severalTracks(tracks.count)
    }
    let immersive = facts.video?.immersiveMetadata
    if let kind = facts.metadata.projection {
      declaredProjection = .kind(kind)
    } else if let immersive {
      declaredProjection = .unsupported(immersive.projection.words)
    } else if facts.entry?.sphericalVideo != nil {
      declaredProjection = .unsupported("a projection that is not known")
    }
    guard let entry = facts.entry, let video = facts.video else { return }
    let pixels = entry.pixelAspectRatio
    let shape =
      pixels.map { Double($0.horizontalSpacing) / Double(max($0.verticalSpacing, 1)) } ?? 1
    let isOnItsSide = [90, 270].contains(video.description.orientation.clockwiseRotation)
    let (width, height) = (Int(entry.width), Int(entry.height))
    frame =
      isOnItsSide
      ? Frame(height, width, pixelShape: 1 / shape) : Frame(width, height, pixelShape: shape)
  }

  /// Adds what a Matroska or WebM file declares.
  fileprivate mutating func declare(_ video: MatroskaVideo) {
    if let packing = video.packing {
      declaredEyes = .packed(packing.arrangement, rightViewFirst: packing.rightViewFirst)
    } else if let words = video.otherPacking {
      declaredEyes = .inseparable(words)
    } else if video.trackCount > 1 {
      declaredEyes = .severalTracks(video.trackCount)
    }
    guard video.projection != nil else { return }
    if let kind = video.immersive?.projection.kind {
      declaredProjection = .kind(kind)
    } else {
      declaredProjection = .unsupported(
        video.immersive?.projection.words ?? "a projection that is not known")
    }
  }
}

extension ISOBMFF.Track {
  /// Whether the track may hold the pictures of an eye, rather than a poster.
  fileprivate var isPossibleEye: Bool { handlerType == "vide" && samples.count > 1 }

  fileprivate var frameSize: [UInt16] {
    for case .video(let entry) in sampleEntries { return [entry.width, entry.height] }
    return []
  }
}

extension ImmersiveProjection {
  /// A description of a projection without a kind, for the user.
  fileprivate var words: String {
    switch self {
    case .known(.equirectangular(let bounds)):
      "an equirectangular picture of \(bounds.words)"
    case .known(.cubemap): "a cubemap"
    case .known(let projection): "\(projection)"
    case .mesh: "a mesh, as VR180 cameras of Google's format store it"
    case .parametric: "lens parameters that cannot be read"
    case .appleImmersiveVideo: "Apple Immersive Video"
    }
  }
}

extension SphereBounds {
  fileprivate var words: String {
    func degrees(_ part: Double, of whole: Double) -> Int { Int((part * whole).rounded()) }
    let width = degrees(1 - leftPart - rightPart, of: 360)
    let height = degrees(1 - topPart - bottomPart, of: 180)
    return "\(width) by \(height) degrees"
  }
}

extension MatroskaVideo {
  /// Reads a file; nil if it cannot be read or is not a Matroska or WebM file with video.
  fileprivate init?(path: String) {
    // Opening a FIFO that has no writer would block.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.init(fileSize: UInt64(clamping: status.st_size)) { range in
      var bytes = [UInt8](repeating: 0, count: Int(clamping: range.count))
      let count = pread(file, &bytes, bytes.count, off_t(clamping: range.lowerBound))
      return Array(bytes.prefix(max(0, count)))
    }
  }
}
