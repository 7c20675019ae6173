// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// Metadata of a movie or track that has no GStreamer tag. It travels unchanged in the tag
/// `private-data`, which is meant for this, and so survives remuxing.
struct PrivateMetadata {
  private static let itemName = "QuickTimeMetadataItem"
  private static let boxName = "QuickTimeUserData"
  private static let (fileBoxName, otherFileBoxName) = ("QuickTimeFileBox", "QuickTimeOtherFileBox")
  private static let timeName = "QuickTimeCreationTime"
  /// Maximum number of items carried in tags, and maximum size of all items in bytes.
  private static let (maximumCount, maximumSize) = (256, 4 << 20)

  var items: [MetadataItem] = []
  var userData: [OpaqueBox] = []
  /// Data at the top level of the file.
  var fileLevelBoxes: [OpaqueBox] = []
  /// The names of such data that cannot be written to another file.
  var otherFileLevelBoxes: [String] = []
  /// The creation time of the file, which may differ from the date of recording, in seconds since
  /// 1970; nil if it is unknown.
  var creationTime: Int64?

  /// - Parameter told: keys already covered by other tags.
  init(_ items: [MetadataItem], userData: [OpaqueBox], without told: Set<String> = []) {
    // Texts of user data are among its boxes, in all languages; `meta` contains the items.
    self.items = items.filter { $0.keySpace != "udta" && !told.contains($0.key) }
    self.userData = userData.filter {
      $0.type != "meta" && !told.contains($0.type.description)
    }
  }

  /// Reads the private metadata from tags.
  init(_ tags: TagList) {
    for sample in tags.samples(Tag.privateData) {
      guard let information = sample.information else { continue }
      let content = sample.content
      func code(_ field: String) -> FourCC? {
        information.int(field).flatMap(UInt32.init(exactly:)).map(FourCC.init(rawValue:))
      }
      switch information.name {
      case Self.itemName:
        guard let space = code("key-space"), let key = information.string("key"),
          let type = information.int("type").flatMap(UInt32.init(exactly:))
        else { continue }
        items.append(
          MetadataItem(
            keySpace: space, key: key,
            value: MetadataValue(typeIndicator: type, bytes: content.bytes)))
      case Self.boxName:
        guard let type = code("type") else { continue }
        userData.append(OpaqueBox(type, payload: content.bytes))
      case Self.fileBoxName: fileLevelBoxes.append(OpaqueBox("uuid", payload: content.bytes))
      case Self.otherFileBoxName:
        if let name = information.string("name") { otherFileLevelBoxes.append(name) }
      case Self.timeName: creationTime = information.string("seconds").flatMap(Int64.init)
      default: continue
      }
    }
  }

  func write(to tags: TagList) {
    var (count, size) = (0, 0)
    func append(_ bytes: [UInt8], _ name: String, _ fields: [(key: String, value: Value)]) {
      (count, size) = (count + 1, size + bytes.count)
      guard count <= Self.maximumCount, size <= Self.maximumSize else { return }
      tags.append(Tag.privateData, Buffer(bytes), name: name, fields)
    }
    for item in items where !item.key.contains("\0") {
      append(
        item.value.bytes, Self.itemName,
        [
          ("key-space", .uint(item.keySpace.rawValue)), ("key", .string(item.key)),
          ("type", .uint(item.value.typeIndicator)),
        ])
    }
    if let creationTime { append([0], Self.timeName, [("seconds", .string("\(creationTime)"))]) }
    for box in fileLevelBoxes { append(box.payload, Self.fileBoxName, []) }
    for name in otherFileLevelBoxes {
      append([0], Self.otherFileBoxName, [("name", .string(name))])
    }
    for box in userData {
      append(box.payload, Self.boxName, [("type", .uint(box.type.rawValue))])
    }
  }
}

/// Properties of a movie track that have no equivalent in GStreamer. They travel in the tag
/// `private-data` and so survive remuxing.
struct PrivateTrack: Equatable {
  private static let name = "QuickTimeTrack"

  /// Track ID in the source movie.
  var id: TrackID
  var handlerType: FourCC
  var timescale: UInt32
  var alternateGroup: UInt16
  /// The name of the media handler, by which some tools find their tracks; nil if it has none.
  var handlerName: String?
  /// The media header box, for media types without a standard one.
  var mediaHeader: OpaqueBox?
  /// References to tracks of the source movie, by track ID.
  var references: [TrackReference]

  init(_ track: Track) {
    id = track.id
    handlerType = track.handlerType
    timescale = track.timescale
    alternateGroup = track.alternateGroup
    handlerName = track.handlerName
    mediaHeader = track.mediaHeader
    references = track.references
  }

  /// Returns nil if the tags are not those of a movie's track.
  init?(_ tags: TagList) {
    let samples = tags.samples(Tag.privateData)
    guard let sample = samples.first(where: { $0.information?.name == Self.name }),
      let information = sample.information
    else { return nil }
    func number(_ field: String) -> UInt32 {
      information.int(field).flatMap(UInt32.init(exactly:)) ?? 0
    }
    id = TrackID(rawValue: number("id"))
    handlerType = FourCC(rawValue: number("handler"))
    timescale = number("timescale")
    alternateGroup = UInt16(truncatingIfNeeded: number("alternate-group"))
    handlerName = information.string("handler-name")
    mediaHeader = OpaqueBox.all(in: sample.content.bytes).first
    references = []
    guard case .array(let list)? = information["references"] else { return }
    let numbers = list.compactMap { if case .uint(let number) = $0 { number } else { nil } }
    for index in stride(from: 0, to: numbers.count - 1, by: 2) {
      references.append(
        TrackReference(
          type: FourCC(rawValue: numbers[index]), track: TrackID(rawValue: numbers[index + 1])))
    }
  }

  func write(to tags: TagList) {
    let known = references.prefix(64)
    var fields: [(key: String, value: Value)] = []
    if let handlerName, !handlerName.contains("\0") {
      fields.append(("handler-name", .string(handlerName)))
    }
    tags.append(
      Tag.privateData, Buffer(mediaHeader?.bytes ?? []), name: Self.name,
      fields + [
        ("id", .uint(id.rawValue)), ("handler", .uint(handlerType.rawValue)),
        ("timescale", .uint(timescale)), ("alternate-group", .uint(UInt32(alternateGroup))),
        (
          "references",
          .array(known.flatMap { [.uint($0.type.rawValue), .uint($0.track.rawValue)] })
        ),
      ])
  }
}
