// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// How data passes a pad: `GstPadMode`.
public struct PadMode: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ mode: GstPadMode) {
    rawValue = mode.rawValue
  }

  var cValue: GstPadMode { GstPadMode(rawValue) }

  /// `GST_PAD_MODE_NONE`: no data passes.
  public static let none = PadMode(GST_PAD_MODE_NONE)
  /// `GST_PAD_MODE_PUSH`: upstream brings data.
  public static let push = PadMode(GST_PAD_MODE_PUSH)
  /// `GST_PAD_MODE_PULL`: the pad's element fetches data.
  public static let pull = PadMode(GST_PAD_MODE_PULL)
}

/// What drives data: the modes of a pad, and the thread that a pad which pulls has of its own.
extension Pad {
  /// How data passes the pad now.
  public var mode: PadMode { PadMode(pointer.pointee.mode) }

  /// Switches a mode on or off; false where the peer refuses it.
  public func activate(_ mode: PadMode, _ active: Bool = true) -> Bool {
    gst_pad_activate_mode(pointer, mode.cValue, active ? 1 : 0) != 0
  }

  /// Calls `body` again and again in a thread of the pad, each time with the stream lock held,
  /// until the task is paused or stopped. A task that is there goes on with the body it has.
  func startTask(_ body: @escaping () -> Void) -> Bool {
    // GStreamer drops the context that it is given for a task that is there, but not its reference.
    guard pointer.pointee.task == nil else { return resumeTask() }
    return gst_pad_start_task(
      pointer, runTask, Callback<() -> Void>(body).retained(), releaseCallback) != 0
  }

  /// Lets a paused task go on; false where the pad has none.
  @discardableResult
  public func resumeTask() -> Bool {
    guard pointer.pointee.task != nil else { return false }
    return gst_pad_start_task(pointer, runTask, nil, nil) != 0
  }

  /// Lets the task rest after the call of its body that runs now, for which it waits, unless it is
  /// called from there.
  @discardableResult
  public func pauseTask() -> Bool { gst_pad_pause_task(pointer) != 0 }

  /// Ends the task and waits for its thread.
  @discardableResult
  public func stopTask() -> Bool { gst_pad_stop_task(pointer) != 0 }

  /// Runs `body` with the lock that is held while data or serialised events pass the pad. A thread
  /// may take it several times.
  public func withStreamLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    cgst_pad_stream_lock(pointer)
    defer { cgst_pad_stream_unlock(pointer) }
    return try body()
  }

  /// Whether the peer lets this pad pull bytes from any place.
  public var peerAllowsRandomAccess: Bool {
    let query = Query.scheduling()
    return queryPeer(query) && query.allowsPulling
  }
}

private func runTask(_ context: UnsafeMutableRawPointer?) {
  if let context { Callback<() -> Void>.from(context).call() }
}
