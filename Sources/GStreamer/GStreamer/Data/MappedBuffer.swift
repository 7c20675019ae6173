// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A buffer that is mapped for reading as long as this object lives, so that its bytes stay where
/// they are.
public final class MappedBuffer: @unchecked Sendable {
  public let buffer: Buffer
  public let bytes: UnsafeRawBufferPointer
  private var map = GstMapInfo()

  /// - Throws: an ``ElementError`` where the buffer cannot be mapped.
  public init(_ buffer: Buffer) throws {
    self.buffer = buffer
    guard gst_buffer_map(buffer.pointer, &map, GST_MAP_READ) != 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      throw ElementError(.read, "A buffer could not be mapped.")
    }
    bytes = UnsafeRawBufferPointer(start: map.data, count: Int(clamping: map.size))
  }

  deinit {
    if map.memory != nil { gst_buffer_unmap(buffer.pointer, &map) }
  }
}

extension BufferAccess where Self: ~Copyable {
  /// Adds bytes behind this one's memory without copying them. `owner` keeps them where and as they
  /// are as long as it lives.
  public func append(_ bytes: UnsafeRawBufferPointer, keptBy owner: AnyObject) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    let memory = gst_memory_new_wrapped(
      GST_MEMORY_FLAG_READONLY, UnsafeMutableRawPointer(mutating: start), gsize(bytes.count), 0,
      gsize(bytes.count), Unmanaged.passRetained(owner).toOpaque(), releaseCallback)
    gst_buffer_append_memory(pointer, memory)
  }
}
