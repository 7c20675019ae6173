extension SampleEntry {
  /// Reads the entries of an `stsd` box for a track of the kind that its `hdlr` names.
  static func entries(
    _ box: BoxReader, handlerType: FourCC, issues: inout IssueLog
  ) throws(ISOBMFFError) -> [SampleEntry] {
    var box = box
    let version = try box.readVersion().version
    let count: UInt32 = try box.read("entry_count")
    var entries: [SampleEntry] = []
    while entries.count < count, let child = try box.nextBox() {
      let child = child.renamed("\(child.path)[\(entries.count)]")
      do throws(ISOBMFFError) {
        entries.append(
          try entry(
            child, handlerType: handlerType, isISOVersion1: version == 1, issues: &issues))
      } catch {
        issues.add(error)
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
