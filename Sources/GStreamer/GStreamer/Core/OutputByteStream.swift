// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A destination for bytes that an application provides: `GOutputStream`.
public final class OutputByteStream {
  private let pointer: UnsafeMutablePointer<GOutputStream>

  /// Takes over the caller's reference.
  init(adopting pointer: UnsafeMutablePointer<GOutputStream>) {
    self.pointer = pointer
  }

  deinit { g_object_unref(pointer) }

  /// Writes all bytes, blocking until done.
  ///
  /// - Throws: An ``ElementError`` with the stream's error message.
  public func write(_ bytes: UnsafeRawBufferPointer) throws {
    var error: UnsafeMutablePointer<GError>?
    g_output_stream_write_all(
      pointer, bytes.baseAddress, gsize(bytes.count), nil, nil, &error)
    try check(error)
  }

  /// Closes the stream after everything has been written.
  ///
  /// - Throws: An ``ElementError`` with the stream's error message.
  public func close() throws {
    var error: UnsafeMutablePointer<GError>?
    g_output_stream_close(pointer, nil, &error)
    try check(error)
  }

  private func check(_ error: UnsafeMutablePointer<GError>?) throws {
    guard let error else { return }
    defer { g_error_free(error) }
    throw ElementError(.write, String(cString: error.pointee.message))
  }
}
