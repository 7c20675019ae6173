// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia
internal import StereoVideo

/// Chooses the ready pipeline for a movie, and its parameters. These follow from the movie or, if
/// it does not signal them, from its name or its pictures.
struct ConversionChoice {
  enum Target: String, ExpressibleByArgument, CaseIterable {
    case mvhevc
    case sideBySide = "sbs"
    case topBottom = "tb"
    case anaglyph
    case flat = "2d"
    case twoFiles = "two-files"
  }

  enum ProjectionName: String, ExpressibleByArgument, CaseIterable {
    case rectilinear, equirectangular, fisheye
    case halfEquirectangular = "half-equirectangular"
  }

  enum LayoutName: String, ExpressibleByArgument, CaseIterable {
    case sideBySide = "side-by-side"
    case sideBySideReversed = "side-by-side-reversed"
    case topBottom = "top-bottom"
    case topBottomReversed = "top-bottom-reversed"
  }

  /// The reason that a movie is not converted.
  struct Refusal: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  let paths: [String]
  /// The parameters on the command line, as `name=value`; they take precedence.
  let values: [String]
  let to: Target?
  let projection: ProjectionName?
  let layout: LayoutName?

  func make() async throws -> (pipeline: String, values: [String]) {
    for input in paths.dropLast() where access(input, R_OK) != 0 {
      // If the input is a spatial movie, the second of three paths is an output.
      guard input == paths[0] || to == nil && !isLayered(paths[0]) else { continue }
      throw Refusal("'\(input)': \(String(cString: strerror(errno)))")
    }
    // Other containers are left to GStreamer.
    let facts = (try? MovieReader(path: paths[0])).map(MovieFacts.init)
    let matroska = facts == nil ? MatroskaVideo(path: paths[0]) : nil
    let layered = facts.flatMap { $0.stereo == .layered ? $0 : nil }
    if let layered { return try spatialMovieConversion(layered) }
    guard to == nil || to == .mvhevc else {
      throw Refusal("'\(paths[0])' is not a spatial movie: it can only be converted to mvhevc")
    }
    let said = Said(
      packing: facts?.packing ?? matroska?.packing,
      isImmersive: facts?.immersive != nil || matroska?.projection != nil,
      projection: facts?.metadata.projection ?? matroska?.immersive?.projection.kind)
    let named = guess(said)
    let surroundings = try surroundings(said, named)
    if let losses = matroska?.losses, !losses.isEmpty, projection == nil {
      Terminal.error.line(
        "warning: the projection of '\(paths[0])': "
          + losses.map(\.description).joined(separator: "; "))
    }
    let geometry = geometry(facts, surroundings).filter { !isOnCommandLine($0) }
    if paths.count == 3 {
      guard !surroundings.isFisheye else {
        throw Refusal("fisheye pictures in two files cannot be converted; pack them into one file")
      }
      let ends = ["left=\(paths[0])", "right=\(paths[1])", "output=\(paths[2])"]
      return ("two-files-to-mvhevc", ends + geometry)
    }
    let (isTopBottom, packing) = try await packing(facts, said, named)
    let ends = ["input=\(paths[0])", "output=\(paths[1])"]
    let pipeline =
      surroundings.isFisheye
      ? "fisheye-to-mvhevc" : isTopBottom ? "tb-to-mvhevc" : "sbs-to-mvhevc"
    return (pipeline, ends + packing + geometry)
  }

  private func isLayered(_ path: String) -> Bool {
    (try? MovieReader(path: path)).map { MovieFacts($0).stereo == .layered } ?? false
  }

  /// Returns the pipeline for a spatial movie.
  private func spatialMovieConversion(_ facts: MovieFacts) throws -> (
    pipeline: String, values: [String]
  ) {
    if paths.count == 3 {
      guard to == nil || to == .twoFiles else {
        throw Refusal("two outputs require --to two-files")
      }
      return (
        "mvhevc-to-two-files", ["input=\(paths[0])", "left=\(paths[1])", "right=\(paths[2])"]
      )
    }
    let ends = ["input=\(paths[0])", "output=\(paths[1])"]
    // QuickTime keeps the stereo geometry; MP4 is for television sets, which need H.264.
    let isQuickTime = paths[1].lowercased().hasSuffix(".mov")
    switch to ?? .sideBySide {
    case .sideBySide where isQuickTime: return ("mvhevc-to-packed", ends)
    case .topBottom where isQuickTime: return ("mvhevc-to-packed", ends + ["mode=top-bottom"])
    case .sideBySide: return ("mvhevc-to-sbs", ends)
    case .topBottom: return ("mvhevc-to-tb", ends)
    case .anaglyph: return ("mvhevc-to-anaglyph", ends)
    case .flat: return ("mvhevc-to-2d", ends + ["eye=\(facts.baseEye?.rawValue ?? "left")"])
    case .twoFiles:
      throw Refusal("--to two-files requires two outputs, for the left and the right eye")
    case .mvhevc: return ("retag", ends)
    }
  }

  /// Returns whether the command line sets the same parameter.
  private func isOnCommandLine(_ value: String) -> Bool {
    let name = value.prefix { $0 != "=" } + "="
    return values.contains { $0.hasPrefix(name) }
  }

  // MARK: File name

  /// The properties that the movie itself signals, in any container.
  private struct Said {
    let packing: PackingLayout?
    let isImmersive: Bool
    let projection: ProjectionKind?
  }

  /// Returns the layout that the file name implies, without the parts that the command line or the
  /// movie specifies.
  private func guess(_ said: Said) -> FileNameLayout {
    var named = FileNameLayout(path: paths[0])
    if projection != nil || isOnCommandLine("projection=") || said.isImmersive {
      named.projection = nil
    }
    if layout != nil || isOnCommandLine("packing=") || said.packing != nil || paths.count == 3 {
      named.packing = nil
    }
    if named.packing != nil || named.projection != nil {
      Terminal.error.line(
        "note: '\(paths[0])' has no such metadata, but its name means \(named.sentence); use "
          + "--projection or --layout to override it")
    }
    return named
  }

  // MARK: Projection

  /// The projection of the pictures.
  private enum Surroundings: Equatable {
    case kind(ProjectionKind?)
    /// Circles with this field of view in degrees; nil for the pipeline's default.
    case fisheye(Double?)

    var isFisheye: Bool { if case .fisheye = self { true } else { false } }
  }

  /// Returns the projection, from the command line, the movie or its name.
  private func surroundings(_ said: Said, _ named: FileNameLayout) throws -> Surroundings {
    switch projection {
    case .rectilinear: return .kind(.rectilinear)
    case .equirectangular: return .kind(.equirectangular)
    case .halfEquirectangular: return .kind(.halfEquirectangular)
    case .fisheye: return .fisheye(nil)
    case nil: break
    }
    switch named.projection {
    case .kind(let kind): return .kind(kind)
    case .fisheye(let degrees): return .fisheye(degrees)
    case .equiAngularCubemap:
      throw Refusal(
        """
        '\(paths[0])' is an equi-angular cubemap, by its name, which headsets do not support
          = the element sphericalconvert converts it to equirectangular pictures
          = if the name is wrong, specify the projection: --projection equirectangular
        """)
    case nil: return .kind(said.projection)
    }
  }

  // MARK: Frame packing

  /// Returns the packing, from the command line, the movie, its name or its pictures. Throws if
  /// each picture shows a single scene.
  private func packing(
    _ facts: MovieFacts?, _ said: Said, _ named: FileNameLayout
  ) async throws -> (isTopBottom: Bool, [String]) {
    if let given = values.first(where: { $0.hasPrefix("packing=") }) {
      return (given == "packing=top-bottom", [])
    }
    if let layout = layout?.packing ?? named.packing ?? said.packing {
      return Self.parameters(layout)
    }
    _ = Installation.prepare()
    switch (try? await PackingProbe.look(at: paths[0])) ?? .unclear {
    case .packed(let arrangement): return Self.parameters(PackingLayout(arrangement))
    case .unclear: return (Self.isHigh(facts), [])
    case .onePicture:
      throw Refusal(
        """
        '\(paths[0])' has one picture in each frame, not one for each eye
          = if both eyes share each frame, specify how: --layout side-by-side or --layout top-bottom
          = if it is one eye of two files: gst-spatial convert LEFT RIGHT OUTPUT
        """)
    }
  }

  private static func parameters(_ layout: PackingLayout) -> (isTopBottom: Bool, [String]) {
    let name =
      switch layout.arrangement {
      case .sideBySide: "side-by-side"
      case .topBottom: "top-bottom"
      case .frameByFrame: "frame-by-frame"
      }
    let flags = [
      (layout.rightViewFirst, "right-view-first"), (layout.halfAspect, "half-aspect"),
    ].filter(\.0).map(\.1)
    return (
      layout.arrangement == .topBottom,
      ["packing=\(name)"] + (flags.isEmpty ? [] : ["packing-flags=\(flags.joined(separator: "+"))"])
    )
  }

  /// Returns whether a frame is nearly square or higher, as two pictures on top of each other are.
  private static func isHigh(_ facts: MovieFacts?) -> Bool {
    guard let entry = facts?.entry, entry.height > 0 else { return false }
    return Double(entry.width) / Double(entry.height) <= 1.2
  }

  // MARK: Stereo geometry

  private func geometry(_ facts: MovieFacts?, _ surroundings: Surroundings) -> [String] {
    let metadata = facts?.metadata ?? SpatialMetadata()
    var values: [String] = []
    switch surroundings {
    case .fisheye(let degrees?): values.append("lens=\(NumberFormat.decimal(degrees, 3))")
    case .fisheye(nil): break
    case .kind(let kind):
      if let kind, kind != .rectilinear { values.append("projection=\(kind.rawValue)") }
      let whole: Double? =
        switch kind {
        case .equirectangular: 360
        case .halfEquirectangular: 180
        default: nil
        }
      // The stored field of view is invalid for another projection.
      let said = metadata.projection == kind ? metadata.horizontalFieldOfView?.degrees : nil
      if let degrees = said ?? whole ?? metadata.horizontalFieldOfView?.degrees {
        values.append("fov=\(NumberFormat.decimal(degrees, 3))")
      }
    }
    if let baseline = metadata.baseline?.millimetres {
      values.append("baseline=\(NumberFormat.decimal(baseline, 3))")
    }
    // The disparity adjustment is invalid for another projection.
    if !surroundings.isFisheye, let disparity = metadata.disparityAdjustment?.pictureWidths {
      values.append("disparity=\(NumberFormat.decimal(disparity, 4))")
    }
    if let hero = metadata.heroEye { values.append("hero=\(hero.rawValue)") }
    return values
  }
}

extension ConversionChoice.LayoutName {
  var packing: PackingLayout {
    switch self {
    case .sideBySide: PackingLayout(.sideBySide)
    case .sideBySideReversed: PackingLayout(.sideBySide, rightViewFirst: true)
    case .topBottom: PackingLayout(.topBottom)
    case .topBottomReversed: PackingLayout(.topBottom, rightViewFirst: true)
    }
  }
}

extension MovieFacts {
  /// The arrangement of the eyes in a frame; nil if the movie does not signal it.
  fileprivate var packing: PackingLayout? {
    if case .packed(let layout) = stereo { layout } else { nil }
  }
}

extension FileNameLayout {
  /// A description of the layout for messages.
  var sentence: String {
    let shape: String? =
      switch projection {
      case .kind(.equirectangular): "360 degrees"
      case .kind: "180 degrees"
      case .fisheye(let degrees): "fisheye pictures of \(NumberFormat.decimal(degrees, 0)) degrees"
      case .equiAngularCubemap: "an equi-angular cubemap"
      case nil: nil
      }
    let eyes = packing.map { layout in
      let first = layout.rightViewFirst ? "the right eye first" : "the left eye first"
      return (layout.arrangement == .topBottom ? "top and bottom, " : "side by side, ") + first
    }
    return [shape, eyes].compactMap { $0 }.joined(separator: ", ")
  }
}

extension MatroskaVideo {
  /// Reads a file; nil if it cannot be read or is not a Matroska or WebM file with video.
  init?(path: String) {
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

  /// The metadata that a conversion loses, because GStreamer's demuxer does not pass it on.
  var losses: [ImmersiveLoss] {
    guard let immersive else { return projection.map { _ in [.projection(.mesh)] } ?? [] }
    var losses: [ImmersiveLoss] = []
    if immersive.projection.kind == nil {
      if case .known(.equirectangular(let bounds)) = immersive.projection {
        losses.append(.bounds(bounds))
      } else {
        losses.append(.projection(immersive.projection))
      }
    }
    if immersive.pose != .front { losses.append(.pose(immersive.pose)) }
    return losses
  }
}
