/// A grouping of a track's samples: `sgpd` and `sbgp` of one grouping type
/// (ISO/IEC 14496-12 8.9).
public struct SampleGroup: Sendable {
  /// What the groups are about: `sync`, `roll`, `rap `, `oinf`, `linf` and so on.
  public let groupingType: FourCC
  /// The content of each group's description.
  public let descriptions: [[UInt8]]
  /// For samples that no group is assigned to: a description's index from 0 on.
  private let defaultDescription: Int?
  private let runs: RunIndex?

  /// The description, by its index from 0 on, of a sample's group; nil where it has none.
  public func descriptionIndex(ofSample sample: Int) -> Int? {
    let number = runs?.run(with: sample).map { Int(runs?.table.number($0.row, 4) ?? 0) } ?? 0
    guard number > 0 else { return defaultDescription }
    return number <= descriptions.count ? number - 1 : nil
  }

  /// Reads an `sgpd` box and, where there is one of the same type, an `sbgp` box.
  init(descriptions box: BoxReader, assignments: BoxReader?) throws(ISOBMFFError) {
    var box = box
    let version = try box.readVersion().version
    groupingType = try box.readFourCC("grouping_type")
    let defaultLength: UInt32 = version >= 1 ? try box.read("default_length") : 0
    let defaultNumber: UInt32 =
      version >= 2 ? try box.read("default_group_description_index") : 0
    self.defaultDescription = defaultNumber > 0 ? Int(defaultNumber) - 1 : nil
    let count: UInt32 = try box.read("entry_count")
    var descriptions: [[UInt8]] = []
    while descriptions.count < count, box.remaining > 0 {
      var length = Int(defaultLength)
      if version == 0 {
        // No length is written: what is left, in equal parts.
        length = box.remaining / (Int(count) - descriptions.count)
        guard length > 0 else {
          throw box.error("entry_count \(count) is more than the box has bytes for")
        }
      } else if length == 0 {
        length = Int(try box.read("description_length", as: UInt32.self))
      }
      descriptions.append(try box.readBytes(length, "sample group description"))
    }
    self.descriptions = descriptions
    if let assignments {
      runs = try Self.runs(assignments)
    } else {
      runs = nil
    }
  }

  /// The groups of all `sgpd` boxes, each with the `sbgp` box of its type; broken ones are noted
  /// and left out.
  static func groups(
    descriptions: [BoxReader], assignments: [BoxReader], issues: inout IssueLog
  ) -> [SampleGroup] {
    var byType: [FourCC: BoxReader] = [:]
    for box in assignments {
      if let type = issues.optional({ () throws(ISOBMFFError) in try type(of: box) }) {
        byType[type] = byType[type] ?? box
      }
    }
    return descriptions.compactMap { box in
      issues.optional { () throws(ISOBMFFError) in
        try SampleGroup(descriptions: box, assignments: byType[try type(of: box)])
      }
    }
  }

  private static func type(of box: BoxReader) throws(ISOBMFFError) -> FourCC {
    var box = box
    _ = try box.readVersion()
    return try box.readFourCC("grouping_type")
  }

  private static func runs(_ box: BoxReader) throws(ISOBMFFError) -> RunIndex {
    var box = box
    let version = try box.readVersion().version
    try box.skip(version == 1 ? 8 : 4, "grouping_type")
    let count: UInt32 = try box.read("entry_count")
    return RunIndex(try box.readTable("entry_count", count: count, stride: 8))
  }
}
