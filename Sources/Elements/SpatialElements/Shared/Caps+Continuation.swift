// SPDX-License-Identifier: MPL-2.0

import GStreamer

extension Caps {
  /// What caps say of a stream for information: the samples are decoded the same whatever it is.
  private static let informative: Set<String> = [
    "framerate", "max-framerate", "multiview-mode", "multiview-flags", "views", "profile", "tier",
    "level", "base-profile", "chroma-format", "bit-depth-luma", "bit-depth-chroma", "lcevc",
    "parsed", "framed", "rfc6381-codec", "bitrate",
  ]
  /// What coded video says of itself, too.
  private static let saidByCodedVideo: Set<String> = [
    "colorimetry", "chroma-site", "pixel-aspect-ratio", "interlace-mode", "field-order",
    "mastering-display-info", "content-light-level",
  ]

  /// Whether what comes under these caps goes on with what came under `old`: nothing that a movie
  /// says of its samples changes. Fields that come anew or go change nothing, as a parser's caps
  /// get more exact with what it has seen.
  func continues(_ old: Caps) -> Bool {
    guard let before = old.first, let after = first, before.name == after.name else { return false }
    let uncompared = Self.uncompared(before, after)
    return old.with(removing: uncompared).isEqual(to: with(removing: uncompared))
  }

  private static func uncompared(_ before: StructureView, _ after: StructureView) -> [String] {
    let isRaw = before.name.hasSuffix("/x-raw")
    let free = isRaw ? informative : informative.union(saidByCodedVideo)
    return Set(before.fieldNames + after.fieldNames).filter {
      free.contains($0) || !before.has($0) || !after.has($0)
    }
  }

  /// What of caps that do not continue `old` is other than there, for people: "width from 640 to
  /// 320".
  func changes(since old: Caps) -> String {
    guard let before = old.first, let after = first else { return "from \(old) to \(self)" }
    guard before.name == after.name else { return "from \(before.name) to \(after.name)" }
    let uncompared = Set(Self.uncompared(before, after))
    let changes = before.fieldNames.filter { !uncompared.contains($0) }.compactMap { field in
      let (old, new) = (before.text(field), after.text(field))
      return old == new
        ? nil : old.count + new.count > 80 ? field : "\(field) from \(old) to \(new)"
    }
    return changes.joined(separator: ", ")
  }
}
