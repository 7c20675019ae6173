// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// What a track of a movie is beside its samples and GStreamer has no words for. It travels in the
/// tag `private-data`, and so gets into another movie.
struct PrivateTrack: Equatable {
  private static let name = "QuickTimeTrack"

  /// The track's number in the movie that it comes from.
  var id: TrackID
  var handlerType: FourCC
  var timescale: UInt32
  var alternateGroup: UInt16
  /// The box that says what kind of media it is, for kinds that have no usual one.
  var mediaHeader: OpaqueBox?
  /// Numbers of tracks of the same movie.
  var references: [TrackReference]

  init(_ track: Track) {
    id = track.id
    handlerType = track.handlerType
    timescale = track.timescale
    alternateGroup = track.alternateGroup
    mediaHeader = track.mediaHeader
    references = track.references
  }

  /// Nil where the tags are not those of a movie's track.
  init?(_ tags: TagList) {
    guard
      let (content, information) = tags.samples(Tag.privateData).first(where: {
        $0.information.name == Self.name
      })
    else { return nil }
    func number(_ field: String) -> UInt32 {
      information.int(field).flatMap(UInt32.init(exactly:)) ?? 0
    }
    id = TrackID(rawValue: number("id"))
    handlerType = FourCC(rawValue: number("handler"))
    timescale = number("timescale")
    alternateGroup = UInt16(truncatingIfNeeded: number("alternate-group"))
    mediaHeader = OpaqueBox.all(in: content.bytes).first
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
    tags.append(
      Tag.privateData, Buffer(mediaHeader?.bytes ?? []), name: Self.name,
      [
        ("id", .uint(id.rawValue)), ("handler", .uint(handlerType.rawValue)),
        ("timescale", .uint(timescale)), ("alternate-group", .uint(UInt32(alternateGroup))),
        (
          "references",
          .array(known.flatMap { [.uint($0.type.rawValue), .uint($0.track.rawValue)] })
        ),
      ])
  }
}
