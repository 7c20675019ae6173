// SPDX-License-Identifier: MPL-2.0

/// The decoding process of one view for picture order counts, reference lists and marking, H.264
/// (8.2.1, 8.2.4, 8.2.5). By H.8.1 to H.8.3 it takes no notice of the other view, except for the
/// inter-view reference.
struct ViewState: Sendable {
  /// The picture being decoded.
  struct Current: Sendable {
    var frame: ReferenceFrame
    /// Its first slice.
    let slice: SliceHeader
    /// Whether it is the second field of its frame.
    let isSecondField: Bool
    /// PicOrderCnt of the picture.
    let orderCount: Int

    var structure: PictureStructure { slice.structure }
    /// PicOrderCnt that continues those before operation 5.
    var continuedCount: Int { orderCount &+ frame.shift }
  }

  /// How a frame is marked.
  struct FrameMarking: Sendable {
    let frame: Int
    let marking: FieldPair<ReferenceMarking>
  }

  /// The largest number of frames that H.264 allows in a buffer; more are the result of damage.
  static let maximumFrames = 16

  private let view: MVCView
  /// The frames with a reference marking.
  private(set) var frames: [ReferenceFrame] = []
  /// The picture between ``begin(_:)`` and ``finish()``.
  private(set) var current: Current?
  /// The picture before, if it is a field whose frame may get a second one.
  private var firstField: Current?
  private var counter = PictureOrderCounter()
  /// PrevRefFrameNum
  private var previousFrameNum = 0
  /// See ``ReferenceFrame/shift``; for the frames to come.
  private var shift = 0
  private var frameCount = 0

  /// Creates the state of `view` at the start of a stream.
  init(_ view: MVCView) { self.view = view }

  /// Prepares for a start in the middle of a stream, at the picture with this slice.
  mutating func start(_ slice: SliceHeader) {
    (frames, firstField, shift) = ([], nil, 0)
    counter = PictureOrderCounter()
    counter.start(slice)
    previousFrameNum = slice.frameNum
  }

  /// Changes the shift so that the current picture gets `count`; `frames` must be empty.
  mutating func align(to count: Int) {
    guard let picture = current else { return }
    shift = count &- picture.orderCount
    current?.frame.shift = shift
  }

  /// Begins the picture with this slice.
  mutating func begin(_ slice: SliceHeader) {
    let first = firstField.flatMap { isSecondField(slice, of: $0) ? $0 : nil }
    if first == nil {
      if slice.isIDR {
        (frames, previousFrameNum, shift) = ([], 0, 0)
      } else {
        fillGap(slice)
      }
    }
    let counts = counter.counts(slice)
    var frame =
      first.map { first in frames.first { $0.id == first.frame.id } ?? first.frame }
      ?? newFrame(slice.frameNum)
    for parity in slice.structure.parities { frame.counts[parity] = counts[parity] }
    let count: Int =
      switch slice.structure {
      case .frame: min(counts.top, counts.bottom)
      case .field(let parity): counts[parity]
      }
    current = Current(
      frame: frame, slice: slice, isSecondField: first != nil, orderCount: count)
    firstField = nil
  }

  /// Whether `frame_num` of the next picture shows that a reference picture was lost (7.4.3).
  func isReferenceLost(before slice: SliceHeader) -> Bool {
    let sps = slice.sets.sps
    let next = (previousFrameNum + 1) & (1 << sps.log2MaxFrameNum - 1)
    return !slice.isIDR && !sps.allowsFrameNumGaps && slice.frameNum != previousFrameNum
      && slice.frameNum != next
  }

  private mutating func newFrame(_ frameNum: Int) -> ReferenceFrame {
    frameCount += 1
    return ReferenceFrame(id: frameCount << 1 | view.rawValue, frameNum: frameNum, shift: shift)
  }

  private func isSecondField(_ slice: SliceHeader, of first: Current) -> Bool {
    guard case .field(let parity) = slice.structure else { return false }
    return first.structure == .field(parity.opposite) && slice.frameNum == first.frame.frameNum
      && (!slice.isIDR || first.slice.isIDR) && (first.slice.isReference || !slice.isReference)
  }

  /// Returns the final lists of a slice of the current picture; nil stands for a missing reference.
  ///
  /// - Parameter base: id of the base view's frame, if it may be an inter-view reference.
  func lists(_ slice: SliceHeader, base: Int?) -> [[Reference?]] {
    guard let picture = current, !slice.kind.isIntra else { return [] }
    var interView: [Reference?] = [nil, nil]
    if let base, let subset = slice.sets.subset, let header = slice.header.mvc {
      let uses = header.isAnchor ? subset.anchorReferences : subset.otherReferences
      interView = uses.map { $0 ? Reference(frame: base, structure: picture.structure) : nil }
    }
    return builder(picture).lists(of: slice, interView: interView)
  }

  private func builder(_ picture: Current) -> ReferenceLists {
    ReferenceLists(
      frames: frames,
      numbering: PictureNumbering(
        frameNum: picture.slice.frameNum, maxFrameNum: 1 << picture.slice.sets.sps.log2MaxFrameNum,
        structure: picture.structure),
      orderCount: picture.orderCount,
      firstFieldFrame: picture.isSecondField ? picture.frame.id : nil)
  }

  /// Notes that a slice of the current picture refers to the other view.
  mutating func noteInterViewReference() { current?.frame.usesInterView = true }

  /// The marking of the frames that exist.
  var markings: [FrameMarking] {
    frames.compactMap {
      $0.isInferred ? nil : FrameMarking(frame: $0.id, marking: $0.marking)
    }
  }

  /// Returns the reference frame with this id; nil if it is none of this view.
  func frame(_ id: Int) -> ReferenceFrame? { frames.first { $0.id == id } }

  /// Ends the current picture: marks it and the other references (8.2.5).
  mutating func finish() {
    guard var picture = current else { return }
    current = nil
    let slice = picture.slice
    var isReset = false
    if slice.isReference {
      isReset = mark(&picture)
      previousFrameNum = isReset ? 0 : slice.frameNum
    }
    if isReset {
      // 8.2.1: afterwards, the picture counts as if it were the first.
      let count = picture.orderCount
      let isBottom = picture.structure == .field(.bottom)
      counter.finish(
        slice, resetTop: isBottom ? 0 : (picture.frame.counts.top ?? 0) &- count)
      picture.frame.frameNum = 0
      for parity in Parity.allCases {
        picture.frame.counts[parity] = picture.frame.counts[parity].map { $0 &- count }
      }
      picture.frame.shift &+= count
      shift &+= count
    } else {
      counter.finish(slice, resetTop: nil)
    }
    if picture.frame.isReference {
      frames.removeAll { $0.id == picture.frame.id }
      frames.append(picture.frame)
    }
    removeExcess(slice)
    firstField = picture.structure.isField && !picture.isSecondField ? picture : nil
  }
}

// MARK: - Marking

extension ViewState {
  /// Marks the current picture and the other references, and returns whether operation 5 removed
  /// them all.
  private mutating func mark(_ picture: inout Current) -> Bool {
    let slice = picture.slice
    let structure = picture.structure
    var kind = ReferenceMarking.shortTerm
    var isReset = false
    if slice.isIDR {
      if slice.isLongTermIDR { (kind, picture.frame.longTermIndex) = (.longTerm, 0) }
    } else if let commands = slice.markingCommands {
      let id = picture.frame.id
      for command in commands {
        switch command {
        case .removeAll:
          frames = []
          if picture.isSecondField { picture.frame.mark(.unused) }
          isReset = true
        case .makeCurrentLongTerm(let index):
          free(index, except: id)
          (kind, picture.frame.longTermIndex) = (.longTerm, index)
        default: apply(command, builder(picture))
        }
      }
      // The commands may have changed the first field.
      if picture.isSecondField, !isReset {
        picture.frame.marking =
          frame(id)?.marking ?? FieldPair(.unused, .unused)
      }
    } else if !picture.isSecondField || !picture.frame.hasField(.shortTerm) {
      slide(slice, number: slice.frameNum)
    }
    picture.frame.mark(kind, structure)
    frames.removeAll { !$0.isReference }
    return isReset
  }

  private mutating func apply(_ command: SliceHeader.MarkingCommand, _ builder: ReferenceLists) {
    let current = builder.numbering.current
    switch command {
    case .removeShortTerm(let difference):
      update(builder.shortTerm(current - difference - 1)) { $0.mark(.unused, $1) }
    case .removeLongTerm(let number):
      update(builder.longTerm(number)) { $0.mark(.unused, $1) }
    case .makeLongTerm(let difference, let index):
      let reference = builder.shortTerm(current - difference - 1)
      guard let reference else { return }
      free(index, except: reference.frame)
      update(reference) {
        $0.longTermIndex = index
        $0.mark(.longTerm, $1)
      }
    case .limitLongTerm(let limit):
      for position in frames.indices where frames[position].longTermIndex >= limit {
        frames[position].unmark(.longTerm)
      }
    case .removeAll, .makeCurrentLongTerm: break
    }
  }

  private mutating func update(
    _ reference: Reference?, _ change: (inout ReferenceFrame, PictureStructure) -> Void
  ) {
    guard let reference, let position = frames.firstIndex(where: { $0.id == reference.frame })
    else { return }
    change(&frames[position], reference.structure)
  }

  /// Removes the long-term reference with this LongTermFrameIdx, unless it is of frame `id`.
  private mutating func free(_ index: Int, except id: Int) {
    for position in frames.indices
    where frames[position].longTermIndex == index && frames[position].id != id {
      frames[position].unmark(.longTerm)
    }
  }

  /// The sliding window, H.264 (8.2.5.3), for a picture with this `frame_num`.
  private mutating func slide(_ slice: SliceHeader, number: Int) {
    guard frames.count >= max(slice.sets.sps.maxNumRefFrames, 1) else { return }
    removeOldest(slice, number: number)
  }

  private mutating func removeOldest(_ slice: SliceHeader, number: Int) {
    let maximum = 1 << slice.sets.sps.log2MaxFrameNum
    let oldest = frames.indices.filter { frames[$0].hasField(.shortTerm) }.min {
      frames[$0].wrappedNumber(current: number, maximum: maximum)
        < frames[$1].wrappedNumber(current: number, maximum: maximum)
    }
    guard let oldest else { return }
    frames[oldest].unmark(.shortTerm)
    frames.removeAll { !$0.isReference }
  }

  /// Infers the frames of a gap of `frame_num`, H.264 (8.2.5.2).
  private mutating func fillGap(_ slice: SliceHeader) {
    let sps = slice.sets.sps
    let mask = 1 << sps.log2MaxFrameNum - 1
    let next = (previousFrameNum + 1) & mask
    guard sps.allowsFrameNumGaps, slice.frameNum != previousFrameNum, slice.frameNum != next
    else { return }
    // More frames than fit would only push each other out.
    let count = min((slice.frameNum - next) & mask, max(sps.maxNumRefFrames, 1))
    for number in slice.frameNum - count..<slice.frameNum {
      slide(slice, number: number & mask)
      var frame = newFrame(number & mask)
      frame.isInferred = true
      frame.counts = FieldPair(0, 0)
      frame.mark(.shortTerm)
      frames.append(frame)
    }
    removeExcess(slice)
    previousFrameNum = (slice.frameNum - 1) & mask
  }

  /// Limits the number of references that damaged marking commands leave.
  private mutating func removeExcess(_ slice: SliceHeader) {
    while frames.count > Self.maximumFrames {
      let count = frames.count
      removeOldest(slice, number: slice.frameNum)
      if frames.count == count { frames.removeFirst() }
    }
  }
}
