import GStreamer

/// What the pad of one eye takes.
enum StereoEyeCaps {
  /// Raw video, encoded here.
  static let raw = Caps(
    "video/x-raw",
    [
      "format": .strings(RawFormat.names), "width": .intRange(1...16384),
      "height": .intRange(1...16384),
    ])

  /// Raw video, or H.265 of one layer to be woven.
  static let any: Caps = {
    let caps = raw.with()
    caps.append(
      "video/x-h265",
      [
        ("stream-format", .strings(["hvc1", "hev1", "byte-stream"])), ("alignment", "au"),
      ])
    return caps
  }()

  /// Answers what an eye's pad answers by itself; nil for any other query.
  static func answer(_ query: borrowing Query, to pad: AggregatorPad) -> Bool? {
    switch query.kind {
    case .caps:
      query.answerCaps(pad.templateCaps)
      return true
    case .acceptCaps(let caps):
      query.answerAcceptCaps(caps.isSubset(of: pad.templateCaps))
      return true
    case .allocation:
      // Frames are read where they lie.
      query.offerVideoMeta()
      return true
    default: return nil
    }
  }
}
