// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// The file format of a still image.
public enum ImageFormat: Hashable, Sendable {
  /// PNG, which is lossless.
  case png
  /// JPEG, with a quality from 0 to 100; other values are clamped.
  case jpeg(Int = 90)

  /// The encoder in gst-launch syntax, after `videoconvert`.
  ///
  /// JPEG files have the full range and the matrix of ITU-R BT.601 (JFIF); `jpegenc` takes what
  /// comes, and viewers would show the limited range of video as washed-out pictures.
  package var encoder: String {
    switch self {
    case .png: "pngenc"
    case .jpeg(let quality):
      "video/x-raw,format={I420,Y42B,Y444},colorimetry=(string)1:4:0:0 ! "
        + "jpegenc quality=\(min(max(quality, 0), 100))"
    }
  }
}

extension Picture {
  /// Returns the picture as an image file.
  ///
  /// - Throws: a ``StereoMediaError`` if it cannot be encoded; `CancellationError` if the task is
  ///   cancelled.
  public func encoded(as format: ImageFormat = .png) async throws -> [UInt8] {
    try await PictureEncoder(format, packing: "side-by-side").encode([self])
  }
}

/// An image file in memory, and the frame that it shows.
public struct EncodedImage: Sendable {
  /// The content of the file.
  public let bytes: [UInt8]
  /// The file format.
  public let format: ImageFormat
  /// The requested time; nil if the frame was requested by its index.
  public let requestedTime: Duration?
  /// Presentation time of the frame that it shows.
  public let actualTime: Duration
  /// Position of that frame in the movie's ``FrameIndex``.
  public let index: Int
}

/// Encodes pictures as image files, one after the other.
final class PictureEncoder: Sendable {
  private let format: ImageFormat
  /// The way in which two pictures become one, as a mode of `stereopack`.
  private let packing: String
  private let run = Locked<Run?>(nil)

  init(_ format: ImageFormat, packing: String) {
    (self.format, self.packing) = (format, packing)
  }

  /// Returns a file with one picture, or with two pictures combined. Used by one task at a time.
  func encode(_ pictures: [Picture]) async throws -> [UInt8] {
    let caps = pictures.map(\.info.caps)
    let current = run.withLock { $0 }
    let encoder: Run
    if let current, current.takes(caps) {
      encoder = current
    } else {
      encoder = try await Blocking.run { [format, packing] in
        try Run(caps, format, packing: packing)
      }
      run.withLock { $0 = encoder }
    }
    do {
      return try await encoder.encode(pictures)
    } catch {
      // The pipeline may still output this picture at the next call.
      run.withLock { $0 = nil }
      throw error
    }
  }

  /// A pipeline for pictures of the same caps.
  private final class Run: Sendable {
    private let caps: [Caps]
    private let pipeline: FedPipeline
    private let sink: AppSink
    private let count = Locked(0)

    init(_ caps: [Caps], _ format: ImageFormat, packing: String) throws {
      self.caps = caps
      let end = "videoconvert ! \(format.encoder) ! appsink name=sink"
      let line =
        caps.count == 1
        ? "appsrc name=source0 ! \(end)"
        : "appsrc name=source0 ! videoconvert ! pack.left appsrc name=source1 ! videoconvert "
          + "! pack.right stereopack name=pack mode=\(packing) ! \(end)"
      do {
        let pipeline = try Pipeline(parsing: line)
        guard let last = pipeline.element(named: "sink") else {
          throw ElementError(.missingPlugin, "no element \"appsink\"")
        }
        let waker = Waker()
        sink = AppSink(last, AppSink.Settings(), waker: waker)
        self.pipeline = FedPipeline(
          pipeline, sources: caps.indices.map { "source\($0)" }, depth: 1,
          problem: PipelineProblem("picture"), waker: waker)
        self.pipeline.input.setCaps(caps)
      } catch {
        throw StereoMediaError(building: error)
      }
    }

    func takes(_ caps: [Caps]) -> Bool {
      caps.count == self.caps.count && zip(caps, self.caps).allSatisfy { $0.isEqual(to: $1) }
    }

    func encode(_ pictures: [Picture]) async throws -> [UInt8] {
      // One second apart, so that times increase and both pictures of a pair have the same one.
      let time = count.withLock { count in
        count += 1
        return count * ClockTime.second
      }
      let buffers = pictures.map { picture in
        let buffer = picture.buffer.copied()
        (buffer.pts, buffer.dts, buffer.duration) = (time, nil, .second)
        return buffer
      }
      try pipeline.input.push(
        buffers, failure: StereoMediaError(.decodingFailed, "a picture cannot be encoded"))
      while true {
        let count = pipeline.waker.count
        try Task.checkCancellation()
        if let file = sink.pull() { return file.buffer.bytes }
        if let error = pipeline.problem.error { throw error }
        await pipeline.waker.wait(since: count)
      }
    }
  }
}
