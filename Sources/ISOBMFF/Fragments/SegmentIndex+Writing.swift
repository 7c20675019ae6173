// SPDX-License-Identifier: MPL-2.0

extension SegmentIndex {
  /// The `sidx` box of fragments that follow it, one behind the other (ISO/IEC 14496-12 8.16.3);
  /// nil where they cannot be said in one.
  ///
  /// - Parameters:
  ///   - fragments: at most 65535, each a segment, of up to 2^31 bytes.
  ///   - track: whose times are meant.
  ///   - timescale: of the track.
  public static func box(
    of fragments: [Fragment], track: TrackID, timescale: UInt32
  ) -> [UInt8]? {
    let parts = fragments.compactMap { fragment in
      fragment.parts.first { $0.track == track }
    }
    guard let first = parts.first, parts.count == fragments.count,
      let count = UInt16(exactly: fragments.count),
      fragments.allSatisfy({ $0.size < 1 << 31 })
    else { return nil }
    var writer = BoxWriter()
    writer.fullBox("sidx", version: 1) {
      $0.write(track.rawValue)
      $0.write(timescale)
      $0.write(UInt64(clamping: first.presentationTime))
      $0.write(UInt64(0))
      $0.write(UInt16(0))
      $0.write(count)
      for (fragment, part) in zip(fragments, parts) {
        $0.write(UInt32(clamping: fragment.size))
        $0.write(UInt32(clamping: part.duration))
        // starts_with_SAP and its type: a closed group of pictures.
        $0.write(part.startsWithSync ? 0x9000_0000 : 0 as UInt32)
      }
    }
    return writer.bytes
  }
}
