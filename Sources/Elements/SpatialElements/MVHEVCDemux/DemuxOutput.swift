// SPDX-License-Identifier: MPL-2.0

public import GStreamer
import ISOBMFF
public import MoviePlayer
import StereoVideo

/// One source pad and its stream's description.
final class DemuxOutput {
  let role: PlayerStream.Role
  /// Whether the samples have several views.
  let isLayered: Bool
  let isVideo: Bool
  let pad: Pad
  let stream: GStreamer.Stream
  private(set) var caps: Caps
  /// Tags sent once, after the first segment.
  private let tags: [TagList]
  /// Whether EOS has been pushed.
  var hasEnded = false
  /// Whether there has been a keyframe since the segment began.
  private var hasKeyframe = false
  /// Whether the pad was linked at the last check.
  private(set) var isTaken = true

  /// Makes an active pad with stream-start and caps, not yet added to the element.
  ///
  /// - Parameters:
  ///   - upstream: upstream caps, for an elementary stream.
  ///   - movieTags: tags of the whole movie; nil if there is no movie.
  ///   - group: the group id shared by all streams of the input.
  init(
    _ stream: PlayerStream, of element: MVHEVCDemux, upstream: Caps?, movieTags: TagList?,
    group: UInt32
  ) throws {
    role = stream.role
    isVideo = stream.kind == .video
    isLayered = stream.format.viewCount > 1
    let caps = try Self.caps(stream.role, stream.format, upstream: upstream)
    self.caps = caps
    pad = try Pad(
      element.instance, template: stream.padTemplate, name: stream.padName,
      .source(query: MVHEVCDemux.answer, event: MVHEVCDemux.handleFromDownstream))
    self.stream = GStreamer.Stream(
      id: pad.streamID(element, suffix: stream.idSuffix), caps: caps, type: stream.type,
      isSparse: stream.kind == .other, isUnselected: stream.isUnselected)
    let own = stream.track.map {
      DemuxTags.stream($0, caps: caps, spatial: stream.format.spatialMetadata)
    }
    tags =
      own.map { $0.isEmpty ? [] : [$0] + (movieTags.map { [$0] } ?? []) } ?? [TagList()]
    self.stream.setTags(own ?? TagList())
    pad.setActive(true)
    pad.useFixedCaps()
    pad.push(.streamStart(self.stream, group: group))
    pad.push(.caps(caps))
  }

  private static func caps(
    _ role: PlayerStream.Role, _ format: StreamFormat, upstream: Caps?
  ) throws -> Caps {
    switch format {
    case .eye(let format): return try DemuxVideoCaps.eye(role.eye ?? .left, format)
    case .samples(let format):
      switch format.entry {
      case .video(let entry):
        return DemuxVideoCaps.samples(
          entry, format.description, viewCount: format.viewCount)
      case .audio(let entry): return DemuxAudioCaps.caps(entry)
      case .other(let entry):
        return Caps(
          CodecTable.meta.row(entry.type).media,
          ["codec_data": .buffer(Buffer(entry.content))])
      }
    case .elementary(let format): return DemuxVideoCaps.elementary(format, upstream: upstream)
    }
  }

  /// Changes the stream's format from here on.
  func setFormat(_ format: StreamFormat) throws {
    let caps = try Self.caps(role, format, upstream: nil)
    guard !caps.isEqual(to: self.caps) else { return }
    self.caps = caps
    stream.setCaps(caps)
    pad.push(.caps(caps))
  }

  /// Pushes the SEGMENT event and, the first time, the tags.
  func begin(_ start: SegmentStart, _ event: Event) {
    // Decoders would output their pending frames in the new segment (GStreamer 1.22).
    if start.followsAnother { pad.push(.stillFrame(true)) }
    pad.push(event)
    hasKeyframe = false
    if start.followsAnother, !start.isEmpty { pad.push(.stillFrame(false)) }
    guard !pad.hasTags else { return }
    for tags in tags { pad.push(.tags(tags)) }
  }

  /// Tells encoders downstream of a decoder that the next sample is a keyframe. They begin with one
  /// in any case; GStreamer 1.22's would take no further ones if they were told to.
  func announceKeyframe(at time: ClockTime?) {
    defer { hasKeyframe = true }
    guard hasKeyframe, let time, let running = pad.currentSegment?.runningTime(time) else { return }
    pad.push(.announcedKeyUnit(at: time, running: running))
  }

  /// Updates `isTaken`; returns whether it has changed.
  func updateIsLinked() -> Bool {
    guard pad.isLinked != isTaken else { return false }
    isTaken.toggle()
    return true
  }
}

extension StreamFormat {
  fileprivate var viewCount: Int {
    switch self {
    case .eye: 1
    case .samples(let format): format.viewCount
    case .elementary(let format): format.viewCount ?? 1
    }
  }
}

extension PlayerStream {
  fileprivate var padName: String {
    switch role {
    case .eye(let eye): eye.rawValue
    case .samples: "\(kindName)_\(number)"
    }
  }

  fileprivate var padTemplate: String {
    switch role {
    case .eye(let eye): eye.rawValue
    case .samples: "\(kindName)_%u"
    }
  }

  private var kindName: String {
    switch kind {
    case .video: "video"
    case .audio: "audio"
    case .other: "meta"
    }
  }

  /// Suffix that makes the stream id unique within the input.
  fileprivate var idSuffix: String {
    let own = role.eye?.rawValue
    guard let track else { return own ?? "0" }
    return "\(track.id.rawValue)" + (own.map { "/\($0)" } ?? "")
  }

  fileprivate var type: StreamType {
    switch kind {
    case .video: .video
    case .audio: .audio
    case .other: .unknown
    }
  }
}

extension PlayerStream.Role {
  fileprivate var eye: Eye? {
    if case .eye(let eye) = self { eye } else { nil }
  }
}

extension StreamFormat {
  fileprivate var spatialMetadata: SpatialMetadata? {
    switch self {
    case .eye(let format): return format.spatial
    case .samples(let format):
      if case .video(let entry) = format.entry { return entry.spatialMetadata }
      return nil
    case .elementary: return nil
    }
  }
}

// Samples refer to the input: the player receives and returns the memory of buffers.
extension MappedBuffer: ByteChunk {}

extension Sample {
  /// Maximum number of memory blocks in a buffer; GStreamer merges more by copying them.
  private static let maximumPartCount = 16
  /// Below this size in bytes, copying is cheaper than keeping references.
  private static let smallSize = 4096

  /// Makes a buffer that refers to the same memory.
  func makeBuffer() -> UniqueBuffer {
    let buffer = makeData()
    (buffer.pts, buffer.dts, buffer.duration) = (presentationTime, decodeTime, duration)
    buffer.flags.formUnion(BufferFlags(flags))
    return buffer
  }

  private func makeData() -> UniqueBuffer {
    if data.partCount == 1, data.first.isWhole, let chunk = data.first.chunk as? MappedBuffer,
      let whole = chunk.buffer.region(offset: 0, size: data.first.count)
    {
      // Metas of the input buffer, such as a time code, belong to its only sample.
      whole.flags.subtract([.discont, .deltaUnit, .droppable, .decodeOnly])
      return whole
    }
    if data.partCount > Self.maximumPartCount
      || data.partCount > 1 && data.byteCount <= Self.smallSize,
      let copy = UniqueBuffer(size: data.byteCount, { data.write(into: $0) })
    {
      return copy
    }
    let buffer = UniqueBuffer()
    buffer.append(data.first)
    for part in data.others { buffer.append(part) }
    return buffer
  }
}

extension UniqueBuffer {
  fileprivate func append(_ part: ByteSlice) {
    if let chunk = part.chunk as? MappedBuffer {
      append(chunk.buffer, offset: part.range.lowerBound, size: part.count)
    } else {
      part.withBytes { append($0, keptBy: part.chunk) }
    }
  }
}

extension BufferFlags {
  fileprivate init(_ flags: Sample.Flags) {
    self = []
    if flags.contains(.discontinuity) { insert(.discont) }
    if flags.contains(.delta) { insert(.deltaUnit) }
    if flags.contains(.droppable) { insert(.droppable) }
    if flags.contains(.decodeOnly) { insert(.decodeOnly) }
  }
}

extension ChunkTimes {
  /// Reads the times and flags of an upstream buffer.
  init(_ buffer: Buffer) {
    self.init()
    presentationTime = buffer.pts
    decodeTime = buffer.dts
    duration = buffer.duration
    let given = buffer.flags
    if given.contains(.discont) { flags.insert(.discontinuity) }
    if given.contains(.deltaUnit) { flags.insert(.delta) }
    if given.contains(.droppable) { flags.insert(.droppable) }
    if given.contains(.decodeOnly) { flags.insert(.decodeOnly) }
  }
}
