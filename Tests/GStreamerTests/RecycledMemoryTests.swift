// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Testing

@Suite
struct RecycledMemoryTests {
  init() { initialize() }

  private func address(_ buffer: Buffer?) throws -> UnsafeRawPointer? {
    try #require(buffer).withBytes { UnsafeRawPointer($0.baseAddress) }
  }

  @Test("memory without references is used again, also for smaller buffers")
  func reuse() throws {
    let memory = RecycledMemory()
    let first = try address(memory.buffer(size: 1000))
    for size in [1000, 10, 999] {
      let buffer = try #require(memory.buffer(size: size))
      #expect(buffer.size == size)
      #expect(try address(buffer) == first)
    }
  }

  @Test("memory is left alone as long as a buffer or a part of one holds it")
  func held() throws {
    let memory = RecycledMemory()
    var whole = memory.buffer(size: 1000)
    let part = whole?.sharedRegion(offset: 500, size: 100)
    let held = try address(whole)
    #expect(try address(memory.buffer(size: 1000)) != held)
    let other = RecycledMemory()
    let start = other.buffer(size: 1000)?.sharedRegion(offset: 0, size: 10)
    #expect(try address(other.buffer(size: 1000)) != address(start))
    whole = nil
    #expect(try address(part) == held.map { $0 + 500 })
  }

  @Test("a buffer that is too large for the memory gets new memory")
  func growth() throws {
    let memory = RecycledMemory()
    #expect(memory.buffer(size: 10)?.size == 10)
    let large = try #require(memory.buffer(size: 1 << 20))
    #expect(large.size == 1 << 20)
    #expect(large.isWritable)
    #expect(memory.buffer(size: 0) == nil)
  }
}
