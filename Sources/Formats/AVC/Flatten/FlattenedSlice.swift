// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

/// A slice of a flattened stream: a new header, and the slice data of the original.
///
/// Slice data of CABAC begin at a byte. Those of CAVLC follow the header immediately, but I_PCM
/// macroblocks in them are aligned to bytes, so they must stay at the same bit of a byte; the
/// header is given a suitable length by the choice of its PPS (see ``HeaderForm``).
struct FlattenedSlice {
  /// The elements that are equal in all slices of a picture.
  struct Picture {
    /// `nal_ref_idc`
    let refIDC: Int
    /// `idr_pic_id`; nil if it is no IDR picture.
    let idrPicID: Int?
    let numbering: PictureNumbering
    /// Number of bits of `frame_num`.
    let log2MaxFrameNum: Int
    /// TopFieldOrderCnt and BottomFieldOrderCnt; of a field, the other is ignored.
    let counts: FieldPair<Int>
    /// The marking of an IDR picture: `long_term_reference_flag`.
    let isLongTerm: Bool
    /// The marking commands; nil for `adaptive_ref_pic_marking_mode_flag` 0.
    let commands: [SliceHeader.MarkingCommand]?
    let view: MVCView
  }

  let picture: Picture
  let coded: CodedSlice
  /// One modification for each entry of each list; empty for a list without references.
  let modifications: [[SliceHeader.Modification]]

  private var header: SliceHeader { coded.header }

  /// Returns the NAL unit.
  ///
  /// - Parameter isMoved: set to true if slice data of CAVLC had to be moved inside their bytes.
  /// - Throws: ``MVCError/tooManyParameterSets``.
  func nalUnit(
    _ sets: inout FlattenedPictureParameterSets, isMoved: inout Bool
  ) throws(MVCError) -> [UInt8] {
    if header.sets.pps.isCABAC {
      var writer = writeHeader(pps: try id(&sets), HeaderForm())
      writer.alignWithOnes()
      return joined(writer, (header.layout.tail.upperBound + 7) >> 3)
    }
    if let (form, length) = alignedForm(),
      let id = sets.id(for: header, of: picture.view, form, length: length)
    {
      var writer = writeHeader(pps: id, form)
      let data = header.layout.tail.upperBound
      // The rest of the byte that the header and the data share.
      let aligned = (data + 7) & ~7
      writer.copy(data..<aligned, of: header.rbsp.bytes)
      return joined(writer, aligned >> 3)
    }
    isMoved = true
    return moved(writeHeader(pps: try id(&sets), HeaderForm()))
  }

  private func id(_ sets: inout FlattenedPictureParameterSets) throws(MVCError) -> Int {
    guard let id = sets.id(for: header, of: picture.view, HeaderForm()) else {
      throw .tooManyParameterSets
    }
    return id
  }

  // MARK: Header

  /// Returns a form with which the header ends at the same bit of a byte as the original, and the
  /// number of bits of the PPS id that this takes; nil if there is none.
  private func alignedForm() -> (HeaderForm, length: Int)? {
    for deblocking in [HeaderForm.Deblocking.unchanged, .added, .removed] {
      for sendsOrder in [true, false] {
        let form = HeaderForm(sendsBottomFieldOrder: sendsOrder, deblocking: deblocking)
        guard isPossible(form) else { continue }
        // The PPS id 0 takes one bit, the others an odd number of bits.
        let missing = (header.layout.tail.upperBound - writeHeader(pps: 0, form).bitCount) & 7
        if missing & 1 == 0 { return (form, 1 + missing) }
      }
    }
    return nil
  }

  private func isPossible(_ form: HeaderForm) -> Bool {
    if !form.sendsBottomFieldOrder,
      header.structure.isField || picture.counts.top != picture.counts.bottom
    {
      return false
    }
    switch form.deblocking {
    case .unchanged: return true
    case .added: return !header.sets.pps.controlsDeblocking
    case .removed: return header.layout.endsWithPlainDeblocking
    }
  }

  /// Writes the NAL unit up to the slice data, without emulation prevention.
  private func writeHeader(pps: Int, _ form: HeaderForm) -> BitWriter {
    var writer = BitWriter()
    let type = picture.idrPicID == nil ? NALUnitType.slice : .idrSlice
    writer.u(picture.refIDC << 5 | Int(type.rawValue), 8)
    writer.ue(header.firstMB)
    writer.ue(header.sliceType)
    writer.ue(pps)
    writer.u(picture.numbering.frameNum, picture.log2MaxFrameNum)
    var count = picture.counts.top
    if !header.sets.sps.format.isFrameOnly {
      writer.flag(header.structure.isField)
      if case .field(let parity) = header.structure {
        writer.flag(parity == .bottom)
        count = picture.counts[parity]
      }
    }
    if let id = picture.idrPicID { writer.ue(id) }
    writer.u(count, FlattenedSequence.orderCountBits)
    if form.sendsBottomFieldOrder, !header.structure.isField {
      writer.se(picture.counts.bottom &- picture.counts.top)
    }
    if header.kind == .b { writer.flag(header.usesSpatialDirect) }
    if !header.kind.isIntra { writeLists(to: &writer) }
    writer.copy(header.layout.weights, of: header.rbsp.bytes)
    if picture.refIDC > 0 { writeMarking(to: &writer) }
    writeTail(form, to: &writer)
    return writer
  }

  private func writeLists(to writer: inout BitWriter) {
    writer.flag(true)
    for count in header.activeCounts { writer.ue(count - 1) }
    for list in modifications {
      writer.flag(!list.isEmpty)
      guard !list.isEmpty else { continue }
      for modification in list {
        switch modification {
        case .shortTerm(let difference):
          writer.ue(difference < 0 ? 0 : 1)
          writer.ue(abs(difference) - 1)
        case .longTerm(let number):
          writer.ue(2)
          writer.ue(number)
        case .interView: break
        }
      }
      writer.ue(3)
    }
  }

  private func writeMarking(to writer: inout BitWriter) {
    if picture.idrPicID != nil {
      writer.flag(header.discardsPriorPictures)
      writer.flag(picture.isLongTerm)
      return
    }
    writer.flag(picture.commands != nil)
    guard let commands = picture.commands else { return }
    for command in commands {
      for value in command.elements { writer.ue(value) }
    }
    writer.ue(0)
  }

  /// Writes the fields from `cabac_init_idc` on.
  private func writeTail(_ form: HeaderForm, to writer: inout BitWriter) {
    var tail = header.layout.tail
    if form.deblocking == .removed { tail = tail.lowerBound..<tail.upperBound - 3 }
    writer.copy(tail, of: header.rbsp.bytes)
    if form.deblocking == .added { writer.u(0b111, 3) }
  }

  // MARK: Slice data

  /// Returns the NAL unit whose beginning is written, with the slice data from byte `index` of the
  /// RBSP on.
  ///
  /// Emulation prevention depends on the bytes before. It is redone up to the first byte of the
  /// data that is not zero; after that, the original bytes are right.
  private func joined(_ writer: BitWriter, _ index: Int) -> [UInt8] {
    var rbsp = header.rbsp
    func nonZero() -> Int? { rbsp.bytes[min(index, rbsp.bytes.count)...].firstIndex { $0 != 0 } }
    var end = nonZero()
    if end == nil, !rbsp.isComplete {
      rbsp = coded.wholeRBSP
      end = nonZero()
    }
    var unit: [UInt8] = []
    unit.reserveCapacity(writer.bytes.count + coded.range.count + 16)
    guard let end else {
      unit.append(escaping: writer.bytes + rbsp.bytes[min(index, rbsp.bytes.count)...])
      // A NAL unit never ends with a zero byte (7.4.1).
      if unit.last == 0 { unit.append(3) }
      return unit
    }
    unit.append(escaping: writer.bytes + rbsp.bytes[index...end])
    let rest = coded.range.lowerBound + rbsp.offsetInNALUnit(of: end) + 1
    unit += coded.bytes[rest..<coded.range.upperBound]
    return unit
  }

  /// Returns the NAL unit whose header is written, with the slice data at any bit.
  private func moved(_ writer: BitWriter) -> [UInt8] {
    var writer = writer
    let rbsp = coded.wholeRBSP
    let reader = BitReader(rbsp.bytes, structure: "slice_data")
    let data = header.layout.tail.upperBound
    writer.copy(data..<max(data, reader.trailingBitsPosition), of: rbsp.bytes)
    writer.trailingBits()
    var unit: [UInt8] = []
    unit.reserveCapacity(writer.bytes.count + 16)
    unit.append(escaping: writer.bytes)
    return unit
  }
}

extension SliceHeader.MarkingCommand {
  /// `memory_management_control_operation` and the elements after it.
  fileprivate var elements: [Int] {
    switch self {
    case .removeShortTerm(let difference): [1, difference]
    case .removeLongTerm(let number): [2, number]
    case .makeLongTerm(let difference, let index): [3, difference, index]
    case .limitLongTerm(let limit): [4, limit]
    case .removeAll: [5]
    case .makeCurrentLongTerm(let index): [6, index]
    }
  }
}
