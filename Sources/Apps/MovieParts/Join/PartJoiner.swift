// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import ISOBMFF
internal import StereoMedia
internal import StereoVideo

/// `partjoiner`: the samples of all parts of a plan, as one stream. It exists only in this program.
///
/// The first part comes from `mvhevcdemux`, whose caps and tags describe the stream; its data is
/// not used. With the first buffer, the element reads the parts itself, one after the other: each
/// is open alone, and is hashed while the one before it is copied, after which it is in memory.
///
/// It begins with the first picture of the input, at the pad `start`: only then are the input's
/// other tracks linked, which the muxer has to know before it gets data.
///
/// Pictures have the times of the plan. Durations that are added up would drift where times are
/// rounded or vary.
final class PartJoiner: ElementImplementation {
  struct Settings {
    var folder: String?
    var isHead = false
  }

  struct Streaming {
    var hasJoined = false
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  private let source: Pad
  /// Whether the input's tracks are known, or waiting has ended.
  private let hasStarted = Monitor(false)

  /// Where the running time of the movie begins on the timestamps: samples are decoded before the
  /// first picture is shown.
  static let start = 3600 * ClockTime.second

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    let sink = try Pad(
      instance, template: "sink",
      .sink(chain: PartJoiner.receive, event: PartJoiner.handle)
        .waiting(PartJoiner.waitForStart, activated: PartJoiner.activate))
    let start = try Pad(
      instance, template: "start",
      .sink(chain: PartJoiner.receiveStart)
        .waiting(
          PartJoiner.begin, event: PartJoiner.handleStart, activated: PartJoiner.activate))
    source = try Pad(
      instance, template: "src",
      .source(query: PartJoiner.answer, event: PartJoiner.handleUpstream))
    add(sink)
    add(start)
    add(source)
  }

  func start() throws -> Streaming { Streaming() }

  // MARK: The start

  func activate(_ pad: Pad, _ isActive: Bool) {
    // A pad that is deactivated must not be waited for.
    hasStarted.change { $0 = !isActive }
  }

  func waitForStart(_ pad: Pad, _ buffer: Buffer) throws {
    hasStarted.wait { $0 ? () : nil }
  }

  /// Notes that the input has a picture, which is not needed.
  func begin(_ pad: Pad, _ buffer: Buffer) throws {
    hasStarted.change { $0 = true }
    throw FlowReturn.eos
  }

  func receiveStart(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    throw FlowReturn.eos
  }

  /// Takes all events, also while the parts are pushed. A second segment would otherwise wait for
  /// their end, and with it the input's other tracks, without which the parts are not taken.
  func handleStart(_ pad: Pad, _ event: Event) throws -> Bool {
    if case .endOfStream = event.kind { hasStarted.change { $0 = true } }
    return true
  }

  // MARK: The parts

  func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .caps(let caps):
      let described = try withTimescale(of: 0, caps)
      return source.push(.caps(described).following(event))
    case .segment, .gap: return true
    case .tags(let tags):
      let plan = settings.current.folder.flatMap { try? WorkFolder($0).plan() }
      guard plan?.isRange ?? false else { return pad.forward(event) }
      return source.push(.tags(tags.withoutChapterBox).following(event))
    case .endOfStream where streaming.hasJoined: return true
    default: return pad.forward(event)
    }
  }

  /// Returns caps with a frame rate from which the muxer takes the timescale of a part. Where rates
  /// vary, that of a part's own pictures differs from that of the input, and times would be rounded
  /// in another way than in one piece.
  private func withTimescale(of part: Int, _ caps: Caps) throws -> Caps {
    guard let path = settings.current.folder,
      let reader = try? MovieReader(path: WorkFolder(path).partFile(part)),
      let track = reader.movie.tracks.first(where: { $0.handlerType == "vide" }),
      let timescale = Int32(exactly: track.timescale), let rate = caps.first?.fraction("framerate"),
      TrackClock(framesPerSecond: rate.numerator, rate.denominator).timescale != track.timescale
    else { return caps }
    guard rate.numerator > 0, rate.denominator > 0, timescale != 90_000 else {
      return caps.with(["framerate": .fraction(Fraction(0, 1))], removing: ["framerate"])
    }
    // A fraction that can be reduced would have another numerator.
    var duration = max(1, Int64(timescale) * Int64(rate.denominator) / Int64(rate.numerator))
    while Self.divisor(duration, Int64(timescale)) != 1 { duration += 1 }
    let whole = Fraction(timescale, Int32(clamping: duration))
    return caps.with(["framerate": .fraction(whole)], removing: ["framerate"])
  }

  /// Returns the greatest common divisor.
  private static func divisor(_ a: Int64, _ b: Int64) -> Int64 {
    b == 0 ? a : divisor(b, a % b)
  }

  /// A head does not last as long as its first part.
  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    if case .duration = query.kind, settings.current.isHead { return false }
    return pad.forward(query)
  }

  /// Refuses seeks.
  func handleUpstream(_ pad: Pad, _ event: Event) throws -> Bool {
    if case .seek = event.kind { return false }
    return pad.forward(event)
  }

  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    guard !streaming.hasJoined, let path = settings.current.folder else { throw FlowReturn.eos }
    streaming.hasJoined = true
    let folder = WorkFolder(path)
    do {
      let plan = try folder.plan()
      try push(folder, plan, try folder.times(of: plan))
    } catch let error as PartError {
      // Settings that cannot be used are what trying again does not mend.
      throw ElementError(
        error.kind == .final ? .settings : .read,
        error.description.replacing("\n  = ", with: "; ") + ".")
    }
    source.push(.endOfStream)
    throw FlowReturn.eos
  }

  private func push(_ folder: WorkFolder, _ plan: ConversionPlan, _ times: PictureTimes) throws {
    var segment = Segment()
    segment.start = Self.start
    segment.time = 0
    source.push(.segment(segment))
    let key = try plan.key
    let clock = JoinClock(times, plan, start: Self.start)
    var jointBuffer = try Self.jointBuffer(plan, times)
    var first: (entry: SampleEntry, depth: Int)?
    var hash = PendingHash(ofFile: folder.partFile(0))
    for number in plan.cuts.indices {
      guard let receipt = folder.receipt(number, plan, key: key), try hash.value() == receipt.hash
      else {
        throw PartError(
          .repeatable, "part \(number) is missing or damaged",
          help: "gst-spatial part \(folder.path) \(number)")
      }
      if number + 1 < plan.cuts.count, !settings.current.isHead {
        hash = PendingHash(ofFile: folder.partFile(number + 1))
      }
      guard let pictures = plan.pictures(ofPart: number) else { return }
      let part = try JoinedPart(folder.partFile(number), times: times.times[pictures])
      let depth = part.reorderDepth
      // A part of a few pictures may reorder fewer.
      if let first, first.entry != part.entry {
        throw PartError(
          .final, "part \(number) has another format than part 0",
          help: "remove '\(folder.path)' and plan again")
      }
      first = (part.entry, max(depth, first?.depth ?? 0))
      let isLast = pictures.upperBound == plan.end
      let before = pictures.lowerBound - plan.pictures.lowerBound
      for (index, sample) in part.samples.enumerated() {
        let buffer = try part.read(sample)
        let picture = before + sample.picture
        buffer.pts = clock.time(picture)
        buffer.dts = clock.decodeTime(before + index, depth: first?.depth ?? depth)
        buffer.duration =
          isLast && picture + 1 == plan.pictures.count ? part.lastDuration : clock.duration(picture)
        if !sample.isSync { buffer.flags.insert(.deltaUnit) }
        if sample.isDroppable { buffer.flags.insert(.droppable) }
        try source.push(buffer).check()
        if settings.current.isHead { return }
        jointBuffer?.add(size: sample.size)
      }
      log.info(self, "part \(number): \(part.samples.count) pictures")
    }
    if let jointBuffer, let picture = jointBuffer.firstDry {
      let time = clock.time(min(picture, plan.pictures.count - 1)) - Self.start
      let seconds = Double(time.nanoseconds) / 1e9
      postWarning(ElementError(.encode, jointBuffer.warning(seconds: seconds)))
    }
  }
}

extension PartJoiner {
  /// Returns the buffer of a movie with a bitrate; nil for one with a quality.
  private static func jointBuffer(
    _ plan: ConversionPlan, _ times: PictureTimes
  ) throws -> JointBuffer? {
    guard plan.isTwoPass else { return nil }
    return JointBuffer(bitrate: try plan.rate().bitrate, framesPerSecond: times.rate ?? 1)
  }
}

/// The timestamps of joined pictures, by their numbers from 0.
struct JoinClock {
  private let times: [UInt64]
  private let shift: Int64
  private let start: ClockTime

  init(_ times: PictureTimes, _ plan: ConversionPlan, start: ClockTime) {
    self.times = Array(times.times[plan.pictures])
    // A range begins with its first picture.
    shift =
      plan.isRange ? -Int64(clamping: self.times.first ?? 0) : plan.runningTimeShift
    self.start = start
  }

  /// Returns when a picture is shown.
  func time(_ picture: Int) -> ClockTime {
    let sum = Int64(clamping: start.nanoseconds) + shift
    return ClockTime(nanoseconds: sum.addingReportingOverflow(Int64(clamping: times[picture])).0)
  }

  /// Returns the time until the next picture.
  func duration(_ picture: Int) -> ClockTime {
    picture + 1 < times.count ? ClockTime(nanoseconds: times[picture + 1] - times[picture]) : 0
  }

  /// Returns when the sample of this number in decoding order is decoded: when the picture is shown
  /// whose number is less by the reorder depth, as in a movie of one piece. The first ones are
  /// decoded before the movie begins.
  func decodeTime(_ sample: Int, depth: Int) -> ClockTime {
    guard sample < depth else { return time(sample - depth) }
    let lead = time(min(depth, times.count - 1)) - time(0)
    return time(min(sample, times.count - 1)) - lead
  }
}

/// The declaration of ``PartJoiner``, for this process alone.
enum PartJoinerPlugin {
  private static let declaration = ElementDeclaration<PartJoiner>(
    name: "partjoiner", typeName: "GstPartJoiner", longName: "Part joiner", klass: "Generic",
    description: "The samples of all parts of a conversion as one stream",
    author: "gst-spatial developers",
    padTemplates: [
      PadTemplate("sink", .sink, caps: Caps("video/x-h265")),
      PadTemplate("start", .sink, caps: .any),
      PadTemplate("src", .source, caps: Caps("video/x-h265")),
    ],
    properties: [
      .string("folder", nick: "Folder", blurb: "The work folder of the conversion", at: \.folder),
      .bool(
        "head", nick: "Head", blurb: "Whether the first picture is enough", default: false,
        at: \.isHead),
    ])

  /// Registers the element once.
  static let isRegistered: Bool = PluginDeclaration(
    name: "movieparts", description: "Joining of parts", version: ProjectVersion.current,
    license: "MPL", source: "gst-spatial", package: "gst-spatial", origin: "gst-spatial",
    releaseDate: ProjectVersion.releaseDate, features: [declaration, TimeRange.declaration]
  ).registerStatically()
}
