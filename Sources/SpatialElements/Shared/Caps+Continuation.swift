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
    let isRaw = before.name.hasSuffix("/x-raw")
    let free = isRaw ? Self.informative : Self.informative.union(Self.saidByCodedVideo)
    let uncompared = Set(before.fieldNames + after.fieldNames).filter {
      free.contains($0) || !before.has($0) || !after.has($0)
    }
    return old.with(removing: Array(uncompared)).isEqual(to: with(removing: Array(uncompared)))
  }
}
