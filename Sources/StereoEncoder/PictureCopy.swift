// SPDX-License-Identifier: MPL-2.0

/// Planes in memory of their own.
private final class PlaneMemory: @unchecked Sendable {
  let address: UnsafeMutableRawPointer

  init(byteCount: Int) {
    address = .allocate(byteCount: byteCount, alignment: 64)
  }

  deinit { address.deallocate() }
}

/// Stands for the owner of memory that is read at once.
final class NoOwner: Sendable {}

extension Picture {
  /// The same picture in memory of its own, so that the caller's is free.
  ///
  /// - Parameters: of the luma plane, in samples; both even.
  func copy(width: Int, height: Int, bytesPerSample: Int) -> Picture {
    let row = (width * bytesPerSample + 63) & ~63
    let chromaRow = (width / 2 * bytesPerSample + 63) & ~63
    let memory = PlaneMemory(byteCount: row * height + chromaRow * height)
    let cbStart = memory.address + row * height
    let crStart = cbStart + chromaRow * (height / 2)
    func copy(
      _ plane: Plane, to start: UnsafeMutableRawPointer, _ rows: Int, _ size: Int, _ stride: Int
    )
      -> Plane
    {
      for index in 0..<rows {
        (start + index * stride).copyMemory(
          from: plane.address + index * plane.stride, byteCount: size)
      }
      return Plane(address: start, stride: stride)
    }
    let size = width * bytesPerSample
    return withExtendedLifetime(owner) {
      Picture(
        luma: copy(luma, to: memory.address, height, size, row),
        cb: copy(cb, to: cbStart, height / 2, size / 2, chromaRow),
        cr: copy(cr, to: crStart, height / 2, size / 2, chromaRow), owner: memory)
    }
  }
}
