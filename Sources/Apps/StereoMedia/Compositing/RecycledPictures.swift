// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Pictures that are like others, out of a pool for the format that was asked for last.
final class RecycledPictures: Sendable {
  private let pool = Locked<(format: PictureFormat, buffers: VideoBufferPool)?>(nil)

  func picture(like other: Picture) throws -> MutablePicture {
    let format = PictureFormat(other)
    do {
      let buffers = try pool.withLock { pool in
        if let pool, pool.format == format { return pool.buffers }
        let made = try VideoBufferPool(other.info)
        pool = (format, made)
        return made
      }
      return MutablePicture(Buffer(try buffers.acquire()), buffers.info)
    } catch {
      throw StereoMediaError(.outOfMemory, "there is no memory for a picture of \(format)")
    }
  }
}
