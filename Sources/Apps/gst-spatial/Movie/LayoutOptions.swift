// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import StereoMedia
internal import StereoVideo

/// The options by which the user specifies the layout of a movie's pictures, where the movie does
/// not signal it.
struct LayoutOptions: ParsableArguments {
  enum ProjectionName: String, ExpressibleByArgument, CaseIterable {
    case rectilinear, equirectangular, fisheye
    case halfEquirectangular = "half-equirectangular"
  }

  enum LayoutName: String, ExpressibleByArgument, CaseIterable {
    case sideBySide = "side-by-side"
    case halfSideBySide = "half-side-by-side"
    case fullSideBySide = "full-side-by-side"
    case sideBySideReversed = "side-by-side-reversed"
    case halfSideBySideReversed = "half-side-by-side-reversed"
    case fullSideBySideReversed = "full-side-by-side-reversed"
    case topBottom = "top-bottom"
    case halfTopBottom = "half-top-bottom"
    case fullTopBottom = "full-top-bottom"
    case topBottomReversed = "top-bottom-reversed"
    case halfTopBottomReversed = "half-top-bottom-reversed"
    case fullTopBottomReversed = "full-top-bottom-reversed"
    case twoTracks = "two-tracks"
    case twoTracksReversed = "two-tracks-reversed"
  }

  @Option(
    help: """
      How the eyes share a frame: side-by-side or top-bottom, with half- or full- before it if \
      their size is not detected, and -reversed after it if the right eye comes first; or \
      two-tracks if each eye has a video track of its own. By default as signalled by the movie, \
      its name (_LR, Half-SBS, _TB), its shape or its pictures.
      """)
  var layout: LayoutName?

  @Option(
    help: """
      The projection of the pictures: rectilinear (a flat movie), half-equirectangular, \
      equirectangular or fisheye. By default that of the movie or, if it has none, that in its \
      name: _180, _360, _FISHEYE190.
      """)
  var projection: ProjectionName?

  /// The layout according to these options.
  var choice: LayoutChoice {
    LayoutChoice(
      packing: layout?.packing, firstTrack: layout?.firstTrack,
      projection: projection?.surroundings)
  }
}

/// The layout of a movie's pictures, as far as the user specifies it.
struct LayoutChoice {
  var packing: LayoutEvidence.GivenPacking?
  /// The eye in the first video track, if each eye has a track of its own.
  var firstTrack: Eye?
  var projection: RecognizedLayout.Projection?
  /// Whether to ask the user in a terminal if the layout is unclear.
  var asksUser = false

  /// Adds the parameters of a ready pipeline on the command line, which take precedence.
  mutating func add(_ values: [String]) {
    func value(_ name: String) -> String? {
      values.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    if let name = value("packing"), let layout = LayoutOptions.LayoutName(rawValue: name) {
      packing = layout.packing
    }
    if packing != nil, let flags = value("packing-flags") {
      packing?.rightViewFirst = flags.contains("right-view-first")
      packing?.isHalf = flags.contains("half-aspect")
    }
    if let kind = value("projection").flatMap(ProjectionKind.init(rawValue:)) {
      projection = RecognizedLayout.Projection(kind)
    }
  }

  /// Recognizes the layout of a movie, and tells the user what was guessed.
  ///
  /// - Parameters:
  ///   - container: the content of the file's index.
  ///   - isOneOfTwo: whether another file or track has the other eye.
  func recognize(
    _ path: String, _ container: ContainerFacts, isOneOfTwo: Bool = false
  ) async throws(ConversionChoice.Refusal) -> RecognizedLayout {
    _ = Installation.prepare()
    do throws(RecognizedLayout.Refusal) {
      let found = try await RecognizedLayout.recognize(
        path, container, within: RecognizedLayout.conversionBudget
      ) { evidence in
        complete(&evidence)
        evidence.isOneEye = isOneOfTwo
      }
      tell(found, path)
      return found
    } catch {
      guard error == .unclear, asksUser, Terminal.error.isInteractive, isatty(STDIN_FILENO) != 0,
        let answer = Self.ask(path)
      else { throw ConversionChoice.Refusal(error.text(path)) }
      var answered = self
      answered.packing = LayoutEvidence.GivenPacking(answer)
      return try await answered.recognize(path, container, isOneOfTwo: isOneOfTwo)
    }
  }

  /// Files up to this size, in bytes, are copied within a second or so.
  private static let silentCopySize = 200_000_000

  /// Opens a movie, and recognizes its layout if it is not layered. If it cannot be read, prints
  /// the reason and throws the exit code.
  func open(_ path: String) async throws -> StereoMovie {
    _ = Installation.prepare()
    guard firstTrack == nil else {
      Terminal.error.line(
        "error: two video tracks can be converted, but not shown: "
          + "gst-spatial convert \(ShellWord.quoted(path)) --layout two-tracks")
      throw ExitCode.mistakes
    }
    var status = stat()
    if let format = CopiedFormat(path: path), stat(path, &status) == 0,
      status.st_size > Self.silentCopySize
    {
      Terminal.error.line(
        "note: copying '\(path)' (\(NumberFormat.size(Int(status.st_size)))) into a temporary "
          + "movie, as \(format.rawValue) has no index of all frames")
    }
    do {
      let movie = try await StereoMovie(path, recognizing: complete)
      if case .success(let found) = movie.facts.recognition { tell(found, path) }
      return movie
    } catch {
      Terminal.error.line("error: \(error)")
      throw ExitCode.mistakes
    }
  }

  /// Asks how the eyes share a frame; nil if they do not.
  private static func ask(_ path: String) -> PackingLayout.Arrangement? {
    Terminal.error.write(
      "The pictures of '\(path)' do not show whether each holds two eyes. Are they side by side "
        + "(s), one above the other (t), or is there only one eye (n)? [s/t/N] ")
    switch readLine()?.lowercased().first {
    case "s": return .sideBySide
    case "t": return .topBottom
    default: return nil
    }
  }

  private func complete(_ evidence: inout LayoutEvidence) {
    evidence.givenPacking = packing
    evidence.givenProjection = projection
  }

  private func tell(_ found: RecognizedLayout, _ path: String) {
    guard !found.notes.isEmpty else { return }
    Terminal.error.line(
      "note: '\(path)' does not say all of its layout, but \(found.notes.joined(separator: "; ")); "
        + "if that is wrong, use --layout or --projection")
  }
}

extension LayoutOptions.LayoutName {
  /// The arrangement in each frame; nil if each eye has a track of its own.
  var packing: LayoutEvidence.GivenPacking? {
    guard firstTrack == nil else { return nil }
    return LayoutEvidence.GivenPacking(
      rawValue.contains("side-by-side") ? .sideBySide : .topBottom,
      rightViewFirst: rawValue.hasSuffix("-reversed"),
      isHalf: rawValue.hasPrefix("half-") ? true : rawValue.hasPrefix("full-") ? false : nil)
  }

  /// The eye in the first of two video tracks; nil for another layout.
  var firstTrack: Eye? {
    switch self {
    case .twoTracks: .left
    case .twoTracksReversed: .right
    default: nil
    }
  }
}

extension LayoutOptions.ProjectionName {
  var surroundings: RecognizedLayout.Projection {
    switch self {
    case .rectilinear: .flat
    case .equirectangular: .kind(.equirectangular)
    case .halfEquirectangular: .kind(.halfEquirectangular)
    case .fisheye: .fisheye(nil)
    }
  }
}

extension RecognizedLayout.Refusal {
  /// The message for the user, with the options that decide.
  func text(_ path: String) -> String {
    switch self {
    case .unreadable(let reason): "\(StereoMediaError.unreadable(path, reason))"
    case .noVideo: "'\(path)' has no video"
    case .onePicture:
      """
      '\(path)' has one picture in each frame, not one for each eye
        = if it is a 2D film, it has no second eye, and cannot be converted
        = if both eyes share each frame, specify how: --layout side-by-side or --layout top-bottom
        = if it is one eye of two files: gst-spatial convert LEFT RIGHT OUTPUT
        = if the picture surrounds the viewer, specify how: --projection equirectangular
      """
    case .unclear:
      """
      it is unclear whether '\(path)' has two eyes in each frame: its pictures are too dark or too \
      plain, or repeat themselves
        = specify how they share a frame: --layout side-by-side or --layout top-bottom
      """
    case .inseparable(let words):
      "'\(path)' holds \(words), which cannot be separated into two eyes"
    case .unsupportedProjection(let words):
      """
      the pictures of '\(path)' are \(words), which cannot be converted
        = the element sphericalconvert converts cubemaps and fisheye pictures to equirectangular
        = if that is wrong, specify the projection: --projection equirectangular
      """
    case .severalTracks(let count):
      """
      '\(path)' has \(count) video tracks of the same size, each of which may be an eye
        = if they are the left and the right eye, specify it: --layout two-tracks, or \
      two-tracks-reversed
        = if the first track has both eyes, specify how: --layout side-by-side
      """
    }
  }
}
