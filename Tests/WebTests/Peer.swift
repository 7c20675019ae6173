// SPDX-License-Identifier: MPL-2.0

import Dispatch
import Glibc
import TestKit

/// A peer that sends whatever it likes, byte by byte if need be.
final class Peer: @unchecked Sendable {
  private var descriptor: Int32

  init(port: Int, seconds: Int = 10) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var wait = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    let result = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failure("connect: \(String(cString: strerror(errno)))") }
  }

  deinit { leave() }

  func leave() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
  }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// What comes until the connection is closed; nil where it is reset, or nothing comes any more.
  func rest() async -> String? { await restBytes().map { String(decoding: $0, as: UTF8.self) } }

  func restBytes() async -> [UInt8]? {
    var all: [UInt8] = []
    while true {
      let (bytes, isOpen) = await some()
      guard let bytes else { return nil }
      all += bytes
      guard isOpen else { return all }
    }
  }

  /// Reads until a text has come.
  func read(until text: String) async throws -> String {
    var all: [UInt8] = []
    while !String(decoding: all, as: UTF8.self).contains(text) {
      let (bytes, isOpen) = await some()
      guard let bytes, isOpen else {
        throw Failure("no '\(text)' in: \(String(decoding: all, as: UTF8.self))")
      }
      all += bytes
    }
    return String(decoding: all, as: UTF8.self)
  }

  /// Waits on a thread of its own: the server needs those of Swift.
  private func some() async -> (bytes: [UInt8]?, isOpen: Bool) {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        continuation.resume(
          returning: count < 0 ? (nil, false) : (Array(bytes.prefix(count)), count > 0))
      }
    }
  }
}
