// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import ISOBMFF

extension SeedMovie {
  /// Returns the movie with its `moov` changed by `change`, which must keep the samples' offsets
  /// right.
  static func editing(
    _ bytes: [UInt8], _ change: (inout BoxTree) -> Void
  ) -> [UInt8] {
    var boxes = BoxTree.read(bytes)
    guard let index = boxes.firstIndex(where: { $0.type == "moov" }) else { return bytes }
    change(&boxes[index])
    return boxes.flatMap(\.bytes)
  }
}

extension BoxTree {
  /// Replaces the edit list of a track.
  mutating func setEdits(_ edits: [Edit], ofTrack number: Int) {
    let tracks = children.indices.filter { children[$0].type == "trak" }
    guard tracks.indices.contains(number) else { return }
    let rows = edits.flatMap {
      big(UInt32($0.duration)) + big(Int32($0.mediaTime ?? -1)) + big($0.rate)
    }
    let list = BoxTree("elst", big(UInt32(0)) + big(UInt32(edits.count)) + rows)
    children[tracks[number]].children.removeAll { $0.type == "edts" }
    children[tracks[number]].children.insert(BoxTree("edts", [], [list]), at: 1)
  }
}
