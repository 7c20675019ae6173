// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import StereoVideo

/// Converts H.264 MVC of two views (Stereo High, Multiview High) to a stream that any H.264 decoder
/// decodes to exactly the pictures of both views, in the order of output base, dependent, base,
/// dependent.
///
/// All pictures become ordinary short-term references; slice headers and parameter sets are
/// rewritten, slice data are copied. Or it extracts one view alone.
///
/// Push the stream, in buffers of any alignment, with anything that identifies a buffer; each
/// picture comes out with that of its access unit. A decoder outputs the pictures of an access unit
/// one after the other.
///
/// ```swift
/// var flattener = MVCFlattener<ClockTime?>(framing: .annexB)
/// for buffer in buffers {
///   let output = try flattener.push(buffer.bytes, alignment: .accessUnit, stamp: buffer.pts)
///   for picture in output.pictures { decode(picture.bytes, picture.view, picture.stamp) }
/// }
/// let rest = flattener.end()
/// ```
///
/// Pictures come out with a delay: of one field for pairs of fields, of up to seven access units
/// at the start of a stream, and, unless access units are pushed whole, of one access unit.
public struct MVCFlattener<Stamp: Sendable>: Sendable {
  /// The pictures that are wanted.
  public enum Selection: Sendable {
    /// Those of both views, in one stream.
    case bothViews
    /// Those of the base view. Their NAL units are not changed.
    case base
    /// Those of the dependent view, if it has no inter-view references. Otherwise
    /// ``MVCError/interViewPrediction`` is reported for each picture that has.
    case dependent
  }

  /// A frame, field or pair of fields for a decoder.
  public struct Picture: Sendable {
    /// The view that it belongs to.
    public let view: MVCView
    /// Number of its access unit, counted from the first one; that of its first field if it is a
    /// pair of fields.
    public let accessUnit: Int
    /// The stamp of the buffer in which that access unit begins.
    public let stamp: Stamp
    /// A byte stream with an access unit delimiter first, and parameter sets when they change.
    public let bytes: [UInt8]
    /// Whether decoding can start here: it is an IDR picture.
    public let isRandomAccess: Bool
    /// Picture order count of the stream for the decoder; it starts again at a random access
    /// picture. Nil if only one view is extracted.
    public let orderCount: Int?
    /// Whether it is a pair of fields: two access units in ``bytes``.
    public let isFieldPair: Bool
    /// Whether the other view has a picture of the same access unit in the output.
    public let isPaired: Bool

    /// The first SPS in ``bytes``; nil if there is none before the first slice.
    package var sequenceParameterSet: SequenceParameterSet? {
      var start = 0
      // Each NAL unit follows a start code of four bytes, see ``RewrittenUnit``.
      while let code = bytes[start...].firstRange(of: [0, 0, 1]), code.upperBound < bytes.count {
        guard let type = NALUnitHeader(bytes.span.bytes.extracting(code.upperBound...))?.type,
          !type.isBaseSlice
        else { return nil }
        start = code.upperBound
        guard type == .sequenceParameterSet else { continue }
        let end = bytes[start...].firstRange(of: [0, 0, 1])?.lowerBound ?? bytes.count
        // A zero byte before the start code belongs to it.
        return try? SequenceParameterSet(nalUnit: Array(bytes[start..<end]))
      }
      return nil
    }
  }

  /// Something that the user may want to know about an access unit.
  public struct Notice: Hashable, Sendable {
    /// The subject of a notice.
    public enum Kind: Hashable, Sendable {
      /// The picture of a view is left out.
      case lost(MVCView, MVCError)
      /// Pictures may differ from those of an MVC decoder.
      case warning(MVCWarning)
    }

    /// Number of the access unit; for a lone access unit of the dependent view, of the next one.
    public let accessUnit: Int
    /// Its subject.
    public let kind: Kind
  }

  /// The result of pushing a buffer.
  public struct Output: Sendable {
    /// Pictures in decoding order.
    public fileprivate(set) var pictures: [Picture] = []
    /// Notices in the order of the access units.
    public fileprivate(set) var notices: [Notice] = []
  }

  private typealias Pairing = StreamPairing<Stamp>

  private let selection: Selection
  private let hasTwoStreams: Bool
  private var assemblers: [StreamAssembler<Pairing.Mark>]
  private var pairing: Pairing
  private var reader = AccessUnitReader()
  private var views = ViewPair()
  private var planner: NumberingPlanner
  private var stream = FlattenedStream()
  private var baseExtractor = BaseViewExtractor()
  private var extractor = DependentViewExtractor()
  /// A unit that waits for its second fields.
  private var pending: FlattenedUnit?
  private var number = 0
  /// The stamps of the access units whose pictures may not have come out.
  private var stamps = AccessUnitSources<Stamp>()

  /// The eye of the base view by an SEI message of the stream; nil if none has come, or if only the
  /// base view is wanted. Containers may know it, too; it is the left one by default.
  public var baseEye: Eye? { reader.baseEye }

  /// Frames a second by the SPS of the latest base picture, as a fraction; nil if it does not say
  /// so, if none has come, or if only the base view is wanted.
  public var frameRate: (numerator: Int, denominator: Int)? { reader.frameRate }

  /// Creates a flattener.
  ///
  /// - Parameters:
  ///   - selection: the pictures that are wanted.
  ///   - framing: how NAL units are delimited.
  ///   - hasTwoStreams: whether the views come in elementary streams of their own, as on discs.
  ///   - numbering: the numbering of pictures; nil to choose between ``MVCNumbering/shift`` and
  ///     ``MVCNumbering/double``.
  ///   - budget: maximum size in bytes of an access unit, and of those that wait for the other
  ///     stream.
  public init(
    _ selection: Selection = .bothViews, framing: NALUnitFraming, hasTwoStreams: Bool = false,
    numbering: MVCNumbering? = nil, budget: Int = 1 << 26
  ) {
    self.selection = selection
    self.hasTwoStreams = hasTwoStreams && selection != .base
    assemblers = MVCView.allCases.map { StreamAssembler($0, framing: framing, limit: budget) }
    pairing = Pairing(limit: budget)
    planner = NumberingPlanner(forced: numbering)
  }

  /// Adds parameter sets from outside the stream, such as those of ``MVCDecoderConfiguration``.
  ///
  /// - Parameter view: the view of the elementary stream that they belong to.
  public mutating func add(parameterSets: [[UInt8]], of view: MVCView = .base) {
    for set in parameterSets {
      try? reader.sets.add(set.span.bytes, from: view)
      assemblers[view.rawValue].add(parameterSet: set)
      if view == .base { baseExtractor.add(parameterSet: set) }
    }
  }

  /// Adds a buffer of the stream.
  ///
  /// - Parameters:
  ///   - bytes: its bytes.
  ///   - alignment: how the stream is cut into buffers.
  ///   - stamp: anything that identifies the buffer, such as its timestamps.
  ///   - decodingTime: its decoding time in any unit, for pairing two streams; nil if unknown.
  ///   - view: the elementary stream, if there are two.
  /// - Returns: The pictures that can be decoded now.
  /// - Throws: ``MVCError/budgetExceeded(limit:)`` or ``MVCError/lengths(_:)``. The data that are
  ///   being assembled are lost; pushing can continue.
  public mutating func push(
    _ bytes: RawSpan, alignment: MVCAlignment, stamp: Stamp, decodingTime: UInt64? = nil,
    of view: MVCView = .base
  ) throws(MVCError) -> Output {
    let index = hasTwoStreams ? view.rawValue : 0
    if selection == .base, view == .dependent { return Output() }
    let mark = Pairing.Mark(stamp: stamp, time: decodingTime)
    let units = try assemblers[index].append(bytes, alignment, stamp: mark)
    var output = Output()
    if hasTwoStreams {
      pairing.add(units, of: view)
      process(pairing.take(), &output)
    } else {
      for unit in units { process(unit, nil, &output) }
    }
    return output
  }

  /// Ends the stream, or a part of it after which another one begins with a random access point,
  /// and returns the remaining pictures.
  public mutating func end() -> Output {
    var output = Output()
    if hasTwoStreams {
      for view in MVCView.allCases { pairing.add(assemblers[view.rawValue].finish(), of: view) }
      process(pairing.take(isEnd: true), &output)
    } else {
      for unit in assemblers[0].finish() { process(unit, nil, &output) }
    }
    if let unit = pending { plan(unit, &output) }
    write(planner.release(), &output)
    flush()
    return output
  }

  /// Discards everything but the parameter sets. Call it at a discontinuity, such as a seek;
  /// pictures come out again from the next random access point on.
  public mutating func flush() {
    for index in assemblers.indices { assemblers[index].reset() }
    pairing.removeAll()
    views.reset()
    planner.removeAll()
    stamps.removeAll()
    baseExtractor.reset()
    extractor.reset()
    pending = nil
  }

  // MARK: Access units

  private mutating func process(
    _ taken: (pairs: [Pairing.Pair], droppedCount: Int), _ output: inout Output
  ) {
    for pair in taken.pairs { process(pair.base, pair.dependent?.unit, &output) }
    for _ in 0..<taken.droppedCount {
      output.notices.append(Notice(accessUnit: number, kind: .lost(.dependent, .unpaired)))
    }
  }

  private mutating func process(
    _ base: Pairing.Entry, _ dependent: AccessUnit?, _ output: inout Output
  ) {
    let accessUnit = number
    number += 1
    stamps.drop(before: min(pending?.accessUnit ?? number, planner.oldest ?? number))
    stamps.keep(base.stamp.stamp, as: accessUnit)
    guard selection != .base else {
      if let frame = baseExtractor.extract(base.unit) { add(frame, accessUnit, to: &output) }
      return
    }
    do throws(MVCError) {
      let unit = try reader.read(base.unit, dependent)
      try process(try views.decode(unit), accessUnit, &output)
    } catch {
      let isDependent = selection == .dependent || error == .unpaired
      let view = isDependent ? MVCView.dependent : .base
      output.notices.append(Notice(accessUnit: accessUnit, kind: .lost(view, error)))
    }
  }

  private mutating func process(
    _ pair: PicturePair, _ accessUnit: Int, _ output: inout Output
  ) throws(MVCError) {
    guard selection == .bothViews else {
      if let error = pair.dependentError { throw error }
      if let frame = try extractor.extract(pair, reader.sets) {
        add(frame, accessUnit, to: &output)
      }
      return
    }
    if var first = pending {
      pending = nil
      let isCompleted = first.isCompleted(by: pair)
      if isCompleted { first.add(pair) }
      plan(first, &output)
      if isCompleted { return }
    }
    let unit = FlattenedUnit(pair, accessUnit: accessUnit)
    if unit.isFirstField { pending = unit } else { plan(unit, &output) }
  }

  // MARK: Flattening

  private mutating func plan(_ unit: FlattenedUnit, _ output: inout Output) {
    write(planner.add(unit), &output)
  }

  private mutating func write(_ units: [NumberingPlanner.Planned], _ output: inout Output) {
    for (unit, numbering) in units {
      func note(_ kind: Notice.Kind) -> Notice { Notice(accessUnit: unit.accessUnit, kind: kind) }
      do throws(MVCError) {
        let expected = unit.beginsSequence ? reader.sets.expectedSubset?.sps : nil
        let written = try stream.write(unit, expected: expected, numbering: numbering)
        for frame in written.frames {
          add(frame, unit.accessUnit, isPaired: written.frames.count == 2, to: &output)
        }
        if let error = written.dependentError {
          output.notices.append(note(.lost(.dependent, error)))
        }
        output.notices += MVCWarning.allCases.filter(written.warnings.contains).map {
          note(.warning($0))
        }
      } catch {
        output.notices.append(note(.lost(.base, error)))
      }
    }
  }

  /// Adds a picture of an access unit.
  private mutating func add(
    _ frame: FlattenedStream.Frame, _ accessUnit: Int, isPaired: Bool = false,
    to output: inout Output
  ) {
    guard let stamp = stamps[accessUnit] else { return }
    output.pictures.append(
      Picture(
        view: frame.view, accessUnit: accessUnit, stamp: stamp, bytes: frame.bytes,
        isRandomAccess: frame.isRandomAccess, orderCount: frame.orderCount,
        isFieldPair: frame.isFieldPair, isPaired: isPaired))
  }
}
