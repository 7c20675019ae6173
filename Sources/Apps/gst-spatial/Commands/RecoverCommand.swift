// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import ISOBMFF

struct RecoverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Finish an interrupted recording in place.",
    discussion: """
      A fragmented recording (fragment-mode=first-moov-then-finalise) can be played even if it was \
      interrupted, for example by a power failure, a full disk or a crash. This command writes the \
      index that turns it into an ordinary movie, which the recorder had no time to do. All \
      complete fragments are kept bit for bit; the file only grows by the index. If the command is \
      interrupted, it can be run again.

      EXAMPLES
        gst-spatial recover take.incomplete.mov
        gst-spatial recover *.mov
      """)

  @Argument(help: "Fragmented recordings.", completion: PipelineCompletion.movie)
  var movies: [String]

  func run() throws {
    var hasFailed = false
    for path in movies {
      do {
        let file = try InterruptedFile(path)
        let recovered = try file.recover()
        try file.finish(recovered)
        Terminal.output.line("\(path): " + recovered.text)
      } catch MovieRecoveryError.isComplete {
        Terminal.output.line("\(path): \(MovieRecoveryError.isComplete)")
      } catch {
        Terminal.error.line("error: \(path): \(error)")
        hasFailed = true
      }
    }
    if hasFailed { throw ExitCode.mistakes }
  }
}

extension RecoveredMovie {
  /// A summary in one line.
  fileprivate var text: String {
    let video = tracks.first { $0.handlerType == "vide" }
    let seconds = tracks.map(\.duration).max() ?? 0
    var parts = ["recovered \(NumberFormat.decimal(seconds, 1)) s"]
    if let video { parts.append("\(video.sampleCount) frames") }
    if lostByteCount > 0 {
      parts.append(
        "\(NumberFormat.size(Int(clamping: lostByteCount))) of an incomplete fragment were dropped")
    }
    return parts.joined(separator: ", ")
  }
}

/// The file of an interrupted recording, open for reading and writing.
final class InterruptedFile {
  private let descriptor: Int32
  private let size: UInt64

  /// Opens the file. Throws an error whose description says why it cannot be changed.
  init(_ path: String) throws {
    descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError() }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError() }
    size = UInt64(clamping: status.st_size)
    guard status.st_mode & S_IFMT == S_IFREG else { throw InterruptedFileError.notAFile }
    // The lease is refused if another program has the file open; some file systems have no leases.
    guard fcntl(descriptor, Self.setLease, F_WRLCK) == 0 || errno != EAGAIN else {
      throw InterruptedFileError.isBeingWritten
    }
  }

  deinit {
    close(descriptor)
  }

  /// `F_SETLEASE` of Linux, which Glibc's header declares only with `_GNU_SOURCE`.
  private static let setLease: Int32 = 1024

  /// Returns the data that would complete the file, without writing anything.
  func recover() throws -> RecoveredMovie {
    var recovery = MovieRecovery(fileSize: size)
    while true {
      switch try recovery.next() {
      case .needBytes(let range): recovery.supply(try read(range), at: range.lowerBound)
      case .recovered(let movie): return movie
      }
    }
  }

  /// Completes the file; each step is flushed to disk before the next.
  func finish(_ movie: RecoveredMovie) throws {
    if let closing = movie.closing {
      try write(closing.bytes, at: closing.offset)
      try sync()
    }
    guard ftruncate(descriptor, off_t(clamping: movie.tail.offset)) == 0 else {
      throw SystemError()
    }
    do {
      try write(movie.tail.index, at: movie.tail.offset)
      try sync()
    } catch {
      // Half an index does no harm, but its space is needed if the disk is full.
      _ = ftruncate(descriptor, off_t(clamping: movie.tail.offset))
      throw error
    }
    try write(movie.tail.patch.bytes, at: movie.tail.patch.offset)
    try sync()
  }

  private func read(_ range: Range<UInt64>) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(clamping: range.upperBound - range.lowerBound))
    let count = pread(descriptor, &bytes, bytes.count, off_t(clamping: range.lowerBound))
    guard count > 0 else { throw SystemError() }
    return Array(bytes.prefix(count))
  }

  private func write(_ bytes: [UInt8], at offset: UInt64) throws {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, off_t(clamping: offset) + off_t(written))
      }
      guard count > 0 else { throw SystemError() }
      written += count
    }
  }

  private func sync() throws {
    guard fsync(descriptor) == 0 else { throw SystemError() }
  }
}

enum InterruptedFileError: Error, CustomStringConvertible {
  case notAFile
  case isBeingWritten

  var description: String {
    switch self {
    case .notAFile: "it is not a file"
    case .isBeingWritten:
      "another program has it open; try again after that program has closed it"
    }
  }
}

/// The error in `errno`.
struct SystemError: Error, CustomStringConvertible {
  let code = errno

  var description: String { String(cString: strerror(code)) }
}
