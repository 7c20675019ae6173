// SPDX-License-Identifier: MPL-2.0

public import HEVC

/// H.265 without a container whose access units come one by one, or as a byte stream, and what
/// came beside it.
public struct ElementaryStreamSource: Sendable {
  public let framing: NALUnitFraming
  /// NAL units of the decoder configuration records; empty for a byte stream, which has them
  /// inside.
  public let parameterSets: [[UInt8]]
  /// Frames a second, where something beside the stream says it.
  public var frameRate: Ratio?

  /// A byte stream, whose access units are found in it.
  public init(frameRate: Ratio? = nil) {
    framing = .annexB
    parameterSets = []
    self.frameRate = frameRate
  }

  /// A stream with length prefixes, of which each chunk is an access unit.
  ///
  /// - Parameters:
  ///   - record: the content of `hvcC`, which is `codec_data` in GStreamer.
  ///   - layered: the content of `lhvC`.
  public init(
    record: [UInt8], layered: [UInt8]? = nil, frameRate: Ratio? = nil
  ) throws(MoviePlayerError) {
    do {
      let configuration = try StreamConfiguration(hvcC: record, lhvC: layered)
      if let error = configuration.layeredRecordError { throw error }
      framing = configuration.framing
      parameterSets = configuration.parameterSets
    } catch {
      throw .configuration("\(error)")
    }
    self.frameRate = frameRate
  }

  /// Whether the records alone say that the stream has one layer only.
  public var isSingleLayer: Bool {
    let sequences = parameterSets.filter {
      NALUnitHeader($0.span.bytes)?.type == .videoParameterSet
    }
    return !sequences.isEmpty
      && sequences.allSatisfy { (try? VideoParameterSet(nalUnit: $0))?.maxLayersMinus1 == 0 }
  }
}

/// What a source says of a chunk of an elementary stream.
public struct ChunkTimes: Hashable, Sendable {
  /// When what begins in it is shown, as a timestamp of the source's segment; nil where nothing
  /// says that.
  public var presentationTime: Nanoseconds?
  /// When it is decoded; nil where nothing says that.
  public var decodeTime: Nanoseconds?
  /// How long it is shown; nil where nothing says that.
  public var duration: Nanoseconds?
  /// Those of the access unit, where the chunk is one.
  public var flags: Sample.Flags = []

  public init() {}
}

/// Cuts a stream without a container into access units, and says when they are shown.
struct ElementaryInput: Sendable {
  /// How the input tells NAL units apart.
  let framing: NALUnitFraming
  /// What came beside the stream.
  let parameterSets: [[UInt8]]
  /// What has come, with the times it was said to have.
  private var units: [LayeredSample] = []
  private var head = 0
  private var assembler = AccessUnitAssembler()
  /// Timestamps by the place in the byte stream from which on they hold.
  private var times: [(position: Int, times: ChunkTimes)] = []
  private var received = 0
  private var consumed = 0
  /// Says when frames are shown of a stream without timestamps.
  private var clock = PictureClock()
  private var frameCount: UInt64 = 0

  init(_ source: ElementaryStreamSource) {
    framing = source.framing
    parameterSets = source.parameterSets
    clock.add(parameterSets: parameterSets)
  }

  /// Forgets what is under way, as after a flush.
  mutating func reset() {
    units = []
    head = 0
    assembler = AccessUnitAssembler()
    times = []
    (received, consumed, frameCount) = (0, 0, 0)
    clock = PictureClock()
    clock.add(parameterSets: parameterSets)
  }

  /// Takes the next chunk: bytes of a byte stream, or an access unit.
  mutating func append(_ slice: ByteSlice, _ chunk: ChunkTimes) throws(MoviePlayerError) {
    guard framing == .annexB else {
      units.append(
        LayeredSample(
          data: slice, presentationTime: chunk.presentationTime, decodeTime: chunk.decodeTime,
          duration: chunk.duration, flags: chunk.flags, frameDuration: chunk.duration))
      return
    }
    if chunk.presentationTime != nil || chunk.decodeTime != nil {
      times.append((received, chunk))
    }
    received += slice.count
    do {
      for unit in try slice.withSpan({ bytes throws(AccessUnitAssembler.TooLarge) in
        try assembler.append(bytes)
      }) {
        add(unit)
      }
    } catch {
      throw .noByteStream(error)
    }
  }

  /// Takes the end of the stream.
  mutating func finish() {
    guard framing == .annexB else { return }
    for unit in assembler.finish() { add(unit) }
  }

  private mutating func add(_ unit: AccessUnit) {
    var sample = LayeredSample(data: ByteSlice(unit.bytes))
    let next = times.firstIndex { $0.position > consumed } ?? times.count
    if next > 0 {
      (sample.presentationTime, sample.decodeTime) = (
        times[next - 1].times.presentationTime, times[next - 1].times.decodeTime
      )
      // A time holds for the first access unit that begins with it.
      times.removeFirst(next)
    }
    consumed += unit.bytes.count
    let isSync = unit.nalUnits.contains { range in
      NALUnitHeader(unit.bytes.span.bytes.extracting(range))
        .map { $0.layerID == 0 && $0.type.isIRAP } ?? false
    }
    if !isSync { sample.flags.insert(.delta) }
    units.append(sample)
  }

  /// The next access unit; nil where there is none yet.
  mutating func next() -> LayeredSample? {
    guard head < units.count else { return nil }
    defer {
      head += 1
      if head == units.count {
        units.removeAll(keepingCapacity: true)
        head = 0
      }
    }
    return units[head]
  }

  /// Gives an access unit of a stream without timestamps those that its place in the stream says.
  mutating func number(_ unit: inout LayeredSample, rate: Ratio) {
    guard unit.presentationTime == nil, unit.decodeTime == nil else { return }
    let frame = unit.data.withSpan { bytes -> PictureClock.Frame? in
      guard let nalUnits = try? framing.nalUnits(in: bytes) else { return nil }
      return clock.frame(bytes, nalUnits: nalUnits)
    }
    let index = Int(clamping: frameCount)
    frameCount += 1
    unit.decodeTime = rate.time(of: UInt64(clamping: index))
    unit.duration = rate.time(of: 1)
    unit.frameDuration = unit.duration
    guard let frame else { return }
    let (shown, overflow) = frame.number.addingReportingOverflow(frame.reordering)
    unit.presentationTime = rate.time(
      of: UInt64(clamping: overflow ? index : max(index, shown)))
  }
}
