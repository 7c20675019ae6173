// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// A variant of a picture parameter set and of the slice headers that refer to it. All variants
/// decode alike; their headers differ in length, which moves CAVLC slice data to the bit where they
/// were (see ``FlattenedSlice``).
struct HeaderForm: Hashable, Sendable {
  /// `bottom_field_pic_order_in_frame_present_flag`
  var sendsBottomFieldOrder = true
  /// How `deblocking_filter_control_present_flag` differs from the original.
  var deblocking = Deblocking.unchanged

  enum Deblocking: Sendable {
    case unchanged
    /// It becomes 1: headers get three bits that say what is inferred otherwise.
    case added
    /// It becomes 0: headers that end with these three bits lose them.
    case removed
  }
}

/// The picture parameter sets of a flattened stream: one for each PPS of each view, and for each
/// form of it.
struct FlattenedPictureParameterSets: Sendable {
  /// A PPS that the flattened stream has, by its contents.
  private struct Entry: Sendable {
    let view: MVCView
    let sourceID: Int
    let form: HeaderForm
    var sets: ActiveParameterSets
    /// The NAL unit as sent; nil if it has to be sent again.
    var sent: [UInt8]?
    /// Number of the picture that used it last.
    var lastUse: Int
  }

  /// By id in the flattened stream.
  private var entries = [Entry?](repeating: nil, count: 256)
  private var picture = 0
  /// The NAL units to send before the current picture.
  private(set) var pending: [[UInt8]] = []

  /// Begins a picture.
  ///
  /// - Parameter followsSPS: whether a new SPS was sent, after which all PPSs are sent again.
  mutating func beginPicture(followsSPS: Bool) {
    picture += 1
    pending = []
    guard followsSPS else { return }
    for id in entries.indices { entries[id]?.sent = nil }
  }

  /// Returns an id for the PPS of `slice` in this form, which is sent before the current picture if
  /// necessary; nil if all suitable ids are in use by the current picture.
  ///
  /// - Parameter length: number of bits, modulo 8, that the id takes; nil for any.
  mutating func id(
    for slice: SliceHeader, of view: MVCView, _ form: HeaderForm, length: Int? = nil
  ) -> Int? {
    let sourceID = slice.sets.pps.id
    func fits(_ id: Int) -> Bool { length.map { (Self.length(id) - $0) & 7 == 0 } ?? true }
    let known = entries.indices.first { id in
      guard let entry = entries[id], fits(id) else { return false }
      return entry.view == view && entry.sourceID == sourceID && entry.form == form
    }
    guard let id = known ?? free(where: fits) else { return nil }
    if known == nil || entries[id]?.sets !== slice.sets || entries[id]?.sent == nil {
      let nalUnit = Self.nalUnit(slice.sets, id: id, form)
      if known == nil || entries[id]?.sent != nalUnit { pending.append(nalUnit) }
      entries[id] = Entry(
        view: view, sourceID: sourceID, form: form, sets: slice.sets, sent: nalUnit,
        lastUse: picture)
    }
    entries[id]?.lastUse = picture
    return id
  }

  /// An unused id, or the one that has not been used for the longest time.
  private func free(where fits: (Int) -> Bool) -> Int? {
    let candidates = entries.indices.filter { fits($0) && entries[$0]?.lastUse != picture }
    return candidates.first { entries[$0] == nil }
      ?? candidates.min { (entries[$0]?.lastUse ?? 0) < (entries[$1]?.lastUse ?? 0) }
  }

  /// Number of bits of `id` as `ue(v)`.
  private static func length(_ id: Int) -> Int {
    2 * (Int.bitWidth - (id + 1).leadingZeroBitCount) - 1
  }

  private static func nalUnit(_ sets: ActiveParameterSets, id: Int, _ form: HeaderForm) -> [UInt8] {
    let pps = sets.pps
    var writer = BitWriter()
    writer.ue(id)
    writer.ue(0)
    writer.flag(pps.isCABAC)
    writer.flag(form.sendsBottomFieldOrder)
    writer.copy(pps.layout.sliceGroups..<pps.layout.deblockingControl, of: pps.rbsp)
    writer.flag(form.deblocking == .unchanged ? pps.controlsDeblocking : form.deblocking == .added)
    let rest = pps.layout.deblockingControl + 1
    if let sequence = sets.sps.scalingLists {
      writer.copy(rest..<pps.layout.highProfile, of: pps.rbsp)
      writer.flag(pps.transforms8x8)
      writer.flag(true)
      let count = pps.scalingListCount(sets.sps.format)
      let lists = pps.scalingLists?.resolved(count: count, sequence: sequence)
      ScalingLists.write(lists ?? Array(sequence.prefix(count)), to: &writer)
      writer.se(pps.secondChromaQPOffset)
    } else {
      // Without lists in the SPS, those of the PPS mean the same in the flattened stream.
      writer.copy(rest..<pps.layout.end, of: pps.rbsp)
    }
    writer.trailingBits()
    return RewrittenUnit.nalUnit(.pictureParameterSet, writer)
  }
}
