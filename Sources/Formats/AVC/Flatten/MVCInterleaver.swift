// SPDX-License-Identifier: MPL-2.0

internal import HEVC

/// Assembles H.264 MVC of one or two elementary streams to one byte stream of whole access units:
/// the NAL units of the base view, then those of the dependent view. Nothing is rewritten.
///
/// This is the form in which both views are one stream (H.7.4.1.2.3), for recorders and for
/// decoders that expect no second stream. ``MVCFlattener`` makes it decodable for every decoder.
///
/// Access units come out when the next one begins, and, of two streams, when the other stream has
/// come that far.
public struct MVCInterleaver<Stamp: Sendable>: Sendable {
  /// A whole access unit.
  public struct Unit: Sendable {
    /// Its NAL units with start codes.
    public let bytes: [UInt8]
    /// The stamp of the buffer in which it begins; of two streams, of that of the base view.
    public let stamp: Stamp
    /// Likewise that of the dependent view's stream; nil if it has none, or there is one stream.
    public let dependentStamp: Stamp?
    /// Whether it is the first access unit that begins in that buffer, so that the times of the
    /// buffer are its own.
    public let isFirst: Bool
    /// Whether it has a picture of the dependent view.
    public let isPaired: Bool
    /// Whether decoding of all its views can start here: it is an IDR picture, an anchor picture,
    /// or, of the base view alone, a recovery point.
    public let isRandomAccess: Bool
  }

  /// The result of pushing a buffer.
  public struct Output: Sendable {
    /// Access units in decoding order.
    public fileprivate(set) var units: [Unit] = []
    /// Number of access units of the dependent view that were dropped since they have no base.
    public fileprivate(set) var droppedCount = 0
  }

  private typealias Pairing = StreamPairing<Stamp>

  private var assemblers: [StreamAssembler<Pairing.Mark>]
  private var pairing: Pairing
  /// The PPSs of each view's stream by id, if there are two.
  private var pictureSets: [[Int: [UInt8]]] = [[:], [:]]
  /// The ids of PPSs that differ.
  private var ambiguous: [Int] = []

  /// Whether the views come in elementary streams of their own.
  public private(set) var hasTwoStreams: Bool

  /// Whether whole access units of the base view wait for the other view.
  public var isWaiting: Bool { hasTwoStreams && pairing.hasWaitingBase }

  /// Creates an interleaver of byte streams.
  ///
  /// - Parameters:
  ///   - hasTwoStreams: whether the views come in elementary streams of their own, as on discs.
  ///   - budget: maximum size in bytes of an access unit, and of those that wait for the other
  ///     stream.
  public init(hasTwoStreams: Bool, budget: Int = 1 << 26) {
    self.hasTwoStreams = hasTwoStreams
    assemblers = MVCView.allCases.map { StreamAssembler($0, framing: .annexB, limit: budget) }
    pairing = Pairing(limit: budget)
  }

  /// Says that the dependent view's stream has appeared, or has ended. Returns what waited for it.
  public mutating func setTwoStreams(_ hasTwo: Bool) -> Output {
    var output = Output()
    guard hasTwo != hasTwoStreams else { return output }
    if !hasTwo {
      pairing.add(assemblers[MVCView.dependent.rawValue].finish(), of: .dependent)
      take(&output, isEnd: true)
      (pictureSets, ambiguous) = ([[:], [:]], [])
    }
    hasTwoStreams = hasTwo
    return output
  }

  /// Adds a buffer of a byte stream.
  ///
  /// - Parameters:
  ///   - bytes: its bytes.
  ///   - alignment: how the stream is cut into buffers.
  ///   - stamp: anything that identifies the buffer, such as its timestamps.
  ///   - decodingTime: its decoding time in any unit, for pairing two streams; nil if unknown.
  ///   - view: the elementary stream, if there are two.
  /// - Returns: The access units that are complete.
  /// - Throws: ``MVCError/budgetExceeded(limit:)``. The access unit that is being assembled is
  ///   lost; pushing can continue.
  public mutating func push(
    _ bytes: RawSpan, alignment: MVCAlignment, stamp: Stamp, decodingTime: UInt64? = nil,
    of view: MVCView = .base
  ) throws(MVCError) -> Output {
    let index = hasTwoStreams ? view.rawValue : 0
    let mark = Pairing.Mark(stamp: stamp, time: decodingTime)
    let entries = try assemblers[index].append(bytes, alignment, stamp: mark)
    var output = Output()
    add(entries, of: view, to: &output)
    return output
  }

  /// Ends the access unit of a view that is being assembled, as a loss of data does: the next
  /// buffer begins another one.
  public mutating func interrupt(_ view: MVCView) -> Output {
    var output = Output()
    add(assemblers[hasTwoStreams ? view.rawValue : 0].finish(), of: view, to: &output)
    return output
  }

  /// Ends the stream and returns the remaining access units.
  public mutating func end() -> Output {
    var output = Output()
    for view in MVCView.allCases where hasTwoStreams || view == .base {
      add(assemblers[view.rawValue].finish(), of: view, to: &output)
    }
    if hasTwoStreams { take(&output, isEnd: true) }
    return output
  }

  /// Discards everything but the parameter sets. Call it at a discontinuity, such as a seek.
  public mutating func flush() {
    for index in assemblers.indices { assemblers[index].reset() }
    pairing.removeAll()
  }

  // MARK: Pairs

  private mutating func add(_ entries: [Pairing.Entry], of view: MVCView, to output: inout Output) {
    guard hasTwoStreams else {
      for entry in entries { output.units.append(unit(entry, nil)) }
      return
    }
    guard !entries.isEmpty else { return }
    pairing.add(entries, of: view)
    take(&output)
  }

  private mutating func take(_ output: inout Output, isEnd: Bool = false) {
    let (pairs, droppedCount) = pairing.take(isEnd: isEnd)
    for pair in pairs { output.units.append(unit(pair.base, pair.dependent)) }
    output.droppedCount += droppedCount
  }

  private mutating func unit(_ base: Pairing.Entry, _ dependent: Pairing.Entry?) -> Unit {
    var facts = Facts()
    var bytes = part(base.unit, .base, &facts)
    if let dependent {
      // An end of sequence is the last NAL unit of an access unit (7.4.1.2.3).
      let end = facts.end.map { bytes.count - $0 }
      if let end {
        let rest = Array(bytes[end...])
        bytes.removeSubrange(end...)
        bytes += part(dependent.unit, .dependent, &facts)
        bytes += rest
      } else {
        bytes += part(dependent.unit, .dependent, &facts)
      }
    }
    return Unit(
      bytes: bytes, stamp: base.stamp.stamp, dependentStamp: dependent?.stamp.stamp,
      isFirst: base.isFirst, isPaired: facts.hasDependent, isRandomAccess: facts.isRandomAccess)
  }

  /// The parts of an access unit that matter here.
  private struct Facts {
    var hasDependent = false
    var isAnchor = false
    var isIDR = false
    var hasRecoveryPoint = false
    /// Number of bytes from the first end of sequence or of stream to the end of the base view.
    var end: Int?

    var isRandomAccess: Bool { hasDependent ? isAnchor || isIDR : isIDR || hasRecoveryPoint }
  }

  /// Returns the NAL units of one stream's access unit as they are output.
  private mutating func part(_ unit: AccessUnit, _ stream: MVCView, _ facts: inout Facts)
    -> [UInt8]
  {
    var result: [UInt8] = []
    /// NAL units up to here are in the result.
    var copied = 0
    var hasSlice = false
    var own: [Int] = []
    for range in unit.nalUnits {
      let nalUnit = unit.bytes.span.bytes.extracting(range)
      guard let header = NALUnitHeader(nalUnit) else { continue }
      let start = Self.startCode(before: range, unit.bytes)
      var isDropped = false
      switch header.type {
      case .slice, .idrSlice, .dataPartitionA:
        if header.type == .idrSlice { facts.isIDR = true }
      case .sliceExtension:
        // Without it, the slice is one of Scalable Video Coding.
        guard let mvc = header.mvc else { break }
        facts.hasDependent = true
        if mvc.isAnchor || !mvc.isNonIDR { facts.isAnchor = true }
      case .pictureParameterSet where hasTwoStreams:
        if let id = keep(nalUnit, of: stream) { own.append(id) }
      case .sei where stream == .base && !facts.hasRecoveryPoint:
        let information = SupplementalInformation(Array(unit.bytes[range]))
        facts.hasRecoveryPoint = information?.hasRecoveryPoint ?? false
      case .endOfSequence, .endOfStream:
        if stream == .base, facts.end == nil { facts.end = unit.bytes.count - start }
      default: break
      }
      if stream == .dependent { isDropped = Self.isOfBaseAlone(header.type) }
      let isSlice = header.type.isBaseSlice || header.type == .sliceExtension
      guard isDropped || isSlice && !hasSlice && !ambiguous.isEmpty else { continue }
      result += unit.bytes[copied..<start]
      copied = isDropped ? range.upperBound : start
      guard !isDropped else { continue }
      hasSlice = true
      // Both streams' PPSs have one space of ids from here on, so each picture needs its own again.
      for id in ambiguous where !own.contains(id) {
        result += [0, 0, 0, 1] + (pictureSets[stream.rawValue][id] ?? [])
      }
    }
    return copied == 0 ? unit.bytes : result + unit.bytes[copied...]
  }

  /// Keeps a PPS of one of two streams, and returns its id.
  private mutating func keep(_ nalUnit: RawSpan, of stream: MVCView) -> Int? {
    guard let id = try? PictureParameterSet.ids(of: nalUnit).pps else { return nil }
    if pictureSets[stream.rawValue][id]?.hasSameBytes(as: nalUnit) != true {
      pictureSets[stream.rawValue][id] = [UInt8](copying: nalUnit)
      ambiguous = pictureSets[0].keys.filter { id in
        pictureSets[1][id].map { $0 != pictureSets[0][id] } ?? false
      }.sorted()
    }
    return id
  }

  /// Whether a NAL unit of the dependent view's stream would begin or end an access unit, or is of
  /// the base view, if it came after the base view.
  private static func isOfBaseAlone(_ type: NALUnitType) -> Bool {
    1...5 ~= type.rawValue || type == .sequenceParameterSet || type == .accessUnitDelimiter
      || type == .endOfSequence || type == .endOfStream
  }

  /// Offset of the start code, including `zero_byte`, of a NAL unit.
  private static func startCode(before range: Range<Int>, _ bytes: [UInt8]) -> Int {
    let start = max(range.lowerBound - 3, 0)
    return start > 0 && bytes[start - 1] == 0 ? start - 1 : start
  }
}
