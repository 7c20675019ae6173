// SPDX-License-Identifier: MPL-2.0

public import GStreamer
import ISOBMFF
public import MoviePlayer
import StereoVideo

/// One source pad, and what it says of its stream.
final class DemuxOutput {
  let role: PlayerStream.Role
  /// The samples have several views.
  let isLayered: Bool
  let pad: Pad
  let stream: GStreamer.Stream
  private(set) var caps: Caps
  /// Told once, behind the first segment.
  private let tags: [TagList]
  /// EOS has been pushed.
  var hasEnded = false
  /// Whether the pad was linked when that was looked at last.
  private(set) var isTaken = true

  /// A pad that has said what it is, not yet shown to anyone.
  ///
  /// - Parameters:
  ///   - upstream: the caps of an elementary stream.
  ///   - movieTags: those of the whole movie; nil where there is none.
  ///   - group: what ties the streams of an input together.
  init(
    _ stream: PlayerStream, of element: MVHEVCDemux, upstream: Caps?, movieTags: TagList?,
    group: UInt32
  ) throws {
    role = stream.role
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
          ["codec_data": .buffer(Buffer(entry.payload))])
      }
    case .elementary(let format): return DemuxVideoCaps.elementary(format, upstream: upstream)
    }
  }

  /// Says what the stream consists of from now on.
  func setFormat(_ format: StreamFormat) throws {
    let caps = try Self.caps(role, format, upstream: nil)
    guard !caps.isEqual(to: self.caps) else { return }
    self.caps = caps
    stream.setCaps(caps)
    pad.push(.caps(caps))
  }

  /// Tells what part of the stream comes, and once what the stream is.
  ///
  /// - Parameter event: the SEGMENT event.
  func begin(_ start: SegmentStart, _ event: Event) {
    // Decoders would show in the new segment what they hold back of the old one (GStreamer 1.22).
    if start.followsAnother { pad.push(.stillFrame(true)) }
    pad.push(event)
    if start.followsAnother, !start.isEmpty { pad.push(.stillFrame(false)) }
    guard !pad.hasTags else { return }
    for tags in tags { pad.push(.tags(tags)) }
  }

  /// Looks whether the pad is linked; true where that is other than before.
  func looksAround() -> Bool {
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

  /// What makes the stream's id another than those beside it.
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

// Samples refer to what was read: what the player takes and gives is memory of buffers.
extension MappedBuffer: ByteChunk {}

extension Sample {
  /// A buffer holds so many blocks of memory; more are merged by copying them.
  private static let maximumPartCount = 16
  /// Copying less than this is cheaper than keeping references.
  private static let smallSize = 4096

  /// The sample as a buffer that refers to the same memory.
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
      // What else the buffer carries, such as a time code, belongs to its only sample.
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
  /// What upstream says of a buffer.
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
