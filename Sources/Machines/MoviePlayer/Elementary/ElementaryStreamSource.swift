// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import StereoVideo

/// The properties of an H.265 stream without a container: how it is framed, and its out-of-band
/// data.
public struct ElementaryStreamSource: Sendable {
  /// How NAL units are separated: by start codes or by length prefixes.
  public let framing: NALUnitFraming
  /// NAL units of the decoder configuration records; empty for a byte stream, which has them in
  /// band.
  public let parameterSets: [[UInt8]]
  /// Frames per second from outside the stream; nil if unknown.
  public var frameRate: Ratio?

  /// Creates a source of a byte stream in chunks of any size.
  public init(frameRate: Ratio? = nil) {
    framing = .annexB
    parameterSets = []
    self.frameRate = frameRate
  }

  /// Creates a source of length-prefixed H.265. Each chunk is one access unit.
  ///
  /// - Parameters:
  ///   - record: Content of `hvcC`: GStreamer's `codec_data`.
  ///   - layered: Content of `lhvC`.
  /// - Throws: ``MoviePlayerError/configuration(_:)`` if a record cannot be parsed.
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

  /// Whether the records alone show that the stream has a single layer.
  public var isSingleLayer: Bool {
    let sequences = parameterSets.filter {
      NALUnitHeader($0.span.bytes)?.type == .videoParameterSet
    }
    return !sequences.isEmpty
      && sequences.allSatisfy { (try? VideoParameterSet(nalUnit: $0))?.maxLayersMinus1 == 0 }
  }
}

/// The times and flags of a chunk of an elementary stream.
public struct ChunkTimes: Hashable, Sendable {
  /// Presentation time of the first access unit that starts in the chunk, as a timestamp of the
  /// source's segment; nil if unknown.
  public var presentationTime: ClockTime?
  /// Its decode time; nil if unknown.
  public var decodeTime: ClockTime?
  /// Its duration; nil if unknown.
  public var duration: ClockTime?
  /// Flags of the access unit, if the chunk is one.
  public var flags: Sample.Flags = []

  /// Creates times that are all unknown.
  public init() {}
}

/// Splits a stream without a container into access units and assigns their times.
struct ElementaryInput: Sendable {
  /// How NAL units are separated: by start codes or by length prefixes.
  let framing: NALUnitFraming
  /// Out-of-band parameter sets.
  let parameterSets: [[UInt8]]
  /// Access units that have arrived, with their times if known.
  private var units: [LayeredSample] = []
  private var head = 0
  private var assembler = AccessUnitAssembler()
  /// Timestamps, each with the byte position in the stream from which it applies.
  private var times: [(position: Int, times: ChunkTimes)] = []
  private var received = 0
  private var consumed = 0
  /// Calculates the output order of frames without timestamps.
  private var clock = OutputOrderCounter()
  private var frameCount: UInt64 = 0

  init(_ source: ElementaryStreamSource) {
    framing = source.framing
    parameterSets = source.parameterSets
    clock.add(parameterSets: parameterSets)
  }

  /// Drops everything in progress, as after a flush.
  mutating func reset() {
    units = []
    head = 0
    assembler = AccessUnitAssembler()
    times = []
    (received, consumed, frameCount) = (0, 0, 0)
    clock = OutputOrderCounter()
    clock.add(parameterSets: parameterSets)
  }

  /// Appends the next chunk: part of a byte stream, or an access unit.
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

  /// Ends the stream.
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
      // A timestamp applies only to the first access unit that starts at or after its position.
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

  /// Returns the next access unit; nil if there is none yet.
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

  /// Gives an access unit without timestamps those that follow from its position in the stream.
  mutating func number(_ unit: inout LayeredSample, rate: Ratio) {
    guard unit.presentationTime == nil, unit.decodeTime == nil else { return }
    let frame = unit.data.withSpan { bytes -> OutputOrderCounter.Frame? in
      guard let nalUnits = try? framing.nalUnits(in: bytes) else { return nil }
      return clock.frame(bytes, nalUnits: nalUnits)
    }
    let index = Int(clamping: frameCount)
    frameCount += 1
    unit.decodeTime = rate.time(of: index)
    unit.duration = rate.time(of: 1)
    unit.frameDuration = unit.duration
    guard let frame else { return }
    let (shown, overflow) = frame.number.addingReportingOverflow(frame.reordering)
    unit.presentationTime = rate.time(of: overflow ? index : max(index, shown))
  }
}
