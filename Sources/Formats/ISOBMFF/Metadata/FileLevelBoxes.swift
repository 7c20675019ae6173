// SPDX-License-Identifier: MPL-2.0

/// Data of a movie that is neither in its index nor in samples, but in boxes of its own at the top
/// level of the file.
public struct FileLevelBoxes: Equatable, Sendable {
  /// Boxes that mean the same in any other file: XMP packets (XMP Specification Part 3, "MPEG-4").
  public private(set) var movable: [OpaqueBox] = []
  /// The names of the others, without repetition. They may contain offsets in their own file.
  public private(set) var others: [String] = []

  /// The maximum number of boxes that are recorded: no real movie has a tenth of them.
  static let maximumCount = 64
  /// The maximum size of a `uuid` box whose content is read, in bytes.
  static let maximumSize: UInt64 = 4 << 20
  /// The user type of XMP packets, BE7ACFCB-97A9-42E8-9C71-999491E3AFAC.
  private static let xmp: [UInt8] = [
    0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
  ]
  /// The types of boxes that only arrange the file, and of those that are written again.
  private static let structure: Set<FourCC> = [
    "ftyp", "styp", "moov", "moof", "mdat", "imda", "mfra", "sidx", "ssix", "free", "skip", "wide",
    "pnot", "PICT", "pdin", "prft", "junk",
  ]

  /// No boxes.
  public init() {}

  /// Whether nothing is recorded.
  public var isEmpty: Bool { movable.isEmpty && others.isEmpty }

  /// Records a `uuid` box.
  public mutating func add(_ box: OpaqueBox) {
    guard box.payload.starts(with: Self.xmp) else {
      return add(name: Self.name(ofUserType: box.payload.prefix(16)))
    }
    guard movable.count + others.count < Self.maximumCount else { return }
    movable.append(box)
  }

  /// Records a box by its type, unless it only arranges the file or its type is not printable, as
  /// in padding.
  public mutating func add(_ type: FourCC) {
    guard !Self.structure.contains(type), type.isPlausible else { return }
    add(name: Self.descriptions[type] ?? "'\(type)'")
  }

  private mutating func add(name: String) {
    guard movable.count + others.count < Self.maximumCount, !others.contains(name) else { return }
    others.append(name)
  }

  private static let descriptions: [FourCC: String] = [
    "emsg": "event messages ('emsg')",
    "meta": "items such as stills ('meta')",
    "mpvd": "the video of a motion photo ('mpvd')",
    "sefd": "Samsung's data on the shot ('sefd')",
    "udta": "user data outside of the index ('udta')",
    "axte": "Android's editable tracks ('axte')",
  ]

  /// Returns `'uuid' 50524F46-21D2-4FCE-BB88-695CFAC9C740`.
  private static func name(ofUserType bytes: ArraySlice<UInt8>) -> String {
    var text = bytes.isEmpty ? "'uuid'" : "'uuid' "
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      let digits = String(byte, radix: 16, uppercase: true)
      text += digits.count < 2 ? "0" + digits : digits
    }
    return text
  }
}
