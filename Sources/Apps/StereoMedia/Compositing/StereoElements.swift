// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import SpatialElements

/// GStreamer elements that run functions of the program, for pipeline files in the same process
/// (`PipelineHost`) and for gst-launch lines.
public enum StereoElements {
  /// Registers a function as an element with the sink pads `left` and `right` and one source pad,
  /// which outputs the left and the right eye alternately (`multiview-mode=frame-by-frame`).
  /// `sbssplit` separates these into two streams again.
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
  ///   - swap -> sbssplit ... ```
  ///
  /// The function is called with one frame at a time, and the stream waits for it. The returned
  /// pictures keep the time and duration of the input. If the stream is stopped or flushed in the
  /// meantime, the function's task is cancelled and its result is discarded. An error that it
  /// throws is posted by the element.
  ///
  /// - Parameters:
  ///   - name: the element name: an ASCII letter and up to 99 ASCII letters, digits, `-` or `_`. It
  ///     is registered until the process ends.
  ///   - body: returns the pictures to show, both of the same format and size.
  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/nameTaken`` if there is
  ///   already such an element, and with ``StereoMediaError/Code/invalidInput`` if the name is not
  ///   valid.
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

  /// Registers a compositor as an element with any number of sources and one source pad. If the
  /// output is stereo, it outputs the left and the right eye alternately
  /// (`multiview-mode=frame-by-frame`), which `sbssplit` separates into two streams again; if it is
  /// mono, it outputs plain frames.
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
  ///   - beside -> sbssplit ... ```
  ///
  /// The sources are named after the numbers of their pads: `"0"` has the frames from `left_0` and
  /// `right_0`, or from `mono_0` if one picture is for both eyes. The source with the lowest number
  /// determines the times of the output frames, by running time, and their tags. Each of the other
  /// sources provides the frame that is current at that time, and none after its last frame has
  /// ended. Otherwise, the element behaves as that of ``filter(_:_:)``.
  ///
  /// Requests have no instruction, and their progress is 0, as a stream has no defined parts.
  ///
  /// - Parameters:
  ///   - name: the element name, as with ``filter(_:_:)``.
  ///   - compositor: makes the frames in each instance of the element.
  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/nameTaken`` if there is
  ///   already such an element, and with ``StereoMediaError/Code/invalidInput`` if the name is not
  ///   valid.
  public static func compositor(_ name: String, _ compositor: some StereoCompositor) async throws {
    let pictures = ReusedPictures()
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
        .invalidInput, "'\(name)' is not a valid element name",
        hint: "use a letter, followed by letters, digits, '-' or '_'")
    }
    try await Engine.start()
    guard register(name) else {
      throw StereoMediaError(.nameTaken, "there is already an element '\(name)'")
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

/// A call of the program's function for one frame.
private struct FrameCall: ProgramFrameCall {
  private let call: ProgramCall<(left: Picture, right: Picture)?>

  init(_ body: @escaping @Sendable () async throws -> (left: Picture, right: Picture)?) {
    call = ProgramCall(body)
  }

  /// Calls a compositor with the frames of an element's sources.
  init<Compositor: StereoCompositor>(
    _ sources: RawSources, _ compositor: Compositor, _ pictures: ReusedPictures
  ) {
    let frames = sources.eyes.map { ("\($0)", StereoFrame($1)) }
    let request = CompositionRequest<Compositor.Instruction>(
      time: (sources.streamTime ?? 0).duration, duration: (sources.duration ?? 0).duration,
      instruction: nil, progress: 0, frames: Dictionary(uniqueKeysWithValues: frames),
      pictures: pictures)
    self.init {
      try await compositor.compose(request).eyes(of: request, as: compositor.output)
    }
  }

  func wait() throws -> (left: RawEye, right: RawEye)? {
    guard let eyes = try call.wait() else { return nil }
    // Copies that share the memory, as the program may keep its own pictures.
    return (
      .init(eyes.left.buffer.copied(), eyes.left.info),
      .init(eyes.right.buffer.copied(), eyes.right.info)
    )
  }

  func giveUp() { call.giveUp() }
}

extension StereoFrame {
  /// Creates a frame from an element's input.
  fileprivate init(_ pair: RawEyes) {
    let left = Picture(pair.left.buffer, pair.left.info)
    // For mono, both eyes have to be the same object.
    let right =
      pair.right.buffer === pair.left.buffer
      ? left : Picture(pair.right.buffer, pair.right.info)
    self.init(
      left: left, right: right, time: (pair.streamTime ?? 0).duration,
      duration: pair.duration.map(\.duration), metadata: pair.metadata)
  }
}
