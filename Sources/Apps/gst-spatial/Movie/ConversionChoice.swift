// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import ISOBMFF
internal import PipelineFile
internal import PipelineHost
internal import StereoMedia
internal import StereoVideo

/// Chooses the ready pipeline for a movie, and its parameters.
struct ConversionChoice {
  enum Target: String, ExpressibleByArgument, CaseIterable {
    case mvhevc
    case immersive
    case sideBySide = "sbs"
    case topBottom = "tb"
    case halfSideBySide = "half-sbs"
    case halfTopBottom = "half-tb"
    case anaglyph
    case flat = "2d"
    case twoFiles = "two-files"
  }

  /// The reason that a movie is not converted.
  struct Refusal: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  /// The files of a conversion.
  struct Files {
    var input: String
    /// The URL of the input if it is on a server; `input` is then a file with its index.
    var url: String?
    /// The right eye's movie, or with three paths for a spatial movie, the left eye's output.
    var other: String?
    /// Nil for a name made from that of the input.
    var output: String?
    /// Whether the user calls the movies the left and the right one.
    var areEyes = false
  }

  let files: Files
  /// The parameters on the command line, as `name=value`; they take precedence.
  let values: [String]
  let to: Target?
  let layout: LayoutChoice
  /// How the pictures of two files, one for each eye, are paired.
  let pairing: EyeAlignment
  /// Whether an option specifies the layout or the projection.
  let namesLayout: Bool

  func make() async throws -> (pipeline: String, values: [String]) {
    let input = files.input
    let container = try containerFacts(of: input)
    let facts = container.movie
    if let facts, facts.stereo == .layered { return try spatialMovieConversion(facts) }
    if container.hasTwoViews {
      tell(ConversionLosses.warnings(input, container, facts))
      return try twoViewConversion()
    }
    guard to == nil || to == .mvhevc || to == .immersive else {
      throw Refusal(
        """
        '\(input)' is not a spatial movie: it can only be converted to mvhevc
          = the spatial movie that it becomes can then be converted to \(to?.rawValue ?? "others")
        """)
    }
    let otherContainer = try files.other.map(containerFacts)
    if let other = files.other { try requireOrder(input, other) }
    if let output = files.output, !["mov", "mp4"].contains(Self.ending(of: output)) {
      throw Refusal("'\(output)' must end in .mov or .mp4: a spatial movie is QuickTime or MP4")
    }
    let found: RecognizedLayout
    do throws(Refusal) {
      found = try await layout.recognize(
        files.url ?? input, container, isOneOfTwo: files.other != nil || layout.firstTrack != nil)
    } catch {
      guard let output = files.output, files.other == nil, access(output, R_OK) == 0,
        !Self.isSpatialMovie(output)
      else { throw error }
      throw Refusal(
        error.reason + "\n  = '\(output)' is taken for the output; if it is the other eye: "
          + "gst-spatial convert --left LEFT --right RIGHT")
    }
    let isOneEye = found.eyes == .one && files.other == nil && layout.firstTrack == nil
    tell(
      ConversionLosses.warnings(
        input, container, isOneEye && container.isCopyable ? nil : facts))
    // GStreamer's demuxer does not pass on the pose.
    if let pose = container.matroska?.immersive?.pose, pose != .front, layout.projection == nil {
      Terminal.error.line(
        "warning: the projection of '\(input)': \(ImmersiveLoss.pose(pose))")
    }
    let geometry = geometry(facts, found.projection, isOneEye: isOneEye)
      .filter { !isOnCommandLine($0) }
    let output = files.output.map { ["output=\($0)"] } ?? []
    if let other = files.other, let otherContainer {
      guard !found.projection.isFisheye else {
        throw Refusal("fisheye pictures in two files cannot be converted; pack them into one file")
      }
      let ends = ["left=\(input)", "right=\(other)"] + output
      return (
        "two-files-to-mvhevc",
        ends + (try await offset(container, other, otherContainer)) + geometry
      )
    }
    let ends = ["input=\(input)"] + output
    if let first = layout.firstTrack {
      guard !found.projection.isFisheye else {
        throw Refusal("fisheye pictures in two tracks cannot be converted; pack them into frames")
      }
      let order = first == .left ? "" : "reversed-"
      return ("two-tracks-\(order)to-mvhevc", ends + geometry)
    }
    switch found.eyes {
    case .one:
      guard !found.projection.isFisheye else {
        throw Refusal("fisheye pictures of one eye cannot be converted")
      }
      return (container.isCopyable ? "h265-to-immersive" : "mono-to-immersive", ends + geometry)
    case .twoViews: return try twoViewConversion()
    case .packed(let packing):
      guard to != .immersive || found.projection != .flat else {
        throw Refusal(
          """
          '\(input)' has flat pictures
            = if they surround the viewer, specify how: --projection half-equirectangular or \
          --projection equirectangular
          """)
      }
      let pipeline =
        found.projection.isFisheye
        ? "fisheye-to-mvhevc"
        : packing.arrangement == .topBottom ? "tb-to-mvhevc" : "sbs-to-mvhevc"
      return (pipeline, ends + parameters(packing) + geometry)
    }
  }

  /// Returns the values on the command line without those that only an encoder takes, if the
  /// pipeline copies the video, and tells the user which these are.
  static func usable(_ values: [String], by pipeline: String) -> [String] {
    func names(_ pipeline: String) -> Set<String> {
      let file = (try? Installation.path(ofPipeline: pipeline)).flatMap {
        PipelineFile.read(path: $0, loading: LocalFiles.bytes).file
      }
      return Set((file?.parameters ?? []).map(\.name))
    }
    guard !values.isEmpty, let encoding = encodingPipelines[pipeline] else { return values }
    let others = names(encoding).subtracting(names(pipeline))
    func name(_ value: String) -> String { String(value.prefix { $0 != "=" }) }
    let unused = values.map(name).filter(others.contains)
    guard !unused.isEmpty else { return values }
    Terminal.error.line(
      "note: the video is copied, so \(unused.joined(separator: " and ")) "
        + "\(unused.count == 1 ? "is" : "are") not used")
    return values.filter { !others.contains(name($0)) }
  }

  /// The pipelines that copy the video, with ones that encode it for the same purpose.
  private static let encodingPipelines = [
    "h265-to-immersive": "mono-to-immersive", "retag": "sbs-to-mvhevc",
  ]

  /// Returns the extension of a file's name in lower case; empty if there is none.
  static func ending(of path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    return name.contains(".") ? name.split(separator: ".").last.map { $0.lowercased() } ?? "" : ""
  }

  /// Throws if two files that are the eyes by their order have names that tell the opposite.
  private func requireOrder(_ left: String, _ right: String) throws(Refusal) {
    func words(_ path: String) -> Set<String> {
      let name = path.split(separator: "/").last ?? ""
      return Set(name.lowercased().split { !$0.isLetter }.map(String.init))
    }
    guard !files.areEyes, words(left).contains("right"), words(right).contains("left") else {
      return
    }
    throw Refusal(
      """
      the left eye comes first, but '\(left)' seems to be the right one
        = gst-spatial convert --left \(ShellWord.quoted(right)) --right \(ShellWord.quoted(left))
      """)
  }

  /// Whether a file is a movie with a layer for each eye.
  static func isSpatialMovie(_ path: String) -> Bool {
    (try? ContainerFacts(path: path))?.movie?.stereo == .layered
  }

  /// Returns the index of an input. Throws if it is damaged or there is no such file.
  private func containerFacts(of path: String) throws(Refusal) -> ContainerFacts {
    try requireFile(path)
    do { return try ContainerFacts(path: path) } catch { throw Refusal("\(error)") }
  }

  /// Throws if a file does not exist, cannot be read, or is something else, such as a folder.
  private func requireFile(_ path: String) throws(Refusal) {
    guard !MovieLocation.isURL(path) else {
      throw Refusal(
        "'\(path)' is a URL: convert it in parts, with --work FOLDER, or download it first")
    }
    guard access(path, R_OK) == 0 else {
      let reason = String(cString: strerror(errno))
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { String(path[...$0]) } ?? ""
      let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
      let similar = Suggestion.closest(to: name, among: Self.names(in: folder)).map {
        "\n  = did you mean \(ShellWord.quoted(folder + $0))?"
      }
      throw Refusal("'\(path)': \(reason)" + (similar ?? ""))
    }
    if let error = StereoMediaError.notAFile(path) { throw Refusal("\(error)") }
  }

  /// Returns the names of at most a thousand files of a folder; empty if it cannot be read.
  private static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder.isEmpty ? "." : folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < 1000, let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// Returns the pipeline for a spatial movie.
  private func spatialMovieConversion(_ facts: MovieFacts) throws -> (
    pipeline: String, values: [String]
  ) {
    guard !namesLayout else {
      throw Refusal(
        """
        '\(files.input)' is a spatial movie, which has no layout to specify
          = for 3D television sets: --to half-sbs or --to half-tb
          = to change its projection: gst-spatial run retag
        """)
    }
    if let left = files.other {
      guard to == nil || to == .twoFiles else {
        throw Refusal("two outputs require --to two-files")
      }
      guard let right = files.output else {
        throw Refusal("'\(files.input)' is a spatial movie, which has both eyes")
      }
      return ("mvhevc-to-two-files", ["input=\(files.input)", "left=\(left)", "right=\(right)"])
    }
    let ends = ["input=\(files.input)"] + (files.output.map { ["output=\($0)"] } ?? [])
    // QuickTime keeps the stereo geometry; MP4 is for television sets, which need H.264.
    let isQuickTime = files.output?.lowercased().hasSuffix(".mov") ?? false
    switch to ?? .sideBySide {
    case .halfSideBySide:
      return (isQuickTime ? "mvhevc-to-packed" : "mvhevc-to-sbs", ends + ["half=yes"])
    case .halfTopBottom:
      return isQuickTime
        ? ("mvhevc-to-packed", ends + ["mode=top-bottom", "half=yes"])
        : ("mvhevc-to-tb", ends + ["half=yes"])
    case .sideBySide where isQuickTime: return ("mvhevc-to-packed", ends)
    case .topBottom where isQuickTime: return ("mvhevc-to-packed", ends + ["mode=top-bottom"])
    case .sideBySide: return ("mvhevc-to-sbs", ends)
    case .topBottom: return ("mvhevc-to-tb", ends)
    case .anaglyph: return ("mvhevc-to-anaglyph", ends)
    case .flat: return ("mvhevc-to-2d", ends + ["eye=\(facts.baseEye?.rawValue ?? "left")"])
    case .twoFiles where files.output == nil: return ("mvhevc-to-two-files", ends)
    case .twoFiles:
      throw Refusal("--to two-files requires two outputs, for the left and the right eye")
    case .mvhevc: return ("retag", ends)
    case .immersive:
      throw Refusal(
        "'\(files.input)' is a spatial movie already; 'gst-spatial run retag' changes its "
          + "projection")
    }
  }

  /// Returns the pipeline for H.264 MVC.
  private func twoViewConversion() throws(Refusal) -> (pipeline: String, values: [String]) {
    guard !namesLayout, files.other == nil else {
      throw Refusal(
        "'\(files.input)' is H.264 MVC, which has both eyes and no layout to specify")
    }
    let ends = ["input=\(files.input)"] + (files.output.map { ["output=\($0)"] } ?? [])
    switch to ?? .mvhevc {
    case .mvhevc: return ("mvc-to-mvhevc", ends)
    case .sideBySide: return ("mvc-to-packed", ends)
    case .topBottom: return ("mvc-to-packed", ends + ["mode=top-bottom"])
    case .halfSideBySide: return ("mvc-to-packed", ends + ["half=yes"])
    case .halfTopBottom: return ("mvc-to-packed", ends + ["mode=top-bottom", "half=yes"])
    case .immersive, .anaglyph, .flat, .twoFiles:
      throw Refusal(
        """
        '\(files.input)' is H.264 MVC: it can be converted to mvhevc, sbs, tb, half-sbs and half-tb
          = the spatial movie that it becomes can then be converted to the others
        """)
    }
  }

  /// Returns whether the command line sets the same parameter.
  private func isOnCommandLine(_ value: String) -> Bool {
    let name = value.prefix { $0 != "=" } + "="
    return values.contains { $0.hasPrefix(name) }
  }

  /// Returns the parameters for an arrangement of the eyes, without those on the command line.
  private func parameters(_ packing: PackingLayout) -> [String] {
    // Only the stream tells which of its frames shows which eye.
    let name =
      switch packing.arrangement {
      case .sideBySide: "side-by-side"
      case .topBottom: "top-bottom"
      case .frameByFrame: "none"
      }
    let order = packing.rightViewFirst ? ["packing-flags=right-view-first"] : []
    return (["packing=\(name)"] + order + ["half-aspect=\(packing.halfAspect ? "yes" : "no")"])
      .filter { !isOnCommandLine($0) }
  }

  private func tell(_ warnings: [String]) {
    for warning in warnings { Terminal.error.line("warning: " + warning) }
  }

  // MARK: Two files

  /// Returns the parameter that delays the right eye's movie, if it has to be delayed.
  private func offset(
    _ container: ContainerFacts, _ other: String, _ otherContainer: ContainerFacts
  ) async throws(Refusal) -> [String] {
    guard let left = await MovieBeginning(path: files.input, container),
      let right = await MovieBeginning(path: other, otherContainer)
    else { return [] }
    try requireSimilarLengths(left, right, other)
    guard !isOnCommandLine("offset=") else { return [] }
    var offset = pairing.offset(left: left, right: right)
    if offset == nil {
      offset = EyeAlignment.beginnings.offset(left: left, right: right)
      Terminal.error.line(
        "note: the files have no times that can be compared, so their first pictures are a pair; "
          + "otherwise specify how much later the right one plays: offset=0.5s")
    }
    let seconds = NumberFormat.decimal(offset?.seconds ?? 0, 3)
    return seconds == "0.000" ? [] : ["offset=\(seconds)s"]
  }

  /// Throws if two files are unlikely to be the eyes of one movie, and the user has not called them
  /// that: `convert *.mp4` would make a pair of them.
  private func requireSimilarLengths(
    _ left: MovieBeginning, _ right: MovieBeginning, _ other: String
  ) throws(Refusal) {
    guard !files.areEyes, let left = left.duration?.seconds, let right = right.duration?.seconds,
      max(left, right) > min(left, right) * 1.5, abs(left - right) > 2
    else { return }
    throw Refusal(
      """
      '\(files.input)' lasts \(NumberFormat.decimal(left, 1)) s and '\(other)' \
      \(NumberFormat.decimal(right, 1)) s, so they are hardly the two eyes of one movie
        = if they are: gst-spatial convert --left LEFT --right RIGHT OUTPUT
        = otherwise convert one movie at a time
      """)
  }

  // MARK: Stereo geometry

  private func geometry(
    _ facts: MovieFacts?, _ projection: RecognizedLayout.Projection, isOneEye: Bool
  ) -> [String] {
    let metadata = facts?.metadata ?? SpatialMetadata()
    var values: [String] = []
    switch projection {
    case .fisheye(let degrees?): values.append("lens=\(NumberFormat.decimal(degrees, 3))")
    case .fisheye(nil): break
    case .flat, .kind:
      let kind = if case .kind(let kind) = projection { kind } else { ProjectionKind.rectilinear }
      if kind != .rectilinear { values.append("projection=\(kind.rawValue)") }
      let whole: Double? =
        switch kind {
        case .equirectangular: 360
        case .halfEquirectangular: 180
        default: nil
        }
      // The stored field of view is invalid for another projection.
      let said =
        (metadata.projection ?? .rectilinear) == kind
        ? metadata.horizontalFieldOfView?.degrees : nil
      if let degrees = said ?? whole { values.append("fov=\(NumberFormat.decimal(degrees, 3))") }
    }
    guard !isOneEye else { return values }
    if let baseline = metadata.baseline?.millimetres {
      values.append("baseline=\(NumberFormat.decimal(baseline, 3))")
    }
    // The disparity adjustment is invalid for another projection.
    if !projection.isFisheye, let disparity = metadata.disparityAdjustment?.pictureWidths {
      values.append("disparity=\(NumberFormat.decimal(disparity, 4))")
    }
    if let hero = metadata.heroEye { values.append("hero=\(hero.rawValue)") }
    return values
  }
}

extension ContainerFacts {
  fileprivate var movie: MovieFacts? { if case .movie(let facts) = self { facts } else { nil } }
  fileprivate var matroska: MatroskaVideo? {
    if case .matroska(let video) = self { video } else { nil }
  }

  /// Whether the video is H.265 whose pictures need not be turned, so that it can be copied.
  fileprivate var isCopyable: Bool {
    switch self {
    case .movie(let facts):
      ["hvc1", "hev1"].contains(facts.entry.map { "\($0.codec)" })
        && facts.video?.description.orientation == .upright
    case .matroska(let video): video.codec == "V_MPEGH/ISO/HEVC"
    case .multiview, .other: false
    }
  }
}
