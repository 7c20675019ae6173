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
    size = UInt64(clamping: status.st_size)
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
        case .segmentIndex, .randomAccess, .mediaData, .box: break
        }
      }
    } catch let error as ISOBMFFError where movie == nil {
      guard Self.firstBoxes.contains(try Self.firstType(file, path)) else {
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
  package let path: String
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
    if let format {
      try await Engine.start()
      try await format.copy(path, to: file)
    }
    var facts = try await Blocking.run { MovieFacts(try MovieReader(path: file)) }
    facts.copiedFrom = format
    if let complete, facts.video != nil, facts.stereo != .layered {
      try await Engine.start()
      let container =
        format == nil ? .movie(facts) : try await Blocking.run { ContainerFacts(path: path) }
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
}

/// A format of files that are copied into a movie to be read.
package enum CopiedFormat: String, Sendable {
  /// H.265 without a container (H.265 Annex B).
  case byteStream = "H.265 byte stream"
  case matroska = "Matroska"
  case transportStream = "MPEG transport stream"

  /// Recognizes a file by its first bytes; nil for QuickTime and MP4, all other formats, and files
  /// that cannot be read.
  package init?(path: String) {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var start = [UInt8](repeating: 0, count: 400)
    guard Glibc.read(file, &start, start.count) >= 12 else { return nil }
    func begins(_ bytes: [UInt8]) -> Bool { start.starts(with: bytes) }
    if begins([0x1A, 0x45, 0xDF, 0xA3]) {
      self = .matroska
    } else if [(0, 188), (4, 192)].contains(where: { offset, size in
      (0..<2).allSatisfy { start[offset + $0 * size] == 0x47 }
    }) {
      self = .transportStream
    } else if begins([0, 0, 0, 1]) || begins([0, 0, 1]) {
      self = .byteStream
    } else {
      return nil
    }
  }

  /// Time limit for a file without any progress, in seconds.
  private static let patience = 10

  /// Copies the first video track, and the audio tracks that a movie takes, without encoding.
  func copy(_ path: String, to movie: String) async throws {
    let reading = self == .byteStream ? "mvhevcdemux" : "parsebin"
    let pipeline = try Pipeline(
      parsing: "filesrc name=source ! \(reading) name=streams "
        + "mvhevcmux name=mux pad-timeout=0 ! filesink name=sink")
    defer { pipeline.end() }
    try pipeline.element(named: "source")?.set("location", parsing: path)
    try pipeline.element(named: "sink")?.set("location", parsing: movie)
    guard let streams = pipeline.element(named: "streams"), let mux = pipeline.element(named: "mux")
    else { throw StereoMediaError(.missingElement, "mvhevcmux is missing") }
    let copying = StreamCopy(to: mux, in: pipeline)
    streams.onPadAdded { copying.add($0) }
    let running = Task { try await pipeline.run() }
    copying.onRefusal { running.cancel() }
    // A damaged file may leave a demuxer without data and without an error.
    let watching = Task {
      var last = UInt64.max
      var quiet = 0
      while quiet < Self.patience {
        try await Task.sleep(for: .seconds(1))
        var status = stat()
        let size = stat(movie, &status) == 0 ? UInt64(clamping: status.st_size) : 0
        quiet = size == last ? quiet + 1 : 0
        last = size
      }
      copying.stall()
      running.cancel()
    }
    defer { watching.cancel() }
    do {
      try await withTaskCancellationHandler {
        try await running.value
      } onCancel: {
        running.cancel()
      }
    } catch let failure as PipelineFailure {
      throw StereoMediaError.unreadable(path, copying.refusal ?? failure.message)
    }
    try Task.checkCancellation()
    if let refusal = copying.refusal { throw StereoMediaError.unreadable(path, refusal) }
  }
}

/// Links the streams of a file to a muxer as they appear.
private final class StreamCopy: Sendable {
  private let mux: Element
  // The pipeline holds the closures that hold this.
  private unowned let pipeline: Pipeline
  private let state = Locked(State())

  private struct State {
    var hasVideo = false
    /// The media type of a video stream that the muxer does not take.
    var otherVideo: String?
    /// Whether all streams are known, and none is video that the muxer takes.
    var isRefused = false
    var onRefusal: (@Sendable () -> Void)?
    var hasStalled = false
  }

  init(to mux: Element, in pipeline: Pipeline) {
    self.mux = mux
    self.pipeline = pipeline
  }

  /// The reason that nothing could be copied; nil if there is a video track.
  var refusal: String? {
    let state = state.current
    guard !state.hasVideo else {
      return state.hasStalled ? "its tracks are too far apart, or it is damaged" : nil
    }
    return state.otherVideo.map { "its video is \($0), which only 'convert' reads" }
      ?? "there is no video in it"
  }

  /// Calls `body` when it is known that there is no video to copy.
  func onRefusal(_ body: @escaping @Sendable () -> Void) {
    let isRefused = state.withLock { state in
      state.onRefusal = body
      return state.isRefused
    }
    if isRefused { body() }
  }

  /// Notes that no data comes any more.
  func stall() { state.withLock { $0.hasStalled = true } }

  func add(_ pad: Pad) {
    let caps = pad.currentCaps ?? pad.possibleCaps
    let type = caps.mediaType ?? ""
    let isVideo = type.hasPrefix("video/") || type.hasPrefix("image/")
    // Layered H.265 has a pad for each eye, too.
    guard Eye(rawValue: pad.name) == nil else { return discard(pad) }
    let template = isVideo ? "video_%u" : "audio_%u"
    let isTaken = Self.takes(caps, template)
    let isWanted = state.withLock { state in
      guard isVideo else { return type.hasPrefix("audio/") && isTaken }
      if !isTaken { state.otherVideo = state.otherVideo ?? caps.codecDescription }
      defer { state.hasVideo = state.hasVideo || isTaken }
      return isTaken && !state.hasVideo
    }
    guard isWanted, let input = mux.requestPad(template) else { return discard(pad) }
    // Audio may begin seconds before or after the video.
    let settings = [
      "max-size-time": "\(10 * ClockTime.second.nanoseconds)", "max-size-buffers": "0",
      "max-size-bytes": "100000000",
    ]
    guard let queue = link(pad, to: "queue", settings) else { return }
    try? queue.staticPad("src")?.link(to: input)
  }

  /// Whether the muxer takes streams of these caps.
  private static func takes(_ caps: Caps, _ template: String) -> Bool {
    ElementFactory.named("mvhevcmux")?.padTemplates.first { $0.name == template }?.caps
      .canIntersect(caps) ?? false
  }

  /// Drops a stream. Its first buffer comes when all streams have appeared.
  private func discard(_ pad: Pad) {
    pad.watchBuffers { [weak self] _ in
      self?.refuseIfEmpty()
      return false
    }
    _ = link(pad, to: "fakesink", ["async": "false"])
  }

  private func refuseIfEmpty() {
    let body = state.withLock { state -> (@Sendable () -> Void)? in
      guard !state.hasVideo, !state.isRefused else { return nil }
      state.isRefused = true
      return state.onRefusal
    }
    body?()
  }

  /// Links a pad to a new element; nil if that fails, which the pipeline reports.
  private func link(_ pad: Pad, to factory: String, _ settings: [String: String]) -> Element? {
    guard let element = try? Element(factory), (try? pipeline.add(element)) != nil,
      let input = element.staticPad("sink")
    else { return nil }
    for (name, value) in settings { element.set(name, value) }
    element.followParentState()
    return (try? pad.link(to: input)) == nil ? nil : element
  }
}

/// A temporary file without a name: whatever becomes of the process, no copy of a movie is left.
final class ScratchFile: Sendable {
  /// The path, in this process only, for as long as this object lives.
  let path: String
  private let descriptor: Int32

  init() throws {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/gst-spatial-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else {
      throw StereoMediaError(.unreadable, "'\(base)': \(String(cString: strerror(errno)))")
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    unlink(template)
    path = "/proc/self/fd/\(descriptor)"
  }

  deinit { close(descriptor) }
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
