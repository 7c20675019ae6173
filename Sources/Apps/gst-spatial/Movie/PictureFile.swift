// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// Picture files.
enum PictureFile {
  static func write(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw PictureError(path) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let error = PictureError(path)
        close(file)
        unlink(path)
        throw error
      }
      rest = rest.dropFirst(count)
    }
    guard close(file) == 0 else { throw PictureError(path) }
  }

  /// Of a PNG picture: its first chunk says it.
  static func pngSize(_ path: String) throws -> (width: Int, height: Int)? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw PictureError(path) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 24)
    guard read(file, &bytes, bytes.count) == bytes.count else { return nil }
    func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }
    let size = (width: number(16..<20), height: number(20..<24))
    return size.width > 0 && size.height > 0 ? size : nil
  }
}

/// Why a picture cannot be written, by the last system call's error.
struct PictureError: Error, CustomStringConvertible {
  let description: String

  init(_ path: String) {
    description = "'\(path)': \(String(cString: strerror(errno)))"
  }
}
