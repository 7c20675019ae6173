// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia
internal import StereoVideo

/// The ready pipeline that suits a movie, and the parameters that follow from what the movie says, and
/// where it says nothing from its name or its pictures.
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

  /// Why nothing is converted.
  struct Refusal: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  let paths: [String]
  /// Parameters on the command line, `name=value`, which win.
  let values: [String]
  let to: Target?
  let projection: ProjectionName?
  let layout: LayoutName?

  func make() async throws -> (pipeline: String, values: [String]) {
    for input in paths.dropLast() where access(input, R_OK) != 0 {
      // The second of two files may be an output.
      guard input == paths[0] || to == nil && !isLayered(paths[0]) else { continue }
      throw Refusal("'\(input)': \(String(cString: strerror(errno)))")
    }
    // Other containers than movies are for GStreamer to look into.
    let facts = (try? MovieReader(path: paths[0])).map(MovieFacts.init)
    let matroska = facts == nil ? MatroskaVideo(path: paths[0]) : nil
    let layered = facts.flatMap { $0.stereo == .layered ? $0 : nil }
    if let layered { return try takenApart(layered) }
    guard to == nil || to == .mvhevc else {
      throw Refusal("'\(paths[0])' is no spatial movie: it can be converted to mvhevc only")
    }
    let said = Said(
      packing: facts?.packing ?? matroska?.packing,
      isImmersive: facts?.immersive != nil || matroska?.projection != nil,
      projection: facts?.metadata.projection ?? matroska?.immersive?.projection.kind)
    let named = guess(said)
    let surroundings = try surroundings(said, named)
    if let losses = matroska?.losses, !losses.isEmpty, projection == nil {
      Terminal.error.line(
        "warning: of how the pictures of '\(paths[0])' surround the viewer, "
          + losses.map(\.description).joined(separator: "; "))
    }
    let geometry = geometry(facts, surroundings).filter { !isGiven($0) }
    if paths.count == 3 {
      guard !surroundings.isFisheye else {
        throw Refusal("fisheye pictures of two files are not converted; pack them in one first")
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

  /// The pipeline for a spatial movie.
  private func takenApart(_ facts: MovieFacts) throws -> (pipeline: String, values: [String]) {
    if paths.count == 3 {
      guard to == nil || to == .twoFiles else {
        throw Refusal("two outputs are for --to two-files")
      }
      return (
        "mvhevc-to-two-files", ["input=\(paths[0])", "left=\(paths[1])", "right=\(paths[2])"]
      )
    }
    let ends = ["input=\(paths[0])", "output=\(paths[1])"]
    // QuickTime has room for how the movie was shot; what televisions take is H.264 in MP4.
    let isQuickTime = paths[1].lowercased().hasSuffix(".mov")
    switch to ?? .sideBySide {
    case .sideBySide where isQuickTime: return ("mvhevc-to-packed", ends)
    case .topBottom where isQuickTime: return ("mvhevc-to-packed", ends + ["mode=top-bottom"])
    case .sideBySide: return ("mvhevc-to-sbs", ends)
    case .topBottom: return ("mvhevc-to-tb", ends)
    case .anaglyph: return ("mvhevc-to-anaglyph", ends)
    case .flat: return ("mvhevc-to-2d", ends + ["eye=\(facts.baseEye?.rawValue ?? "left")"])
    case .twoFiles:
      throw Refusal("--to two-files takes two outputs, for the left and the right eye")
    case .mvhevc: return ("retag", ends)
    }
  }

  /// Whether a value for the same parameter is on the command line.
  private func isGiven(_ value: String) -> Bool {
    let name = value.prefix { $0 != "=" } + "="
    return values.contains { $0.hasPrefix(name) }
  }

  // MARK: What the file's name says

  /// What a movie says of its frames, in whatever container.
  private struct Said {
    let packing: PackingLayout?
    let isImmersive: Bool
    let projection: ProjectionKind?
  }

  /// Of what neither the command line nor the movie says.
  private func guess(_ said: Said) -> NamedLayout {
    var named = NamedLayout(path: paths[0])
    if projection != nil || isGiven("projection=") || said.isImmersive { named.projection = nil }
    if layout != nil || isGiven("packing=") || said.packing != nil || paths.count == 3 {
      named.packing = nil
    }
    if named.packing != nil || named.projection != nil {
      Terminal.error.line(
        "note: '\(paths[0])' does not say it, but by its name it shows \(named.sentence); --projection and "
          + "--layout say otherwise")
    }
    return named
  }

  // MARK: Around the viewer

  /// How pictures surround the viewer.
  private enum Surroundings: Equatable {
    case kind(ProjectionKind?)
    /// Circles that cover so many degrees; nil for what the pipeline takes for usual.
    case fisheye(Double?)

    var isFisheye: Bool { if case .fisheye = self { true } else { false } }
  }

  /// As the command line, or the movie, or its name says.
  private func surroundings(_ said: Said, _ named: NamedLayout) throws -> Surroundings {
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
        '\(paths[0])' is an equi-angular cube map, by its name, for which headsets have no name
          = the element sphericalconvert makes equirectangular pictures of it
          = if it is something else, say so: --projection equirectangular
        """)
    case nil: return .kind(said.projection)
    }
  }

  // MARK: Two eyes in a frame

  /// As the command line, the movie or its name says, or else as its pictures show. Throws where each
  /// shows one scene.
  private func packing(
    _ facts: MovieFacts?, _ said: Said, _ named: NamedLayout
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
        '\(paths[0])' shows one picture in each frame, not one for each eye
          = if both eyes are in it, say how: --layout side-by-side or --layout top-bottom
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

  /// Two pictures above each other make a frame that is nearly square, or higher.
  private static func isHigh(_ facts: MovieFacts?) -> Bool {
    guard let entry = facts?.entry, entry.height > 0 else { return false }
    return Double(entry.width) / Double(entry.height) <= 1.2
  }

  // MARK: How it was shot

  private func geometry(_ facts: MovieFacts?, _ surroundings: Surroundings) -> [String] {
    let metadata = facts?.metadata ?? SpatialMetadata()
    var values: [String] = []
    switch surroundings {
    case .fisheye(let degrees?): values.append("lens=\(Quantities.decimal(degrees, 3))")
    case .fisheye(nil): break
    case .kind(let kind):
      if let kind, kind != .rectilinear { values.append("projection=\(kind.rawValue)") }
      let whole: Double? =
        switch kind {
        case .equirectangular: 360
        case .halfEquirectangular: 180
        default: nil
        }
      // What was said of another projection holds no more.
      let said = metadata.projection == kind ? metadata.horizontalFieldOfView?.degrees : nil
      if let degrees = said ?? whole ?? metadata.horizontalFieldOfView?.degrees {
        values.append("fov=\(Quantities.decimal(degrees, 3))")
      }
    }
    if let baseline = metadata.baseline?.millimetres {
      values.append("baseline=\(Quantities.decimal(baseline, 3))")
    }
    // Another projection has another one.
    if !surroundings.isFisheye, let disparity = metadata.disparityAdjustment?.pictureWidths {
      values.append("disparity=\(Quantities.decimal(disparity, 4))")
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
  /// How both eyes share a frame; nil where they do not, or the movie does not say it.
  fileprivate var packing: PackingLayout? {
    if case .packed(let layout) = stereo { layout } else { nil }
  }
}

extension NamedLayout {
  /// What the name says, for people.
  var sentence: String {
    let shape: String? =
      switch projection {
      case .kind(.equirectangular): "360 degrees"
      case .kind: "180 degrees"
      case .fisheye(let degrees): "fisheye pictures of \(Quantities.decimal(degrees, 0)) degrees"
      case .equiAngularCubemap: "an equi-angular cube map"
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
  /// Reads a file; nil where it cannot be read, or is no Matroska or WebM file with video.
  init?(path: String) {
    // A pipe without a writer would keep it waiting.
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

  /// What a conversion does not take over, because GStreamer's demuxer does not hand it on.
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
