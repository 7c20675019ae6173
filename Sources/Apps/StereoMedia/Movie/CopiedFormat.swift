// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import TransportStream

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A format of files that are copied into a movie to be read.
package enum CopiedFormat: String, Sendable {
  /// H.265 without a container (H.265 Annex B).
  case byteStream = "H.265 byte stream"
  /// H.264 without a container (H.264 Annex B), of one view or both.
  case h264ByteStream = "H.264 byte stream"
  case matroska = "Matroska"
  case transportStream = "MPEG transport stream"

  /// Recognizes a file by its first bytes; nil for QuickTime and MP4, all other formats, and files
  /// that cannot be read.
  package init?(path: String) {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var start = [UInt8](repeating: 0, count: TransportStreamReader.startSize)
    start.removeLast(start.count - max(read(file, &start, start.count), 0))
    guard start.count >= 12 else { return nil }
    func begins(_ bytes: [UInt8]) -> Bool { start.starts(with: bytes) }
    if begins([0x1A, 0x45, 0xDF, 0xA3]) {
      self = .matroska
    } else if TransportStreamReader.mayBegin(with: start) {
      self = .transportStream
    } else if begins([0, 0, 0, 1]) || begins([0, 0, 1]) {
      self = MultiviewProbe.isH264(path) ? .h264ByteStream : .byteStream
    } else {
      return nil
    }
  }

  /// Time limit for a file without any progress, in seconds.
  private static let patience = 10

  /// Facts about the file that its copy does not tell.
  struct Report: Sendable {
    /// The assumptions that had to be made, one line each.
    var assumptions: [String] = []
    /// The tracks that are not in the copy.
    var otherTracks: [UncopiedTrack] = []
  }

  /// Copies the first video track, and the audio tracks that a movie takes, without encoding.
  func copy(_ path: String, to movie: String) async throws -> Report {
    if self == .h264ByteStream {
      return Report(assumptions: try await ByteStreamCopy.run(path, to: movie))
    }
    let isMVC = self == .transportStream && MultiviewProbe.isMultiview(path, self)
    // A parser after mvctsdemux would lose one view's parameter sets.
    let reading = self == .byteStream ? "mvhevcdemux" : isMVC ? "mvctsdemux" : "parsebin"
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
    return Report(otherTracks: copying.otherTracks)
  }
}

/// A track that is not in the copy of a file, such as subtitles.
package struct UncopiedTrack: Equatable, Sendable {
  /// The media type: `video`, `audio`, `subtitles`, or that of GStreamer.
  package let kind: String
  /// The coding in words, or GStreamer's media type.
  package let codec: String
  /// ISO 639-2 code; nil if it is unknown.
  package fileprivate(set) var language: String?

  fileprivate init(_ caps: Caps) {
    let type = caps.mediaType ?? "unknown"
    kind =
      switch type.prefix(while: { $0 != "/" }) {
      case "video", "image": "video"
      case "audio": "audio"
      case "text", "subpicture": "subtitles"
      default: ["application/x-ssa", "application/x-ass"].contains(type) ? "subtitles" : type
      }
    codec = caps.codecDescription
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
    /// The streams that are not copied, in the order of the file.
    var others: [UncopiedTrack] = []
  }

  init(to mux: Element, in pipeline: Pipeline) {
    self.mux = mux
    self.pipeline = pipeline
  }

  /// The reason that the file cannot be copied; nil if there is none.
  var refusal: String? {
    let state = state.current
    if state.hasStalled { return "its tracks are too far apart, or it is damaged" }
    guard !state.hasVideo else { return nil }
    return state.otherVideo.map { "its video is \($0), which only 'convert' reads" }
      ?? "there is no video in it"
  }

  var otherTracks: [UncopiedTrack] { state.current.others }

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
    let track = UncopiedTrack(pad.currentCaps ?? pad.possibleCaps)
    let index: Int? = state.withLock { state in
      // The second eye of layered H.265 is in the track of the first.
      guard Eye(rawValue: pad.name) == nil else { return nil }
      state.others.append(track)
      return state.others.count - 1
    }
    pad.watchBuffers { [weak self] buffer in
      if let index { self?.note(buffer.tags?.string(Tag.languageCode), of: index) }
      self?.refuseIfEmpty()
      return false
    }
    _ = link(pad, to: "fakesink", ["async": "false"])
  }

  /// Notes the language of a stream, which is known when its first buffer comes.
  private func note(_ language: String?, of index: Int) {
    guard let code = language.flatMap(TagList.languageCode), code != "und" else { return }
    state.withLock { $0.others[index].language = code }
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
