// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import Testing

/// Frames are mapped only where the buffer holds all that caps and meta describe.
struct VideoFrameTests {
  init() { initialize() }

  static let formats: [(format: String, bytes: Int)] = [
    ("GRAY8", 64 * 16), ("RGB", 64 * 16 * 3), ("I420", 64 * 16 * 3 / 2), ("NV12", 64 * 16 * 3 / 2),
    ("I420_10LE", 64 * 16 * 3), ("YUY2", 64 * 16 * 2), ("Y444", 64 * 16 * 3),
  ]

  private func info(_ format: String, width: Int = 64, height: Int = 16) throws -> VideoInfo {
    let text = "video/x-raw,format=\(format),width=\(width),height=\(height)"
    return try #require(Caps(parsing: text).flatMap { VideoInfo($0) })
  }

  @Test(
    "a frame of the size that its caps say is mapped, one byte less is refused",
    arguments: formats)
  func size(format: String, bytes: Int) throws {
    let info = try info(format)
    #expect(info.size == bytes)
    for isDescribed in [false, true] {
      for missing in [0, 1, bytes / 8, bytes / 2, bytes - 1] {
        let buffer = Buffer([UInt8](repeating: 1, count: bytes - missing))
        if isDescribed { buffer.setVideoLayout(VideoLayout(info), format: info.format) }
        if missing == 0 {
          #expect(throws: Never.self) { _ = try VideoFrame(buffer, info) }
        } else {
          #expect(throws: ElementError.self) { _ = try VideoFrame(buffer, info) }
        }
      }
    }
  }

  @Test("the last row needs no padding")
  func padding() throws {
    let info = try info("RGB", width: 5, height: 4)
    #expect(info.strides == [16])
    let buffer = Buffer([UInt8](repeating: 1, count: 16 * 3 + 15))
    buffer.setVideoLayout(VideoLayout(info), format: info.format)
    #expect(throws: Never.self) { _ = try VideoFrame(buffer, info) }
    let short = Buffer([UInt8](repeating: 1, count: 16 * 3 + 14))
    short.setVideoLayout(VideoLayout(info), format: info.format)
    #expect(throws: ElementError.self) { _ = try VideoFrame(short, info) }
  }

  @Test("a meta of another format or of a smaller picture is refused without a critical")
  func otherVideo() throws {
    let info = try info("GRAY8")
    let buffer = Buffer([UInt8](repeating: 1, count: info.size))
    buffer.setVideoLayout(VideoLayout(info), format: VideoFormat(name: "GRAY16_LE"))
    #expect(throws: ElementError.self) { _ = try VideoFrame(buffer, info) }
    let smaller = try self.info("GRAY8", height: 8)
    buffer.setVideoLayout(VideoLayout(smaller), format: info.format)
    #expect(throws: ElementError.self) { _ = try VideoFrame(buffer, info) }
  }

  @Test("a meta whose rows go backwards out of the buffer is refused")
  func negativeStride() throws {
    let info = try info("GRAY8")
    let buffer = Buffer([UInt8](repeating: 1, count: info.size))
    buffer.setVideoLayout(
      VideoLayout(width: 64, height: 16, offsets: [64 * 14], strides: [-64]), format: info.format)
    #expect(throws: ElementError.self) { _ = try VideoFrame(buffer, info) }
  }

  @Test("a described plane that two memories share is refused")
  func twoMemories() throws {
    let info = try info("GRAY8")
    func halves() -> Buffer {
      let buffer = Buffer([UInt8](repeating: 1, count: info.size / 2))
      buffer.append([UInt8](repeating: 2, count: info.size / 2))
      return buffer
    }
    #expect(halves().memoryCount == 2)
    // Without a meta, GStreamer merges them.
    #expect(throws: Never.self) { _ = try VideoFrame(halves(), info) }
    let buffer = halves()
    buffer.setVideoLayout(VideoLayout(info), format: info.format)
    #expect(throws: ElementError.self) { _ = try VideoFrame(buffer, info) }
    let merged = try #require(buffer.sharedMerge())
    merged.setVideoLayout(VideoLayout(info), format: info.format)
    #expect(throws: Never.self) { _ = try VideoFrame(merged, info) }
  }
}
