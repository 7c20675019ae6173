// SPDX-License-Identifier: MPL-2.0

/// A frame, a pair of fields or a single field in the decoded picture buffer of a flattened stream.
struct FlattenedFrame: Sendable {
  /// ``ReferenceFrame/id`` of the frame.
  let id: Int
  /// FrameNum
  let frameNum: Int
  var marking = FieldPair(ReferenceMarking.unused, .unused)
  /// LongTermFrameIdx; nil if it never was a long-term reference.
  var longTermIndex: Int?

  var isReference: Bool { marking.top != .unused || marking.bottom != .unused }

  /// Whether all fields of `structure` are references.
  func isReference(_ structure: PictureStructure) -> Bool {
    structure.parities.allSatisfy { marking[$0] != .unused }
      && (structure.isField || marking.top == marking.bottom)
  }

  /// The view that it belongs to.
  var view: MVCView { id & 1 == 0 ? .base : .dependent }
}

/// The reference frames of a flattened stream as its decoder marks them (8.2.5). Each reference
/// picture brings this marking in line with the wanted one: that of both views' own streams.
struct FlattenedBuffer: Sendable {
  /// The picture that is being written.
  struct Current: Sendable {
    let frame: Int
    let numbering: PictureNumbering
    /// Whether it is an IDR picture.
    let isIDR: Bool
    /// A base frame that is kept for dependent pictures of the same unit; nil for none.
    let kept: Int?
    /// Whether the kept frame becomes a long-term reference.
    let keepsLongTerm: Bool

    var structure: PictureStructure { numbering.structure }
  }

  /// Marking commands, and their result.
  struct Step: Sendable {
    var commands: [SliceHeader.MarkingCommand] = []
    /// The frames afterwards.
    fileprivate(set) var frames: [FlattenedFrame]
    /// The number of LongTermFrameIdx values afterwards.
    fileprivate(set) var longTermLimit: Int
    /// Whether the current picture becomes a long-term reference.
    fileprivate(set) var isLongTerm = false
  }

  /// The frames with a reference marking.
  private(set) var frames: [FlattenedFrame] = []
  /// The marking that each view needs.
  private var wanted: [[Int: FieldPair<ReferenceMarking>]] = [[:], [:]]
  /// MaxLongTermFrameIdx plus 1
  private var longTermLimit = 0
  /// `max_num_ref_frames`
  private var capacity = 1

  /// Begins a coded video sequence.
  mutating func begin(capacity: Int) {
    self = FlattenedBuffer()
    self.capacity = capacity
  }

  /// Sets the marking that a view needs from now on.
  mutating func want(_ markings: [ViewState.FrameMarking], of view: MVCView) {
    wanted[view.rawValue] = [:]
    for entry in markings { wanted[view.rawValue][entry.frame] = entry.marking }
  }

  /// Returns the frame with this id; nil if it is no reference.
  func frame(_ id: Int) -> FlattenedFrame? { frames.first { $0.id == id } }

  /// Whether a picture without marking commands leaves all references as they are, since the
  /// sliding window has nothing to remove.
  var hasSpace: Bool { frames.count < capacity }

  /// Takes over the marking after a reference picture.
  mutating func apply(_ step: Step) {
    frames = step.frames
    longTermLimit = step.longTermLimit
  }

  /// Returns the marking commands of a reference picture.
  func step(_ current: Current) -> Step {
    var step = Step(frames: frames, longTermLimit: longTermLimit)
    if !current.isIDR { changeOthers(current, &step) }
    var own =
      step.frames.first { $0.id == current.frame }
      ?? FlattenedFrame(id: current.frame, frameNum: current.numbering.frameNum)
    let marking = wantedMarking(own, current)
    let isLongTerm = current.structure.parities.contains { marking[$0] == .longTerm }
    if isLongTerm { makeLongTerm(&own, current, &step) }
    for parity in current.structure.parities {
      own.marking[parity] = isLongTerm ? .longTerm : .shortTerm
    }
    step.frames.removeAll { $0.id == own.id || !$0.isReference }
    step.frames.append(own)
    return step
  }

  private func makeLongTerm(_ own: inout FlattenedFrame, _ current: Current, _ step: inout Step) {
    step.isLongTerm = true
    if current.isIDR {
      own.longTermIndex = 0
      step.longTermLimit = 1
      return
    }
    raiseLongTermLimit(&step)
    let index = own.longTermIndex ?? freeIndex(step)
    own.longTermIndex = index
    step.commands.append(.makeCurrentLongTerm(index: index))
  }

  /// Writes commands for all fields but those of the current picture.
  private func changeOthers(_ current: Current, _ step: inout Step) {
    var promotions: [(frame: FlattenedFrame, structure: PictureStructure)] = []
    for frame in frames {
      let marking = wantedMarking(frame, current)
      for structure in structures(frame, marking, current) {
        guard let parity = structure.parities.first else { continue }
        switch (frame.marking[parity], marking[parity]) {
        case (.shortTerm, .unused):
          step.commands.append(
            .removeShortTerm(differenceMinus1: difference(frame, structure, current)))
          step.mark(frame.id, structure, .unused)
        case (.longTerm, .unused):
          let number = current.numbering.number(frame.longTermIndex ?? 0, structure)
          step.commands.append(.removeLongTerm(number: number))
          step.mark(frame.id, structure, .unused)
        case (.shortTerm, .longTerm): promotions.append((frame, structure))
        default: break
        }
      }
    }
    if !promotions.isEmpty { raiseLongTermLimit(&step) }
    for (frame, structure) in promotions {
      let index = step.frames.first { $0.id == frame.id }?.longTermIndex ?? freeIndex(step)
      step.commands.append(
        .makeLongTerm(differenceMinus1: difference(frame, structure, current), index: index))
      step.mark(frame.id, structure, .longTerm, index: index)
    }
  }

  /// The parts of a frame that commands of the current picture can name. Frames name whole frames,
  /// so a frame with one reference field stays until the next field.
  private func structures(
    _ frame: FlattenedFrame, _ marking: FieldPair<ReferenceMarking>, _ current: Current
  ) -> [PictureStructure] {
    if current.structure.isField {
      return Parity.allCases.filter {
        frame.id != current.frame || !current.structure.contains($0)
      }.map { .field($0) }
    }
    return frame.marking.top == frame.marking.bottom && marking.top == marking.bottom
      ? [.frame] : []
  }

  /// The marking that a frame must have after the current picture.
  private func wantedMarking(
    _ frame: FlattenedFrame, _ current: Current
  ) -> FieldPair<ReferenceMarking> {
    var marking =
      wanted[frame.view.rawValue][frame.id] ?? FieldPair(ReferenceMarking.unused, .unused)
    for parity in Parity.allCases {
      let isCurrent = frame.id == current.frame && current.structure.contains(parity)
      let isDecoded = isCurrent || frame.marking[parity] != .unused
      if !isDecoded { marking[parity] = .unused }
      if isDecoded, frame.id == current.kept, marking[parity] == .unused {
        let isLongTerm = current.keepsLongTerm || frame.marking[parity] == .longTerm
        marking[parity] = isLongTerm ? .longTerm : .shortTerm
      }
    }
    return marking
  }

  /// `difference_of_pic_nums_minus1` of a short-term reference.
  private func difference(
    _ frame: FlattenedFrame, _ structure: PictureStructure, _ current: Current
  ) -> Int {
    current.numbering.current - current.numbering.pictureNumber(frame, structure) - 1
  }

  private func raiseLongTermLimit(_ step: inout Step) {
    guard step.longTermLimit < capacity else { return }
    step.longTermLimit = capacity
    step.commands.append(.limitLongTerm(indexPlus1: capacity))
  }

  /// A LongTermFrameIdx that no frame has.
  private func freeIndex(_ step: Step) -> Int {
    let used = step.frames.filter { $0.marking.top == .longTerm || $0.marking.bottom == .longTerm }
      .map(\.longTermIndex)
    return (0..<capacity).first { !used.contains($0) } ?? 0
  }
}

extension FlattenedBuffer.Step {
  /// Marks fields of the frame with this id.
  fileprivate mutating func mark(
    _ id: Int, _ structure: PictureStructure, _ kind: ReferenceMarking, index: Int? = nil
  ) {
    guard let position = frames.firstIndex(where: { $0.id == id }) else { return }
    for parity in structure.parities { frames[position].marking[parity] = kind }
    if let index { frames[position].longTermIndex = index }
  }
}

extension PictureNumbering {
  /// PicNum of a short-term reference.
  func pictureNumber(_ frame: FlattenedFrame, _ structure: PictureStructure) -> Int {
    let wrapped = frame.frameNum > frameNum ? frame.frameNum - maxFrameNum : frame.frameNum
    return number(wrapped, structure)
  }

  /// Returns one modification for each entry of a list, so that the list becomes `entries`
  /// (8.2.4.3), whatever the initial list is. Entries that are no references in the flattened
  /// stream become the first that is one; if there is none, the result is empty.
  func modifications(
    _ entries: [Reference?], _ buffer: FlattenedBuffer
  ) -> [SliceHeader.Modification] {
    let found = entries.map { entry -> (FlattenedFrame, PictureStructure)? in
      guard let entry, let frame = buffer.frame(entry.frame), frame.isReference(entry.structure)
      else { return nil }
      return (frame, entry.structure)
    }
    guard let substitute = found.first(where: { $0 != nil }) ?? nil else { return [] }
    var predicted = current
    return found.map { entry in
      let (frame, structure) = entry ?? substitute
      if frame.marking[structure.parities[0]] == .longTerm {
        return .longTerm(number: number(frame.longTermIndex ?? 0, structure))
      }
      let number = pictureNumber(frame, structure)
      let next = number < 0 ? number + maximum : number
      // The same picture again is a difference of MaxPicNum.
      let difference = next == predicted ? -maximum : next - predicted
      predicted = next
      return .shortTerm(difference: difference)
    }
  }
}
