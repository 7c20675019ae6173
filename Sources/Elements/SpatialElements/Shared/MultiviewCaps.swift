// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

extension PackingLayout {
  /// Reads the layout from the caps fields `multiview-mode` and `multiview-flags`; nil if they
  /// specify no frame packing of two eyes.
  init?(multiviewCaps caps: Caps) {
    guard let structure = caps.first else { return nil }
    let flags = structure.flagNames("multiview-flags")
    let arrangement: Arrangement
    switch structure.string("multiview-mode") {
    case "side-by-side": arrangement = .sideBySide
    case "top-bottom": arrangement = .topBottom
    default: return nil
    }
    self.init(
      arrangement, rightViewFirst: flags.contains("right-view-first"),
      halfAspect: flags.contains("half-aspect"))
  }
}

extension PackingLayout {
  /// Returns the caps with this layout's `multiview-mode` and `multiview-flags`.
  func adding(to caps: Caps) -> Caps {
    var flags = MultiviewFlags()
    if rightViewFirst { flags.insert(.rightViewFirst) }
    if halfAspect { flags.insert(.halfAspect) }
    let mode: MultiviewMode =
      switch arrangement {
      case .sideBySide: .sideBySide
      case .topBottom: .topBottom
      case .frameByFrame: .frameByFrame
      }
    return caps.withMultiview(mode, flags)
  }
}

extension Caps {
  /// Informative fields: the samples are decoded in the same way whatever they say.
  private static let informative: Set<String> = [
    "framerate", "max-framerate", "multiview-mode", "multiview-flags", "views", "profile", "tier",
    "level", "base-profile", "chroma-format", "bit-depth-luma", "bit-depth-chroma", "lcevc",
    "parsed", "framed", "rfc6381-codec", "bitrate",
  ]
  /// Fields that repeat properties found in a coded video stream itself.
  private static let repeatedInCodedVideo: Set<String> = [
    "colorimetry", "chroma-site", "pixel-aspect-ratio", "interlace-mode", "field-order",
    "mastering-display-info", "content-light-level",
  ]

  /// Whether a stream with these caps can continue one with `old` without a new sample entry. Added
  /// or removed fields do not matter, as a parser refines its caps with what it has parsed.
  func continues(_ old: Caps) -> Bool {
    guard let before = old.first, let after = first, before.name == after.name else { return false }
    let uncompared = Self.uncompared(before, after)
    return old.with(removing: uncompared).isEqual(to: with(removing: uncompared))
  }

  private static func uncompared(_ before: StructureView, _ after: StructureView) -> [String] {
    let isRaw = before.name.hasSuffix("/x-raw")
    let free = isRaw ? informative : informative.union(repeatedInCodedVideo)
    return Set(before.fieldNames + after.fieldNames).filter {
      free.contains($0) || !before.has($0) || !after.has($0)
    }
  }

  /// Describes how caps that do not continue `old` differ from it, for messages: "width from 640 to
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

extension Fraction {
  /// Duration of a frame at this rate in frames per second; nil for a variable or
  /// invalid rate.
  var frameDuration: ClockTime? {
    guard numerator > 0, denominator > 0 else { return nil }
    return ClockTime(1, perSecond: numerator, over: denominator)
  }
}

extension Query {
  /// Answers the CAPS, ACCEPT_CAPS and ALLOCATION queries on a sink pad of an element that reads
  /// frames in place. Returns false for any other query.
  ///
  /// - Parameters:
  ///   - all: all caps that the pad accepts.
  ///   - possible: the caps that it accepts in its current state.
  ///   - held: number of frames kept while the next ones arrive. A source with few buffers, such as
  ///     a camera, starves unless its pool has that many more.
  borrowing func answerAsReader(
    of all: Caps, possible: @autoclosure () -> Caps, keeping held: @autoclosure () -> Int = 0
  ) -> Bool {
    switch kind {
    case .caps: answerCaps(possible())
    case .acceptCaps(let caps): answerAcceptCaps(caps.isSubset(of: all))
    case .allocation(let caps):
      offerVideoMeta()
      if let caps { requireFrames(held(), caps) }
    default: return false
    }
    return true
  }
}
