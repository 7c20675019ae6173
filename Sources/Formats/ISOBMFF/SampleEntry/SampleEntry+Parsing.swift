// SPDX-License-Identifier: MPL-2.0

extension SampleEntry {
  private static let maximumBrokenCount = 64

  /// Reads the entries of an `stsd` box for a track of the kind that its `hdlr` names.
  ///
  /// Throws where samples of an entry are in another file, and where so many cannot be read that
  /// the box holds something else.
  static func entries(
    _ box: BoxReader, handlerType: FourCC, references: DataReferences, issues: inout IssueLog
  ) throws(ISOBMFFError) -> [SampleEntry] {
    var box = box
    let version = try box.readVersion().version
    let count: UInt32 = try box.read("entry_count")
    var entries: [SampleEntry] = []
    var brokenCount = 0
    while entries.count < count, let child = try box.nextBox() {
      let child = child.numbered(entries.count)
      try references.check(child)
      do throws(ISOBMFFError) {
        entries.append(
          try entry(
            child, handlerType: handlerType, isISOVersion1: version == 1, issues: &issues))
      } catch {
        issues.add(error)
        brokenCount += 1
        guard brokenCount < maximumBrokenCount else {
          throw box.error("\(brokenCount) of its entries cannot be read")
        }
        entries.append(opaqueEntry(child, handlerType: handlerType))
      }
    }
    return entries
  }

  private static func entry(
    _ box: BoxReader, handlerType: FourCC, isISOVersion1: Bool, issues: inout IssueLog
  ) throws(ISOBMFFError) -> SampleEntry {
    switch handlerType {
    case "vide":
      .video(try VisualSampleEntry(box, issues: &issues))
    case "soun":
      .audio(try AudioSampleEntry(box, isISOVersion1: isISOVersion1, issues: &issues))
    default:
      opaqueEntry(box, handlerType: handlerType)
    }
  }

  private static func opaqueEntry(_ box: BoxReader, handlerType: FourCC) -> SampleEntry {
    .other(
      OtherSampleEntry(
        handlerType: handlerType, type: box.type, payload: box.rewound(to: 8).opaque.payload))
  }
}
