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
    guard isName(name) else {
      throw StereoMediaError(
        .invalidInput, "no element can be called '\(name)'",
        hint: "a letter and letters, digits, '-' or '_' can be a name")
    }
    try await Engine.start()
    guard StereoFilters.register(name, { FilterCall($0, body) }) else {
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

/// The function at work on a pair.
private struct FilterCall: StereoFilterCall {
  private let call: ProgramCall<StereoFrame>

  init(
    _ pair: RawEyes, _ body: @escaping @Sendable (StereoFrame) async throws -> StereoFrame
  ) {
    let frame = StereoFrame(
      left: Picture(pair.left.buffer, pair.left.info),
      right: Picture(pair.right.buffer, pair.right.info),
      time: Duration(pair.streamTime ?? 0), duration: pair.duration.map { Duration($0) },
      metadata: pair.metadata)
    call = ProgramCall { try await body(frame) }
  }

  func wait() throws -> (left: RawEye, right: RawEye) {
    let frame = try call.wait()
    // The program may hold its pictures: what goes on shares their memory alone.
    return (
      .init(frame.left.buffer.copied(), frame.left.info),
      .init(frame.right.buffer.copied(), frame.right.info)
    )
  }

  func giveUp() { call.giveUp() }
}
