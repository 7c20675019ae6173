// SPDX-License-Identifier: MPL-2.0

/// Where decoding can start in a fragmented file, as its `mfra` box has it.
struct SyncPoints: Sendable {
  private var track: TrackID?
  private var entries: [FragmentRandomAccess.Entry] = []

  /// Notes a fragment whose first track begins with a sample that decoding can start at.
  mutating func add(_ fragment: Fragment) {
    guard let part = fragment.parts.first, track == nil || track == part.track else { return }
    track = part.track
    guard part.startsWithSync, part.presentationTime >= 0 else { return }
    entries.append(
      FragmentRandomAccess.Entry(
        time: UInt64(clamping: part.presentationTime), fragmentOffset: fragment.indexOffset))
  }

  /// ISO/IEC 14496-12 8.8.9 to 8.8.11.
  func write(to writer: inout BoxWriter) {
    let start = writer.bytes.count
    writer.box("mfra") { mfra in
      if let track {
        mfra.fullBox("tfra", version: 1) {
          $0.write(track.rawValue)
          // Numbers of one byte each, which are all 1: the first sample of the first run.
          $0.write(UInt32(0))
          $0.write(UInt32(clamping: entries.count))
          for entry in entries {
            $0.write(entry.time)
            $0.write(entry.fragmentOffset)
            $0.write([1, 1, 1])
          }
        }
      }
      // From the start of `mfra` to the end of the file.
      mfra.fullBox("mfro") { $0.write(UInt32(clamping: $0.bytes.count - start + 4)) }
    }
  }
}
