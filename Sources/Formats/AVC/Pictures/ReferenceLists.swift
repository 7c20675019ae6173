// SPDX-License-Identifier: MPL-2.0

/// The construction of a slice's reference lists, H.264 (8.2.4, H.8.2).
struct ReferenceLists {
  /// The frames of the view with a reference marking.
  let frames: [ReferenceFrame]
  let numbering: PictureNumbering
  /// PicOrderCnt of the current picture.
  let orderCount: Int
  /// The frame whose second field the current picture is; nil for other pictures.
  let firstFieldFrame: Int?

  private var structure: PictureStructure { numbering.structure }

  /// Returns the final lists of a slice; nil stands for a reference that is missing.
  ///
  /// - Parameter interView: for each list, the inter-view reference that it ends with; nil for
  ///   none.
  func lists(of slice: SliceHeader, interView: [Reference?]) -> [[Reference?]] {
    let initial = slice.isIDR ? [[], []] : initial(slice.kind)
    return slice.activeCounts.indices.map { list in
      let count = slice.activeCounts[list]
      // 8.2.4.2 cuts the list before H.8.2.1 appends to it.
      var entries: [Reference?] = Array(initial[list].prefix(count))
      if let reference = interView[list] { entries.append(reference) }
      entries = Array(entries.prefix(count))
      entries += Array(repeating: nil, count: count - entries.count)
      modify(&entries, slice.modifications[list], interView[list])
      return entries
    }
  }

  // MARK: Initial lists

  private func initial(_ kind: SliceHeader.Kind) -> [[Reference]] {
    let long = frames.filter { isUsable($0, .longTerm) }.sorted {
      $0.longTermIndex < $1.longTermIndex
    }
    let short = frames.filter { isUsable($0, .shortTerm) }
    guard kind == .b else {
      return [entries(short.sorted { wrapped($0) > wrapped($1) }, long)]
    }
    let known = short.filter { !$0.isInferred }
    let before = known.filter { isBefore($0) }.sorted { count($0) > count($1) }
    let after = known.filter { !isBefore($0) }.sorted { count($0) < count($1) }
    let list0 = entries(before + after, long)
    var list1 = entries(after + before, long)
    if list1.count > 1, list0 == list1 { list1.swapAt(0, 1) }
    return [list0, list1]
  }

  private func isUsable(_ frame: ReferenceFrame, _ kind: ReferenceMarking) -> Bool {
    structure.isField ? frame.hasField(kind) : frame.isMarked(kind)
  }

  private func wrapped(_ frame: ReferenceFrame) -> Int {
    frame.wrappedNumber(current: numbering.frameNum, maximum: numbering.maxFrameNum)
  }

  /// PicOrderCnt of a frame, or of its first field if the second is being decoded (8.2.4.2.4).
  private func count(_ frame: ReferenceFrame) -> Int {
    if frame.id == firstFieldFrame, case .field(let parity) = structure {
      return frame.counts[parity.opposite] ?? frame.orderCount
    }
    return frame.orderCount
  }

  /// Whether a frame goes to the first part of list 0: for fields, a frame with an equal count
  /// does, too, since that is the frame of the first field (8.2.4.2.4).
  private func isBefore(_ frame: ReferenceFrame) -> Bool { count(frame) <= orderCount }

  private func entries(_ short: [ReferenceFrame], _ long: [ReferenceFrame]) -> [Reference] {
    guard case .field(let parity) = structure else {
      return (short + long).map { Reference(frame: $0.id, structure: .frame) }
    }
    return alternating(short, parity, .shortTerm) + alternating(long, parity, .longTerm)
  }

  /// Fields of alternating parity, H.264 (8.2.4.2.5).
  private func alternating(
    _ frames: [ReferenceFrame], _ first: Parity, _ kind: ReferenceMarking
  ) -> [Reference] {
    func fields(_ parity: Parity) -> ArraySlice<Reference> {
      frames.filter { $0.marking[parity] == kind }.map {
        Reference(frame: $0.id, structure: .field(parity))
      }[...]
    }
    var next = fields(first)
    var other = fields(first.opposite)
    var result: [Reference] = []
    while let reference = next.popFirst() {
      result.append(reference)
      swap(&next, &other)
    }
    return result + other
  }

  // MARK: Modification

  /// 8.2.4.3, H.8.2.2.3
  private func modify(
    _ entries: inout [Reference?], _ modifications: [SliceHeader.Modification],
    _ interView: Reference?
  ) {
    var predicted = numbering.current
    for (position, modification) in modifications.enumerated() where position < entries.count {
      let reference: Reference?
      switch modification {
      case .shortTerm(let difference):
        predicted = (predicted + difference) % numbering.maximum
        if predicted < 0 { predicted += numbering.maximum }
        reference = shortTerm(
          predicted > numbering.current ? predicted - numbering.maximum : predicted)
      case .longTerm(let number): reference = longTerm(number)
      case .interView: reference = interView
      }
      insert(reference, at: position, &entries)
    }
  }

  /// Inserts a reference, and removes it from the positions after it.
  private func insert(
    _ reference: Reference?, at position: Int, _ entries: inout [Reference?]
  ) {
    let count = entries.count
    entries.insert(reference, at: position)
    if reference != nil,
      let duplicate = entries[(position + 1)...].firstIndex(where: { $0 == reference })
    {
      entries.remove(at: duplicate)
    }
    entries.removeLast(entries.count - count)
  }

  /// Returns the short-term reference with this PicNum; nil if there is none.
  func shortTerm(_ number: Int) -> Reference? {
    named(.shortTerm) { numbering.number(wrapped($0), $1) == number }
  }

  /// Returns the long-term reference with this LongTermPicNum; nil if there is none.
  func longTerm(_ number: Int) -> Reference? {
    named(.longTerm) { numbering.number($0.longTermIndex, $1) == number }
  }

  private func named(
    _ kind: ReferenceMarking, _ isNamed: (ReferenceFrame, PictureStructure) -> Bool
  ) -> Reference? {
    let structures: [PictureStructure] =
      structure.isField ? [.field(.top), .field(.bottom)] : [.frame]
    for frame in frames {
      for candidate in structures where frame.isMarked(kind, candidate) && isNamed(frame, candidate)
      {
        return Reference(frame: frame.id, structure: candidate)
      }
    }
    return nil
  }
}
