// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A GST_DEBUG category; each element has one with its own name.
///
/// Messages are built only if the category's threshold lets them through.
public struct DebugCategory: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<GstDebugCategory>?

  /// - Parameters:
  ///   - name: The name to select it by, as in `GST_DEBUG=name:5`.
  ///   - description: Text for `gst-launch-1.0 --gst-debug-help`.
  public init(_ name: String, _ description: String) {
    pointer = _gst_debug_category_new(name, 0, description)
  }

  /// Logs an error (level 1).
  public func error(
    _ object: (any ElementObject)?, _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) { log(GST_LEVEL_ERROR, object, message, file, function, line) }

  /// Logs a warning (level 2).
  public func warning(
    _ object: (any ElementObject)?, _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) { log(GST_LEVEL_WARNING, object, message, file, function, line) }

  /// Logs an infrequent event (level 4).
  public func info(
    _ object: (any ElementObject)?, _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) { log(GST_LEVEL_INFO, object, message, file, function, line) }

  /// Logs details (level 5).
  public func debug(
    _ object: (any ElementObject)?, _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) { log(GST_LEVEL_DEBUG, object, message, file, function, line) }

  /// Logs what happens for each buffer (level 6).
  public func log(
    _ object: (any ElementObject)?, _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) { log(GST_LEVEL_LOG, object, message, file, function, line) }

  private func log(
    _ level: GstDebugLevel, _ object: (any ElementObject)?, _ message: () -> String,
    _ file: StaticString, _ function: StaticString, _ line: Int32
  ) {
    guard let pointer, cgst_debug_enabled(pointer, level) != 0 else { return }
    let text = message()
    file.withUTF8Buffer { file in
      function.withUTF8Buffer { function in
        gst_debug_log_literal(
          pointer, level, UnsafeRawPointer(file.baseAddress)?.assumingMemoryBound(to: CChar.self),
          UnsafeRawPointer(function.baseAddress)?.assumingMemoryBound(to: CChar.self), line,
          object.map { cast($0.gstElement) }, text)
      }
    }
  }
}

extension ElementObject {
  /// Counts and logs data that an element has received: level 6.
  func logBuffer(_ buffer: borrowing some BufferAccess & ~Copyable, at pad: borrowing Pad) {
    instance.countStep()
    let log = instance.log
    guard log.isEnabled(GST_LEVEL_LOG) else { return }
    func text(_ time: ClockTime?) -> String { time.map { "\($0.nanoseconds) ns" } ?? "none" }
    let facts =
      "\(buffer.size) bytes, pts \(text(buffer.pts)), dts \(text(buffer.dts)), "
      + "duration \(text(buffer.duration)), flags \(buffer.flags.rawValue)"
    log.log(self, "\(pad.name): received \(facts)")
  }

  /// Logs an event that an element has received: formats at level 4, all others at level 5.
  func logEvent(_ event: Event, at pad: borrowing Pad) {
    let log = instance.log
    guard log.isEnabled(GST_LEVEL_INFO) else { return }
    if let caps = event.caps {
      log.info(self, "\(pad.name): the format is \(caps)")
    } else {
      log.debug(
        self, "\(pad.name): received \(event.name) \(event.structure?.description ?? "")")
    }
  }
}

extension DebugCategory {
  /// Whether messages of a level are shown or kept.
  fileprivate func isEnabled(_ level: GstDebugLevel) -> Bool {
    guard let pointer else { return false }
    return cgst_debug_enabled(pointer, level) != 0
  }
}
