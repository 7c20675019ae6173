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

  /// Logs each step (level 7).
  public func trace(
    _ object: (any ElementObject)?, _ message: @autoclosure () -> String,
    file: StaticString = #fileID,
    function: StaticString = #function, line: Int32 = #line
  ) { log(GST_LEVEL_TRACE, object, message, file, function, line) }

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
