// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
package import ISOBMFF

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The index of a movie file, including its movie fragments.
package struct MovieReader: Sendable {
  package let fileType: FileType?
  package let movie: Movie
  /// Size of the file in bytes.
  package let size: UInt64
  fileprivate let version: FileVersion
  private let path: String

  /// Reads only the byte ranges that the parser requests. Throws a ``StereoMediaError``.
  package init(path: String) throws {
    // Opening a FIFO that has no writer would block.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      throw StereoMediaError.unreadable(path, String(cString: strerror(errno)))
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw StereoMediaError.notAFile(path) ?? .unreadable(path, "it is not a file")
    }
    self.path = path
    size = UInt64(clamping: status.st_size)
    version = FileVersion(status)
    guard size > 0 else { throw StereoMediaError(.unreadable, "'\(path)' is empty") }
    var parser = MovieParser(fileSize: size)
    var fileType: FileType?
    var movie: Movie?
    do {
      reading: while true {
        switch try parser.next() {
        case .needBytes(let range):
          parser.supply(try Self.read(file, range, path), at: range.lowerBound)
        case .fileType(let type): fileType = type
        case .movie(let index): movie = index
        case .fragment(let fragment): movie?.append(fragment)
        case .end: break reading
        case .segmentIndex, .randomAccess, .mediaData, .userBox, .box: break
        }
      }
    } catch let error as ISOBMFFError where movie == nil {
      guard size >= 8, Self.firstBoxes.contains(try Self.firstType(file, path)) else {
        throw StereoMediaError.notAMovie(path)
      }
      throw StereoMediaError.unreadable(path, "\(error)")
    } catch is ISOBMFFError {
      // Damage after the index does not invalidate the index.
    }
    guard let movie else {
      throw StereoMediaError.unreadable(
        path, "it is not a QuickTime or MP4 movie: there is no 'moov' box")
    }
    (self.fileType, self.movie) = (fileType, movie)
  }

  /// Maximum size of a sample that is read, in bytes; decoders accept no larger ones.
  private static let sampleLimit: UInt32 = 1 << 26

  /// Passes the first samples of a track to `body`, one after the other, until it returns false, or
  /// one cannot be read.
  func readFirstSamples(of track: Track, count: Int, _ body: ([UInt8]) -> Bool) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    for index in 0..<min(track.samples.count, count) {
      guard let record = track.samples.sample(at: index), record.size <= Self.sampleLimit,
        record.offset <= size, UInt64(record.size) <= size - record.offset,
        let bytes = try? Self.read(file, record.offset..<record.offset + UInt64(record.size), path),
        bytes.count == Int(record.size), body(bytes)
      else { return }
    }
  }

  /// The types of the boxes with which movies begin.
  private static let firstBoxes: Set<FourCC> = [
    "ftyp", "styp", "moov", "moof", "mdat", "wide", "free", "skip", "pnot", "uuid", "sidx", "pdin",
  ]

  private static func firstType(_ file: Int32, _ path: String) throws -> FourCC {
    let bytes = try read(file, 0..<8, path)
    return FourCC(rawValue: bytes.dropFirst(4).reduce(0) { $0 << 8 | UInt32($1) })
  }

  private static func read(_ file: Int32, _ range: Range<UInt64>, _ path: String) throws -> [UInt8]
  {
    var bytes = [UInt8](repeating: 0, count: Int(clamping: range.upperBound - range.lowerBound))
    let count = pread(file, &bytes, bytes.count, off_t(clamping: range.lowerBound))
    guard count > 0 else { throw StereoMediaError.unreadable(path, "it ends within its index") }
    return Array(bytes.prefix(count))
  }
}

/// The file from which a movie is decoded. Files of a format that has no index of all frames are
/// first copied into a temporary movie.
package final class MovieSource: Sendable {
  /// The path of the movie file.
  private let path: String
  /// The movie's path in messages.
  let name: String
  package let facts: MovieFacts
  private let copy: ScratchFile?

  /// Throws a ``StereoMediaError`` if the file is not a movie.
  ///
  /// - Parameter complete: adds what the user specifies, if the layout of a movie that is not
  ///   layered is to be recognized; nil to take it as the movie signals it.
  package init(
    _ path: String, recognizing complete: ((inout LayoutEvidence) -> Void)? = nil
  ) async throws {
    name = path
    if let error = try await Blocking.run({ StereoMediaError.notAFile(path) }) { throw error }
    let format = try await Blocking.run { CopiedFormat(path: path) }
    let copy = try format.map { _ in try ScratchFile() }
    let file = copy?.path ?? path
    var report = CopiedFormat.Report()
    if let format {
      try await Engine.start()
      report = try await format.copy(path, to: file)
    }
    var facts = try await Blocking.run { MovieFacts(try MovieReader(path: file)) }
    (facts.copiedFrom, facts.assumptions) = (format, report.assumptions)
    facts.otherTracks = report.otherTracks
    if let complete, facts.video != nil, !facts.hasEyesOfTheirOwn {
      try await Engine.start()
      let container =
        format == nil ? .movie(facts) : try await Blocking.run { try ContainerFacts(path: path) }
      do throws(RecognizedLayout.Refusal) {
        facts.recognition = .success(
          try await RecognizedLayout.recognize(
            path, container, within: RecognizedLayout.displayBudget, complete))
      } catch {
        facts.recognition = .failure(error)
      }
    }
    (self.path, self.facts, self.copy) = (file, facts, copy)
  }

  /// Returns the path of the movie file.
  ///
  /// - Throws: a ``StereoMediaError`` if the file has been removed or changed since its index was
  ///   read.
  package func currentPath() throws(StereoMediaError) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw .unreadable(name, String(cString: strerror(errno)))
    }
    let (now, then) = (FileVersion(status), facts.reader.version)
    guard now == then || facts.reader.movie.isFragmented && now.isGrown(from: then) else {
      throw StereoMediaError(
        .unreadable, "'\(name)' has changed since it was opened", hint: "open it again")
    }
    return path
  }
}

/// The identity of a file and of its contents.
private struct FileVersion: Equatable {
  let device: dev_t
  let inode: ino_t
  let size: off_t
  let seconds: Int
  let nanoseconds: Int

  init(_ status: stat) {
    (device, inode, size) = (status.st_dev, status.st_ino, status.st_size)
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec)
  }

  /// Whether this may be the same file, to which more has been written: a recording in progress.
  func isGrown(from earlier: FileVersion) -> Bool {
    (device, inode) == (earlier.device, earlier.inode) && size >= earlier.size
  }
}

/// A folder for temporary files.
package struct ScratchFolder: Sendable {
  package let path: String

  package init() throws {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/gst-spatial-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw StereoMediaError(.unreadable, "'\(base)': \(String(cString: strerror(errno)))")
    }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? base }
  }

  /// Removes the folder and the files in it.
  package func remove() {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        unlink("\(path)/\(name)")
      }
      closedir(folder)
    }
    rmdir(path)
  }
}
