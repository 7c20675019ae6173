// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Packager

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Writes the files of a presentation. A file gets its name only when it is complete, as players
/// may request it at any moment.
///
/// A folder is created when the first file is written to it, and only once: if it is removed later,
/// the files listed in the playlists are lost as well.
final class OutputFolder {
  private var made: Set<Substring> = []
  /// The file whose lock says that this object writes the presentation.
  private var lock: (file: Int32, path: String)?
  private var hasTriedToLock = false

  deinit {
    guard let lock else { return }
    unlink(lock.path)
    close(lock.file)
  }

  /// Makes this object the only one that writes a presentation, until it is released. Of a program
  /// that was killed, the lock is gone. Where files cannot be locked, nothing is.
  ///
  /// - Parameter path: the file that stands for the presentation.
  /// - Throws: an ``ElementError`` if another run is writing it.
  func own(_ path: String) throws {
    guard !hasTriedToLock else { return }
    hasTriedToLock = true
    makeFolders(of: path)
    let name = path + ".lock"
    for _ in 0..<100 {
      let file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      guard file >= 0 else { return }
      guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
        let isTaken = errno == EWOULDBLOCK
        close(file)
        guard isTaken else { return }
        throw ElementError(
          .write,
          "Another run is writing '\(path)'; end that one, or write to another folder.")
      }
      // The run before may have removed the file in the meantime.
      var (mine, named) = (stat(), stat())
      if fstat(file, &mine) == 0, stat(name, &named) == 0, mine.st_ino == named.st_ino {
        lock = (file, name)
        return
      }
      close(file)
    }
  }

  /// Writes a file and gives it its name.
  ///
  /// - Throws: an ``ElementError`` that says which file, and why; nothing of it is left then.
  func write(_ blocks: [PackagerOutput<Buffer>.Block], to path: String) throws {
    let temporary = path + ".tmp"
    var file = create(temporary)
    let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    if file < 0, errno == ENOENT, !made.contains(folder) {
      makeFolders(of: path)
      file = create(temporary)
    }
    guard file >= 0 else { throw Self.error(path) }
    made.insert(folder)
    do {
      for block in blocks {
        try block.withBytes { try write($0, to: file, path) }
      }
      // A full disk may say so only now.
      let isClosed = close(file) == 0
      file = -1
      guard isClosed, rename(temporary, path) == 0 else { throw Self.error(path) }
    } catch {
      if file >= 0 { close(file) }
      unlink(temporary)
      throw error
    }
  }

  func remove(_ path: String) { unlink(path) }

  /// Removes all files that earlier runs have left of a presentation, first those by which players
  /// find the others.
  func remove(_ earlier: EarlierPresentation) {
    for path in earlier.lists {
      unlink(path)
      unlink(path + ".tmp")
    }
    for rendition in earlier.renditions {
      for (folder, isOwn) in earlier.folders(of: rendition) {
        for name in Self.files(in: folder.isEmpty ? "." : folder) {
          let path = folder.isEmpty ? name : folder + "/" + name
          if earlier.holds(path, of: rendition) { unlink(path) }
        }
        // It stays if it holds anything else.
        if isOwn { rmdir(folder) }
      }
    }
  }

  /// Returns the names of the files in a folder; none if it cannot be read.
  private static func files(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        })
    }
    return names
  }

  /// Reads a playlist; nil if there is none.
  ///
  /// - Throws: an ``ElementError`` if it cannot be read.
  func playlist(_ path: String) throws -> MediaPlaylist? {
    guard let bytes = try read(path) else { return nil }
    do {
      return try MediaPlaylist(parsing: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw ElementError(
        .read,
        "'\(path)' cannot be appended to: \(error). Remove it, or set append=false to replace it.")
    }
  }

  /// Reads a file; nil if there is none.
  func read(_ path: String) throws -> [UInt8]? {
    try SmallFile.bytes(of: path, limit: Self.largestFile)
  }

  /// Returns the size of a file in bytes; 0 if there is none.
  func size(of path: String) -> UInt64 {
    var facts = stat()
    return stat(path, &facts) == 0 ? UInt64(clamping: facts.st_size) : 0
  }

  /// Maximum size of a playlist or partial segment that is read, in bytes.
  private static let largestFile = 1 << 26

  private func create(_ path: String) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
  }

  private func makeFolders(of path: String) {
    for (index, character) in zip(path.indices, path) where character == "/" {
      let folder = String(path[..<index])
      if !folder.isEmpty { mkdir(folder, 0o755) }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, _ path: String) throws {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(file, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.error(path) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  private static func error(_ path: String) -> ElementError {
    let code = errno
    return ElementError(
      code == ENOSPC ? .noSpaceLeft : .write,
      "'\(path)' could not be written: \(String(cString: strerror(code))).")
  }
}

/// Output of a presentation: to files, or to streams that the application provides through the
/// signals of `hlssink3` and `hlsmultivariantsink`.
struct PresentationOutput {
  private static let removal = "delete-fragment"

  static var signals: [Signal<MVHEVCHLSSink>] {
    PackagerOutput<Buffer>.FileKind.allCases.map { .outputStream($0.signal) } + [.removal(removal)]
  }

  let element: MVHEVCHLSSink
  let folder = OutputFolder()

  init(element: MVHEVCHLSSink) {
    self.element = element
  }

  /// Whether the playlists are files, and not streams of an application, which keeps order itself.
  var isFolder: Bool {
    !element.hasHandler(of: PackagerOutput<Buffer>.FileKind.mediaPlaylist.signal)
  }

  /// Writes a file, or hands it to the application.
  ///
  /// - Throws: an ``ElementError`` that says which file, and why.
  func write(
    _ kind: PackagerOutput<Buffer>.FileKind, _ blocks: [PackagerOutput<Buffer>.Block],
    to path: String
  ) throws {
    guard let stream = try element.requestOutputStream(kind.signal, location: path) else {
      return try folder.write(blocks, to: path)
    }
    do {
      for block in blocks { try block.withBytes { try stream.write($0) } }
      try stream.close()
    } catch {
      throw ElementError(.write, "'\(path)' could not be written: \(error)")
    }
  }

  /// Removes a file, or has the application do so.
  func remove(_ path: String) {
    if element.requestRemoval(Self.removal, location: path) == nil { folder.remove(path) }
  }
}

extension PackagerOutput.FileKind {
  /// The signal that requests a stream from the application.
  fileprivate var signal: String {
    switch self {
    case .initializationSegment: "get-init-stream"
    case .segment: "get-fragment-stream"
    case .mediaPlaylist: "get-playlist-stream"
    case .presentation: "get-multivariant-playlist-stream"
    }
  }
}

extension PackagerOutput<Buffer>.Block {
  func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    switch self {
    case .bytes(let bytes): try bytes.withUnsafeBytes(body)
    case .payload(let buffer): try buffer.withBytes(body)
    }
  }
}
