// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// A file that is written from its beginning to its end, and gets its name when it is complete and
/// on the disk.
final class NewFile {
  private let descriptor: Int32
  private let draft: String
  private let path: String
  private var isComplete = false

  init(_ path: String) throws(PartError) {
    self.path = path
    draft = "\(path).\(SmallFiles.owner).incomplete"
    descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw SmallFiles.failure(draft, "cannot be written") }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if !isComplete, descriptor >= 0 { SmallFiles.remove(draft) }
  }

  func write(_ bytes: [UInt8]) throws(PartError) {
    var done = 0
    while done < bytes.count {
      let start = done
      let count = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + start }, $0.count - start)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SmallFiles.failure(draft, "cannot be written") }
      done += count
    }
  }

  /// Copies bytes of another file, which never enter this process.
  func copy(_ range: Range<UInt64>, of file: OpenedFile) throws(PartError) {
    var position = off_t(clamping: range.lowerBound)
    let end = off_t(clamping: range.upperBound)
    while position < end {
      let count = sendfile(descriptor, file.descriptor, &position, Int(end - position))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SmallFiles.failure(draft, "cannot be written") }
      guard count > 0 else {
        throw PartError(.repeatable, "a part is shorter than its index says")
      }
    }
  }

  func finish() throws(PartError) {
    guard fsync(descriptor) == 0 else { throw SmallFiles.failure(draft, "cannot be written") }
    try SmallFiles.move(draft, to: path)
    isComplete = true
  }
}
