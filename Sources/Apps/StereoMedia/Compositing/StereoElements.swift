// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import SpatialElements

/// Elements of GStreamer that are functions of the program, by name: for pipeline files that run in
/// the same process (`PipelineHost`), and for lines as gst-launch takes them.
public enum StereoElements {
  /// Makes a function an element, with the sink pads `left` and `right` and one source pad, whose frames
  /// are the left and the right eye's in turn (`multiview-mode=frame-by-frame`): `sbssplit` makes two
  /// streams of them again.
  ///
  /// ```swift
  /// try await StereoElements.filter("swap") { frame in
  ///   StereoFrame(left: frame.right, right: frame.left, time: frame.time)
  /// }
  /// ```
  ///
  /// ```yaml
  /// links:
  ///   - decode.left -> swap.left
  ///   - decode.right -> swap.right
  ///   - swap -> sbssplit ...
  /// ```
  ///
  /// Frames come one at a time, in pairs, and the stream waits for the function. Its pictures are shown
  /// at the time and for as long as those it was given. Where the stream is stopped or flushed
  /// meanwhile, the function's task is cancelled, and what it gives is of no use. What it throws is the
  /// element's error.
  ///
  /// - Parameters:
  ///   - name: of the element: a letter and up to 99 letters, digits, `-` or `_`, all of them ASCII. It
  ///     stays the process's whole life.
  ///   - body: gives the pictures that are to be shown, both of one format and size.
  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/nameTaken`` where there is
  ///   such an element, and ``StereoMediaError/Code/invalidInput`` where it cannot be called so.
  public static func filter(
    _ name: String, _ body: @escaping @Sendable (StereoFrame) async throws -> StereoFrame
  ) async throws {
    try await register(name) {
      ProgramElements.registerFilter($0) { pair in
        let frame = StereoFrame(pair)
        return FrameCall {
          let made = try await body(frame)
          return (made.left, made.right)
        }
      }
    }
  }

  /// Makes a compositor an element that takes any number of sources and has one source pad: for a stereo
  /// output, its frames are the left and the right eye's in turn (`multiview-mode=frame-by-frame`), of
  /// which `sbssplit` makes two streams again; for a mono output, they are plain frames.
  ///
  /// ```swift
  /// try await StereoElements.compositor("beside", Beside())
  /// ```
  ///
  /// ```yaml
  /// links:
  ///   - a.left -> beside.left_0
  ///   - a.right -> beside.right_0
  ///   - b.src -> beside.mono_1
  ///   - beside -> sbssplit ...
  /// ```
  ///
  /// The sources are called by the numbers of their pads: `"0"` is what comes to `left_0` and
  /// `right_0`, or to `mono_0`, one picture for both eyes. The source with the lowest number says when
  /// there are frames, by their running times, and how they are tagged; each other source shows the
  /// frame whose time has come, and nothing behind the end of its last one. The rest is as with
  /// ``filter(_:_:)``.
  ///
  /// Nothing is said of parts of a stream: requests have no instruction, and their progress is 0.
  ///
  /// - Parameters:
  ///   - name: of the element, as with ``filter(_:_:)``.
  ///   - compositor: makes the frames, each time that the element is used.
  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/nameTaken`` where there is
  ///   such an element, and ``StereoMediaError/Code/invalidInput`` where it cannot be called so.
  public static func compositor(_ name: String, _ compositor: some StereoCompositor) async throws {
    let pictures = RecycledPictures()
    try await register(name) {
      ProgramElements.registerCompositor($0, isStereo: compositor.output == .stereo) { sources in
        FrameCall(sources, compositor, pictures)
      }
    }
  }

  private static func register(
    _ name: String, _ register: (String) -> Bool
  ) async throws {
    guard isName(name) else {
      throw StereoMediaError(
        .invalidInput, "no element can be called '\(name)'",
        hint: "a letter and letters, digits, '-' or '_' can be a name")
    }
    try await Engine.start()
    guard register(name) else {
      throw StereoMediaError(.nameTaken, "there is an element '\(name)' already")
    }
  }

  private static func isName(_ name: String) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & ~0x20) }
    guard let first = name.utf8.first, isLetter(first), name.utf8.count <= 100 else { return false }
    return name.utf8.allSatisfy {
      isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
        || $0 == UInt8(ascii: "_")
    }
  }
}

/// A function of the program at work on a frame.
private struct FrameCall: ProgramFrameCall {
  private let call: ProgramCall<(left: Picture, right: Picture)?>

  init(_ body: @escaping @Sendable () async throws -> (left: Picture, right: Picture)?) {
    call = ProgramCall(body)
  }

  /// Has a compositor make a frame of what an element's sources show.
  init<Compositor: StereoCompositor>(
    _ sources: RawSources, _ compositor: Compositor, _ pictures: RecycledPictures
  ) {
    let frames = sources.eyes.map { ("\($0)", StereoFrame($1)) }
    let request = CompositionRequest<Compositor.Instruction>(
      time: Duration(sources.streamTime ?? 0), duration: Duration(sources.duration ?? 0),
      instruction: nil, progress: 0, frames: Dictionary(uniqueKeysWithValues: frames),
      pictures: pictures)
    self.init {
      try await compositor.compose(request).eyes(of: request, as: compositor.output)
    }
  }

  func wait() throws -> (left: RawEye, right: RawEye)? {
    guard let eyes = try call.wait() else { return nil }
    // The program may hold its pictures: what goes on shares their memory alone.
    return (
      .init(eyes.left.buffer.copied(), eyes.left.info),
      .init(eyes.right.buffer.copied(), eyes.right.info)
    )
  }

  func giveUp() { call.giveUp() }
}

extension StereoFrame {
  /// What an element is given.
  fileprivate init(_ pair: RawEyes) {
    let left = Picture(pair.left.buffer, pair.left.info)
    // One picture for both eyes is one object.
    let right =
      pair.right.buffer === pair.left.buffer
      ? left : Picture(pair.right.buffer, pair.right.info)
    self.init(
      left: left, right: right, time: Duration(pair.streamTime ?? 0),
      duration: pair.duration.map { Duration($0) }, metadata: pair.metadata)
  }
}
