// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import ISOBMFF
internal import Reprojection
internal import StereoVideo

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Plays a movie in a window, with audio: both eyes in the form that a screen or glasses need, or a
/// view of an immersive movie.
package final class ScreenPlayback: Sendable {
  /// The presentation of the eyes.
  package enum Mode: String, CaseIterable, Sendable {
    case anaglyph
    case sideBySide = "side-by-side"
    case topBottom = "top-bottom"
    case rowInterleaved = "row-interleaved"
    case left, right
  }

  package struct Options: Sendable {
    /// Nil for an anaglyph, or for one eye of an immersive movie.
    package var mode: Mode?
    package var loops = false
    /// The initial view of an immersive movie, in degrees, as in `sphericalview`; nil for that of
    /// the movie.
    package var yaw: Double?
    package var pitch: Double?
    package var roll: Double?
    package var fieldOfView = 90.0
    /// A file of times and views for a moving view; see ``CameraPath``.
    package var path: String?
    /// The projection of the pictures, as a nick of `sphericalview projection`; nil for that of the
    /// movie.
    package var projection: String?
    /// Elements in gst-launch syntax; nil for a window.
    package var videoSink: String?
    /// The title of the window; nil for the name of the program.
    package var windowName: String?
    /// Nil for no audio.
    package var audioSink: String? = "autoaudiosink"

    package init() {}
  }

  private static let screenSink = "screen"
  private static let view = "view"

  /// The presentation of the eyes; nil for a mono movie.
  package let mode: Mode?
  /// Whether the movie is immersive.
  package let isImmersive: Bool
  private let movie: StereoMovie
  private let loops: Bool
  private let pipeline: Pipeline
  private let problem: PipelineProblem
  private let warned: @Sendable (String) -> Void
  private let messages: AsyncStream<Message>
  private let told: AsyncStream<Message>.Continuation

  /// - Parameter warned: called with a warning in a sentence.
  /// - Throws: a ``StereoMediaError`` if the movie cannot be shown as requested or an element is
  ///   missing.
  package init(
    _ movie: StereoMovie, _ options: Options, warned: @escaping @Sendable (String) -> Void
  ) async throws {
    try await Engine.start()
    (self.movie, self.warned) = (movie, warned)
    loops = options.loops
    let facts = movie.source.facts
    let isSaid = facts.video?.immersiveMetadata.map { $0.projection.kind != .rectilinear } ?? false
    var options = options
    if !isSaid, options.projection == nil { options.projection = facts.recognizedProjection }
    isImmersive =
      options.projection.map { $0 != ProjectionKind.rectilinear.rawValue } ?? isSaid
    mode = try Self.mode(facts, options.mode, isImmersive: isImmersive)
    let line = try Self.line(movie, mode, options, isImmersive: isImmersive)
    problem = PipelineProblem(movie.path)
    let file = try movie.source.currentPath()
    do {
      pipeline = try Pipeline(parsing: line)
      try pipeline.element(named: "source")?.set("location", parsing: file)
      if let path = options.path {
        try pipeline.element(named: Self.view)?.set("path", parsing: path)
      }
    } catch {
      throw StereoMediaError(building: error)
    }
    if let name = options.windowName { WindowName.set(name) }
    (messages, told) = AsyncStream.makeStream()
    pipeline.bus.watch { [told] in told.yield($0) }
  }

  /// Returns the requested or the default presentation; nil for a mono movie.
  private static func mode(
    _ facts: MovieFacts, _ wanted: Mode?, isImmersive: Bool
  ) throws(StereoMediaError) -> Mode? {
    guard facts.stereo != .no else { return nil }
    let own: Mode = facts.metadata.heroEye == .right ? .right : .left
    let mode = wanted ?? (isImmersive ? own : .anaglyph)
    guard !isImmersive || ![.anaglyph, .rowInterleaved].contains(mode) else {
      throw StereoMediaError(
        .invalidInput, "an immersive movie cannot be shown as \(mode.rawValue)",
        hint: "use left, right, side-by-side or top-bottom")
    }
    return mode
  }

  private static func line(
    _ movie: StereoMovie, _ mode: Mode?, _ options: Options, isImmersive: Bool
  ) throws -> String {
    // Some sinks show pixels as squares whatever their shape is, so they get square ones.
    var screen = "videoconvert ! videoscale add-borders=false ! "
    if options.videoSink == nil, let size = XScreen.size {
      screen +=
        "video/x-raw,width=[1,\(size.width)],height=[1,\(size.height)],pixel-aspect-ratio=1/1 ! "
    }
    screen += "\(options.videoSink ?? "autovideosink") name=\(screenSink)"
    if isImmersive {
      let first = movie.source.facts.video?.immersiveMetadata?.initialView ?? .front
      let turns = CameraView.turns
      let yaw = options.yaw ?? first.yaw.clamped(to: turns)
      let pitch = options.pitch ?? first.pitch.clamped(to: CameraView.pitches)
      let roll = options.roll ?? first.roll.clamped(to: turns)
      let projection = options.projection.map { "projection=\($0) " } ?? ""
      screen =
        "sphericalview name=\(view) \(projection)yaw=\(yaw) pitch=\(pitch) "
        + "roll=\(roll) field-of-view=\(options.fieldOfView) ! " + screen
    }
    let content: DecodeGraph.Content =
      switch mode {
      case .left: .eye(.left)
      case .right: .eye(.right)
      default: .eyes
      }
    // Sinks that synchronise to the clock need a thread of their own.
    let queue = "queue max-size-buffers=3 max-size-bytes=0 max-size-time=0 ! "
    let ends = DecodeGraph.Ends(
      left: "queue ! videoconvert ! pack.left", right: "queue ! videoconvert ! pack.right",
      only: queue + screen)
    var line = try DecodeGraph.pictures(of: movie.source, content, packing: nil, to: ends)
    if content == .eyes, let mode {
      line += " stereopack name=pack mode=\(mode.rawValue) ! \(queue)\(screen)"
    }
    if let sink = options.audioSink, movie.tracks.contains(where: { $0.kind == .audio }) {
      line += DecodeGraph.audio(to: sink)
    }
    return line
  }

  /// Maximum time that ``run()`` waits for the window to close.
  private static let closing = Duration.seconds(5)

  /// Plays to the end or until the user closes the window. The window is closed when it returns; if
  /// the process ended earlier, the display and drivers would disappear while the window's threads
  /// use them.
  ///
  /// - Throws: a ``StereoMediaError`` if the movie cannot be played.
  package func run() async throws {
    let result: Result<Void, any Error>
    do {
      result = .success(try await show())
    } catch {
      result = .failure(error)
    }
    _ = await Blocking.run(timeout: Self.closing) { [pipeline] in pipeline.end() }
    try result.get()
  }

  private func show() async throws {
    let pipeline = pipeline
    try await Blocking.run { _ = pipeline.setState(.paused) }
    var state = RunState()
    for await message in messages where !state.isOver {
      state = try await Blocking.run { [self, state] in
        var state = state
        try see(message, &state)
        return state
      }
      if state.isOver { break }
    }
  }

  private struct RunState: Sendable {
    var hasStarted = false
    var isPaused = false
    var isOver = false
    var warnings: Set<String> = []
    var loopCount = 0
    var loopStart = ContinuousClock.now

    /// Counts a loop. Returns false after 2000 loops within a second, in which no frames can have
    /// been shown: the queues hold fewer, and otherwise a loop lasts as long as the movie.
    mutating func loop() -> Bool {
      loopCount += 1
      guard loopCount == 2000 else { return true }
      let time = loopStart.duration(to: .now)
      (loopCount, loopStart) = (0, .now)
      return time > .seconds(1)
    }
  }

  /// Ends ``run()``.
  package func stop() { told.finish() }

  // MARK: Serialized, on threads that may block

  private func see(_ message: Message, _ state: inout RunState) throws {
    if let key = message.pressedKey { return try press(key, &state) }
    if problem.see(message) {
      if let error = problem.error {
        // The X11 sinks post this error when the user closes their window.
        state.isOver = error.message.contains("window was closed")
        if !state.isOver { throw error }
      } else {
        state.isOver = true
      }
    }
    switch message.content {
    case .other("async-done") where !state.hasStarted:
      state.hasStarted = true
      if loops { try seek(to: 0, [.flush, .accurate, .segment]) }
      pipeline.setState(.playing)
    case .other("segment-done"):
      guard state.loop() else {
        throw StereoMediaError.decoding(movie.path, "it has no more frames")
      }
      try seek(to: 0, [.accurate, .segment])
    case .warning(let failure):
      let child = pipeline.child(sending: message)
      if child == Self.screenSink, state.hasStarted {
        tellThatFramesAreLate(&state)
        return
      }
      // Without a window, the pictures would be discarded.
      guard child != Self.screenSink else {
        throw StereoMediaError(
          .missingElement, "there is no display to show '\(movie.path)' on: \(failure.message)",
          hint: "'gst-spatial view' shows it in a browser; windows need DISPLAY or WAYLAND_DISPLAY "
            + "and 'apt install gstreamer1.0-x'")
      }
      let isSound = child == DecodeGraph.audioSink
      // Each loop would repeat it.
      let warning = (isSound ? "its audio cannot be played: " : "") + failure.message
      if state.warnings.insert(warning).inserted { warned(warning) }
    case .other("latency"), .other("clock-lost"): pipeline.answer(message)
    default: break
    }
  }

  /// Sinks warn if they get most frames too late to show them.
  private func tellThatFramesAreLate(_ state: inout RunState) {
    let isOneEye = mode == nil || mode == .left || mode == .right
    let warning =
      "this machine is too slow to show every frame"
      + (isOneEye ? "" : "; one eye, with --mode left, needs half as much")
    if state.warnings.insert(warning).inserted { warned(warning) }
  }

  private func press(_ key: String, _ state: inout RunState) throws {
    switch key {
    case "q", "Q", "Escape": state.isOver = true
    case "space" where state.hasStarted:
      state.isPaused.toggle()
      pipeline.setState(state.isPaused ? .paused : .playing)
    case "Left" where state.hasStarted: try move { $0 - Self.jump }
    case "Right" where state.hasStarted: try move { $0 + Self.jump }
    default: break
    }
  }

  /// Distance that a key seeks.
  private static let jump = 5 * ClockTime.second

  private func move(_ target: (ClockTime) -> ClockTime) throws {
    let last = movie.source.facts.frames.last?.time.clockTime ?? 0
    let time = min(target(pipeline.position ?? 0), last)
    try seek(to: time, loops ? [.flush, .accurate, .segment] : [.flush, .accurate])
  }

  private func seek(to time: ClockTime, _ flags: SeekFlags) throws {
    var seek = Seek()
    (seek.format, seek.flags) = (.time, flags)
    (seek.start, seek.stop) = (.at(time), .set(-1))
    guard pipeline.send(.seek(seek)) else {
      throw problem.error ?? .decoding(movie.path, "seeking is not possible")
    }
  }
}

/// The screen of an X server.
private enum XScreen {
  private typealias Open = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
  private typealias Close = @convention(c) (OpaquePointer) -> CInt
  private typealias Number = @convention(c) (OpaquePointer) -> CInt
  private typealias Length = @convention(c) (OpaquePointer, CInt) -> CInt

  /// The room for a window, in pixels, without its title; nil if there is no X server.
  static var size: (width: Int, height: Int)? {
    // The sinks load this library, too, and it stays loaded.
    guard getenv("DISPLAY") != nil, let library = dlopen("libX11.so.6", RTLD_NOW | RTLD_LOCAL)
    else { return nil }
    func function<Function>(_ name: String, _ type: Function.Type) -> Function? {
      dlsym(library, name).map { unsafeBitCast($0, to: type) }
    }
    guard let open = function("XOpenDisplay", Open.self),
      let close = function("XCloseDisplay", Close.self),
      let number = function("XDefaultScreen", Number.self),
      let width = function("XDisplayWidth", Length.self),
      let height = function("XDisplayHeight", Length.self), let display = open(nil)
    else { return nil }
    defer { _ = close(display) }
    let screen = number(display)
    let size = (Int(width(display, screen)), Int(height(display, screen)) * 9 / 10)
    return size.0 > 0 && size.1 > 0 ? size : nil
  }
}

extension Double {
  fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
    min(max(self, range.lowerBound), range.upperBound)
  }
}
