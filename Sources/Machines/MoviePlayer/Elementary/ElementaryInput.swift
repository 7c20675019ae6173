// SPDX-License-Identifier: MPL-2.0

import HEVC

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
