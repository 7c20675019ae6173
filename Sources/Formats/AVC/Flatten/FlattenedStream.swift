// SPDX-License-Identifier: MPL-2.0

internal import HEVC

/// Writes the pictures of both views as one stream of short-term references, in the order base,
/// dependent.
struct FlattenedStream: Sendable {
  /// A written frame, or pair of fields, of one view.
  struct Frame: Sendable {
    let view: MVCView
    /// A byte stream with one access unit, or two for a pair of fields.
    var bytes: [UInt8] = []
    /// Whether it begins with an IDR picture.
    var isRandomAccess = false
    /// Picture order count in the flattened stream; nil if one view is extracted.
    var orderCount: Int?
    var isFieldPair = false
  }

  /// The result of writing a unit.
  struct Output: Sendable {
    var frames: [Frame] = []
    var warnings: Set<MVCWarning> = []
    /// Why the dependent pictures are left out.
    var dependentError: MVCError?
  }

  private var sequence: FlattenedSequence?
  private var sets = FlattenedPictureParameterSets()
  private var buffer = FlattenedBuffer()
  private var idrPicID = 0
  /// `frame_num` of the last reference picture.
  private var lastFrameNum = 0
  /// FrameNum of the frame that was written last of each view.
  private var frameNums = [0, 0]
  /// Whether the dependent view needs more frames than there are, until the next sequence.
  private var dropsDependent = false

  /// Writes a unit.
  ///
  /// - Parameters:
  ///   - unit: the pictures.
  ///   - expected: SPS of the dependent view, if the unit begins a sequence.
  ///   - numbering: the numbering, if the unit begins a sequence.
  /// - Throws: ``MVCError`` if a base picture cannot be written.
  mutating func write(
    _ unit: FlattenedUnit, expected: SequenceParameterSet?, numbering: MVCNumbering
  ) throws(MVCError) -> Output {
    var output = Output()
    if unit.beginsSequence {
      dropsDependent = false
      begin(unit.pairs[0], expected: expected, numbering)
    }
    for pair in unit.pairs {
      output.warnings.formUnion(pair.warnings)
      output.dependentError = output.dependentError ?? pair.dependentError
    }
    guard !unit.isLeading else { throw .missingReferences }
    if let sequence, sequence.numbering == .double,
      unit.pairs.contains(where: {
        $0.base.isChangedByDoubling || $0.dependent?.isChangedByDoubling == true
      })
    {
      output.warnings.insert(.roundedDistances)
    }
    if let sequence, sequence.numbering == .shift, unit.hasOddCount {
      output.warnings.insert(.oddPictureOrderCount)
    }
    let wasDropping = dropsDependent
    output.frames.append(try write(unit, unit.pairs.map { $0.base }, .base, &output))
    let dependents = dropsDependent ? [] : unit.pairs.compactMap { $0.dependent }
    do throws(MVCError) {
      if dropsDependent, !wasDropping {
        throw .tooManyReferenceFrames(count: FlattenedSequence.maximumFrames + 1)
      }
      guard !dependents.isEmpty else { return output }
      output.frames.append(try write(unit, dependents, .dependent, &output))
    } catch {
      output.dependentError = error
    }
    return output
  }

  private mutating func begin(
    _ pair: PicturePair, expected: SequenceParameterSet?, _ numbering: MVCNumbering
  ) {
    let dependent = pair.dependent?.head.sets.sps ?? expected
    let sequence = FlattenedSequence(
      base: pair.base.head.sets.sps, dependent: dependent, numbering: numbering)
    self.sequence = sequence
    buffer.begin(capacity: sequence.maxNumRefFrames)
    idrPicID ^= 1
    lastFrameNum = 0
  }

  // MARK: Pictures

  /// Writes the pictures of one view.
  private mutating func write(
    _ unit: FlattenedUnit, _ pictures: [ViewPicture], _ view: MVCView,
    _ output: inout Output
  ) throws(MVCError) -> Frame {
    var frame = Frame(view: view)
    frame.isFieldPair = pictures.count == 2
    let isUsed = unit.usesInterView && !dropsDependent
    for (index, picture) in pictures.enumerated() {
      let isKept = isUsed && (view == .base || index + 1 < pictures.count)
      let isIDR = view == .base && index == 0 && unit.beginsSequence
      let sei = view == .base ? unit.pairs[index].sei : []
      buffer.want(picture.markings, of: view)
      try write(
        picture, isIDR: isIDR, isReference: picture.head.isReference || view == .base && isUsed,
        kept: isKept ? unit.frame : nil, keepsLongTerm: unit.needsLongTermBase, sei: sei,
        &frame, &output.warnings)
    }
    return frame
  }

  private mutating func write(
    _ picture: ViewPicture, isIDR: Bool, isReference: Bool, kept: Int?, keepsLongTerm: Bool,
    sei: [[UInt8]], _ frame: inout Frame, _ warnings: inout Set<MVCWarning>
  ) throws(MVCError) {
    guard let sequence else { throw .missingReferences }
    let maxFrameNum = 1 << sequence.log2MaxFrameNum
    if !picture.isSecondField {
      frameNums[picture.view.rawValue] = isIDR ? 0 : (lastFrameNum + 1) & (maxFrameNum - 1)
    }
    let numbering = PictureNumbering(
      frameNum: frameNums[picture.view.rawValue], maxFrameNum: maxFrameNum,
      structure: picture.structure)
    let current = FlattenedBuffer.Current(
      frame: picture.frame, numbering: numbering, isIDR: isIDR, kept: kept,
      keepsLongTerm: keepsLongTerm && !picture.head.isReference)
    let step = isReference ? try step(current, picture.view, sequence) : nil
    let needsCommands = step.map { !$0.commands.isEmpty || !buffer.hasSpace } ?? false
    let counts = FieldPair(
      sequence.numbering.count(picture.counts.top ?? 0, of: picture.view),
      sequence.numbering.count(picture.counts.bottom ?? 0, of: picture.view))
    let elements = FlattenedSlice.Picture(
      refIDC: isReference ? max(picture.head.header.refIDC, 1) : 0,
      idrPicID: isIDR ? idrPicID : nil, numbering: numbering,
      log2MaxFrameNum: sequence.log2MaxFrameNum, counts: counts,
      isLongTerm: step?.isLongTerm ?? false, commands: needsCommands ? step?.commands : nil,
      view: picture.view)
    var units = [RewrittenUnit.delimiter(picture.slices.map(\.header.kind))]
    if isIDR { units.append(sequence.nalUnit(picture.head.sets.sps)) }
    sets.beginPicture(followsSPS: isIDR)
    let slices = try write(picture, elements, &warnings)
    for unit in units + sei + sets.pending + slices {
      RewrittenUnit.append(unit, to: &frame.bytes)
    }
    frame.isRandomAccess = frame.isRandomAccess || isIDR
    let count = sequence.numbering.count(picture.orderCount, of: picture.view)
    frame.orderCount = min(frame.orderCount ?? count, count)
    if let step {
      buffer.apply(step)
      lastFrameNum = numbering.frameNum
    }
  }

  /// Returns the marking commands of a picture. If there is no room for the frames of both views,
  /// those of the dependent view are given up until the next sequence.
  private mutating func step(
    _ current: FlattenedBuffer.Current, _ view: MVCView, _ sequence: FlattenedSequence
  ) throws(MVCError) -> FlattenedBuffer.Step {
    let step = buffer.step(current)
    guard step.frames.count > sequence.maxNumRefFrames, !dropsDependent else { return step }
    dropsDependent = true
    buffer.want([], of: .dependent)
    guard view == .base else { throw .tooManyReferenceFrames(count: step.frames.count) }
    return buffer.step(current)
  }

  private mutating func write(
    _ picture: ViewPicture, _ elements: FlattenedSlice.Picture, _ warnings: inout Set<MVCWarning>
  ) throws(MVCError) -> [[UInt8]] {
    var nalUnits: [[UInt8]] = []
    var isMoved = false
    for slice in picture.slices {
      let modifications = slice.lists.map { elements.numbering.modifications($0, buffer) }
      let flattened = FlattenedSlice(
        picture: elements, coded: slice.coded, modifications: modifications)
      nalUnits.append(try flattened.nalUnit(&sets, isMoved: &isMoved))
    }
    if isMoved { warnings.insert(.movedSliceData) }
    return nalUnits
  }
}
