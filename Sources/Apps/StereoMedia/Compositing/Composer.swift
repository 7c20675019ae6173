// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// Composes the frames of a composition: reads its sources, calls the compositor and checks the
/// results.
struct Composer<Compositor: StereoCompositor> {
  private let composition: StereoComposition<Compositor>
  private let plan: CompositionPlan
  private let metadata: SpatialMetadata
  private let pictures = ReusedPictures()
  private var feeds: [SourceFeed]
  private var position = 0
  private var lastTime: Duration?
  private var format: PictureFormat?

  /// - Parameter position: the first frame to compose, as a position in the plan.
  init(_ composition: StereoComposition<Compositor>, from position: Int = 0) throws {
    self.composition = composition
    self.position = position
    plan = try composition.plan()
    metadata = composition.metadata
    var options = StereoReader.Options()
    (options.format, options.size) = (composition.format, composition.size)
    options.colour = composition.colour
    feeds = composition.sources.map { [options] in SourceFeed($0, options) }
  }

  /// Returns the next frame that the compositor does not skip; nil after the last one.
  mutating func next() async throws -> StereoFrame? {
    while let (time, duration) = plan.place(of: position) {
      position += 1
      // A movie may have several frames at the same time; only one of them can be shown.
      if let lastTime, time <= lastTime { continue }
      lastTime = time
      try Task.checkCancellation()
      let request = try await request(time, duration)
      let compositor = composition.compositor
      let composed = try await ProgramCall { try await compositor.compose(request) }.value
      guard
        let (left, right) = try composed.eyes(of: request, as: composition.compositor.output)
      else { continue }
      try check(left, time)
      try check(right, time)
      return StereoFrame(
        left: left, right: right, time: time, duration: duration, metadata: metadata)
    }
    return nil
  }

  private mutating func request(
    _ time: Duration, _ duration: Duration
  ) async throws -> CompositionRequest<Compositor.Instruction> {
    var frames: [String: StereoFrame] = [:]
    for index in feeds.indices {
      frames[feeds[index].source.id] = try await feeds[index].frame(at: time)
    }
    let (instruction, progress) = composition.instruction(at: time, in: plan.span)
    return CompositionRequest(
      time: time, duration: duration, instruction: instruction, progress: progress, frames: frames,
      pictures: pictures)
  }

  /// Checks that all pictures have the same format.
  private mutating func check(_ picture: Picture, _ time: Duration) throws(StereoMediaError) {
    let own = PictureFormat(picture)
    guard let format else {
      format = own
      return
    }
    guard own == format else {
      throw StereoMediaError(
        .invalidInput, "the composed picture at \(time) is \(own), earlier ones are \(format)",
        hint:
          "set 'format', 'size' and 'colour' of the composition to convert all sources alike")
    }
  }
}

/// Reads a source of a composition; frames are requested in the order of their times. The movie is
/// decoded only during its part of the composition.
struct SourceFeed {
  let source: CompositionSource
  private let options: StereoReader.Options
  private var frames: StereoReader.Iterator?
  private var held: StereoFrame?

  /// - Parameters:
  ///   - source: the source to read.
  ///   - options: the format of the frames.
  init(_ source: CompositionSource, _ options: StereoReader.Options) {
    (self.source, self.options) = (source, options)
  }

  /// Returns the frame that is shown at a time of the composition; nil if there is none.
  mutating func frame(at time: Duration) async throws -> StereoFrame? {
    guard time < source.part.end else {
      (frames, held) = (nil, nil)
      return nil
    }
    guard let index = source.part.frame(at: time) else { return nil }
    if frames == nil {
      var options = options
      options.range = source.part.rest(from: index)
      frames = StereoReader(source.movie, options).makeAsyncIterator()
    }
    while held?.index ?? -1 < index, let next = try await frames?.next() { held = next }
    return held?.index == index ? held : nil
  }
}

/// Creates pictures in the format of others, from a pool for the format of the last request.
final class ReusedPictures: Sendable {
  private let pool = Locked<(format: PictureFormat, buffers: VideoBufferPool)?>(nil)

  func picture(like other: Picture) throws -> MutablePicture {
    let format = PictureFormat(other)
    do {
      let buffers = try pool.withLock { pool in
        if let pool, pool.format == format { return pool.buffers }
        let made = try VideoBufferPool(other.info)
        pool = (format, made)
        return made
      }
      return MutablePicture(Buffer(try buffers.acquire()), buffers.info)
    } catch {
      throw StereoMediaError(.outOfMemory, "not enough memory for a picture of \(format)")
    }
  }
}
