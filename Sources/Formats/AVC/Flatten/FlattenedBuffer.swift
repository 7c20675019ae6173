// SPDX-License-Identifier: MPL-2.0

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
    fileprivate(set) var frames: [ReferenceFrame]
    /// The number of LongTermFrameIdx values afterwards.
    fileprivate(set) var longTermLimit: Int
    /// Whether the current picture becomes a long-term reference.
    fileprivate(set) var isLongTerm = false
  }

  /// The frames with a reference marking.
  private(set) var frames: [ReferenceFrame] = []
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
  func frame(_ id: Int) -> ReferenceFrame? { frames.first { $0.id == id } }

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
      ?? ReferenceFrame(id: current.frame, frameNum: current.numbering.frameNum)
    let marking = wantedMarking(own, current)
    let isLongTerm = current.structure.parities.contains { marking[$0] == .longTerm }
    if isLongTerm { makeLongTerm(&own, current, &step) }
    own.mark(isLongTerm ? .longTerm : .shortTerm, current.structure)
    step.frames.removeAll { $0.id == own.id || !$0.isReference }
    step.frames.append(own)
    return step
  }

  private func makeLongTerm(_ own: inout ReferenceFrame, _ current: Current, _ step: inout Step) {
    step.isLongTerm = true
    if current.isIDR {
      own.longTermIndex = 0
      step.longTermLimit = 1
      return
    }
    raiseLongTermLimit(&step)
    own.longTermIndex = index(of: own, step)
    step.commands.append(.makeCurrentLongTerm(index: own.longTermIndex))
  }

  /// Writes commands for all fields but those of the current picture.
  private func changeOthers(_ current: Current, _ step: inout Step) {
    var promotions: [(frame: ReferenceFrame, structure: PictureStructure)] = []
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
          let number = current.numbering.number(frame.longTermIndex, structure)
          step.commands.append(.removeLongTerm(number: number))
          step.mark(frame.id, structure, .unused)
        case (.shortTerm, .longTerm): promotions.append((frame, structure))
        default: break
        }
      }
    }
    if !promotions.isEmpty { raiseLongTermLimit(&step) }
    for (frame, structure) in promotions {
      let index = index(of: step.frames.first { $0.id == frame.id } ?? frame, step)
      step.commands.append(
        .makeLongTerm(differenceMinus1: difference(frame, structure, current), index: index))
      step.mark(frame.id, structure, .longTerm, index: index)
    }
  }

  /// The parts of a frame that commands of the current picture can name. Frames name whole frames,
  /// so a frame with one reference field stays until the next field.
  private func structures(
    _ frame: ReferenceFrame, _ marking: FieldPair<ReferenceMarking>, _ current: Current
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
    _ frame: ReferenceFrame, _ current: Current
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
    _ frame: ReferenceFrame, _ structure: PictureStructure, _ current: Current
  ) -> Int {
    current.numbering.current - current.numbering.pictureNumber(frame, structure) - 1
  }

  private func raiseLongTermLimit(_ step: inout Step) {
    guard step.longTermLimit < capacity else { return }
    step.longTermLimit = capacity
    step.commands.append(.limitLongTerm(indexPlus1: capacity))
  }

  /// The LongTermFrameIdx of a frame: that of its other field, or one that no frame has.
  private func index(of frame: ReferenceFrame, _ step: Step) -> Int {
    if frame.hasField(.longTerm) { return frame.longTermIndex }
    let used = step.frames.filter { $0.hasField(.longTerm) }.map(\.longTermIndex)
    return (0..<capacity).first { !used.contains($0) } ?? 0
  }
}

extension FlattenedBuffer.Step {
  /// Marks fields of the frame with this id.
  fileprivate mutating func mark(
    _ id: Int, _ structure: PictureStructure, _ kind: ReferenceMarking, index: Int? = nil
  ) {
    guard let position = frames.firstIndex(where: { $0.id == id }) else { return }
    frames[position].mark(kind, structure)
    if let index { frames[position].longTermIndex = index }
  }
}

extension PictureNumbering {
  /// PicNum of a short-term reference.
  func pictureNumber(_ frame: ReferenceFrame, _ structure: PictureStructure) -> Int {
    number(frame.wrappedNumber(current: frameNum, maximum: maxFrameNum), structure)
  }

  /// Returns one modification for each entry of a list, so that the list becomes `entries`
  /// (8.2.4.3), whatever the initial list is. Entries that are no references in the flattened
  /// stream become the first that is one; if there is none, the result is empty.
  func modifications(
    _ entries: [Reference?], _ buffer: FlattenedBuffer
  ) -> [SliceHeader.Modification] {
    let found = entries.map { entry -> (ReferenceFrame, PictureStructure)? in
      guard let entry, let frame = buffer.frame(entry.frame),
        frame.isMarked(.shortTerm, entry.structure) || frame.isMarked(.longTerm, entry.structure)
      else { return nil }
      return (frame, entry.structure)
    }
    guard let substitute = found.first(where: { $0 != nil }) ?? nil else { return [] }
    var predicted = current
    return found.map { entry in
      let (frame, structure) = entry ?? substitute
      if frame.marking[structure.parities[0]] == .longTerm {
        return .longTerm(number: number(frame.longTermIndex, structure))
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
