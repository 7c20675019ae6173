// SPDX-License-Identifier: MPL-2.0

import Foundation

/// The rules that players rely on, of RFC 8216, its successor (draft-pantos-hls-rfc8216bis) and
/// CMAF (ISO/IEC 23000-19), for a stream as one client sees it, one reload of a playlist after
/// another.
public struct StreamRules: Sendable {
  /// The bytes of a file that is there now.
  public typealias Files = (String) -> [UInt8]?

  /// What an earlier reload said of a playlist.
  private struct Memory: Sendable {
    var text = ""
    var targetDuration = 0
    /// The maximum duration of parts, and the distance from the end that follows from it.
    var partLimits: String?
    var first = 0
    var type: String?
    var hasEnded = false
    /// By their numbers.
    var segments: [Int: String] = [:]
    var parts: [String: String] = [:]
  }

  private var memories: [String: Memory] = [:]
  /// The rules that were broken, each once, with the playlist.
  public private(set) var violations: [String] = []
  /// Whether a target duration has been raised, by which rates were measured up to then.
  private(set) var hasRaisedTarget = false

  public init() {}

  mutating func say(_ path: String, _ violation: String) {
    let line = "\(path): \(violation)"
    if !violations.contains(line), violations.count < 20 { violations.append(line) }
  }

  /// Forgets a playlist that has been removed: another stream takes its name.
  public mutating func forget(_ path: String) { memories[path] = nil }

  /// Notes the content of a playlist.
  ///
  /// - Parameters:
  ///   - path: of the playlist in the folder of the stream.
  ///   - files: returns the files by their paths in that folder; nil if they are not looked at.
  public mutating func reload(_ path: String, _ text: String, files: Files? = nil) {
    guard memories[path]?.text != text else { return }
    guard !text.contains("#EXT-X-STREAM-INF"), text.contains("#EXT-X-TARGETDURATION") else {
      return
    }
    let playlist = PlaylistText(text)
    for mistake in playlist.mistakes { say(path, mistake) }
    checkVersion(path, playlist)
    checkSegments(path, playlist)
    checkParts(path, playlist)
    if let files { checkFiles(path, playlist, files) }
    compare(path, playlist, text)
  }

  // MARK: One playlist

  private mutating func checkVersion(_ path: String, _ playlist: PlaylistText) {
    var needed = 1
    if playlist.isIFramesOnly || playlist.segments.contains(where: { $0.range != nil }) {
      needed = 4
    }
    if playlist.segments.contains(where: { $0.map != nil }) {
      needed = playlist.isIFramesOnly ? 5 : 6
    }
    if playlist.version < needed { say(path, "EXT-X-VERSION \(playlist.version) < \(needed)") }
  }

  private mutating func checkSegments(_ path: String, _ playlist: PlaylistText) {
    let first = playlist.segments.first
    var (map, date): (String?, Date?) = (first?.isGap == false ? first?.map : nil, nil)
    var last = 0.0
    var discontinuity = first?.discontinuity
    for segment in playlist.segments {
      if Int((segment.duration).rounded()) > playlist.targetDuration, !playlist.isIFramesOnly {
        say(path, "EXTINF \(segment.duration) > TARGETDURATION \(playlist.targetDuration)")
      }
      if segment.duration < 0 { say(path, "no duration of \(segment.uri)") }
      // A gap may have the discontinuity.
      if let map, segment.map != map, segment.discontinuity == discontinuity, !segment.isGap {
        say(path, "EXT-X-MAP changes without EXT-X-DISCONTINUITY at \(segment.uri)")
      }
      if !segment.isGap { (map, discontinuity) = (segment.map, segment.discontinuity) }
      if segment.uri.hasSuffix(".m4s"), segment.map == nil, !segment.isGap {
        say(path, "\(segment.uri) has no EXT-X-MAP")
      }
      if let said = segment.date {
        // A source that stops leaves a hole in its last segment, and a gap in the next one; so does
        // one that stops for a moment, if the segment would become longer than promised.
        if let hole = date.map({ said.timeIntervalSince($0) }), !segment.isGap, abs(hole) > 0.05,
          !segment.startsDiscontinuity, Int((last + hole).rounded()) <= playlist.targetDuration
        {
          say(path, "\(segment.uri): its date is \(hole) s off the sum")
        }
        date = said
      }
      date?.addTimeInterval(segment.duration)
      last = segment.duration
    }
  }

  private mutating func checkParts(_ path: String, _ playlist: PlaylistText) {
    guard let target = playlist.partTarget else { return }
    func seconds(_ name: String) -> Double { playlist.control[name].flatMap(Double.init) ?? 0 }
    if seconds("PART-HOLD-BACK") < 3 * target - 1e-4 { say(path, "PART-HOLD-BACK < 3 parts") }
    if seconds("CAN-SKIP-UNTIL") < 6 * Double(playlist.targetDuration) {
      say(path, "CAN-SKIP-UNTIL < 6 target durations")
    }
    if playlist.control["CAN-BLOCK-RELOAD"] != "YES" { say(path, "no CAN-BLOCK-RELOAD") }
    var tail = 0.0
    for segment in playlist.segments.reversed() {
      tail += segment.duration
      if !segment.parts.isEmpty, tail > 3 * Double(playlist.targetDuration) + segment.duration {
        say(path, "\(segment.uri) has parts, more than three target durations before the end")
      }
      let sum = segment.parts.reduce(0) { $0 + $1.duration }
      // The last frame before a source stops for a moment lasts longer than a part may.
      let isCut = sum < segment.duration && segment.parts.contains { $0.duration > target - 0.002 }
      if !segment.parts.isEmpty, !segment.isGap, abs(sum - segment.duration) > 0.002, !isCut {
        say(path, "the parts of \(segment.uri) last \(sum), not \(segment.duration)")
      }
    }
    for parts in playlist.segments.map(\.parts) + [playlist.open.parts] {
      for (index, part) in parts.enumerated() {
        if part.duration > target + 1e-6 { say(path, "\(part.uri): \(part.duration) > \(target)") }
        let isExempt = index + 1 == parts.count || part.isIndependent || part.isGap
        if part.duration < 0.85 * target - 1e-5, !isExempt {
          say(path, "\(part.uri): \(part.duration) < 85 % of \(target)")
        }
      }
    }
  }

  private mutating func checkFiles(_ path: String, _ playlist: PlaylistText, _ files: Files) {
    for segment in playlist.segments where !segment.isGap {
      for name in [segment.uri] + (segment.map.map { [$0] } ?? [])
      where files(Self.join(path, name)) == nil {
        say(path, "\(name) is listed and not there")
      }
    }
    for part in (playlist.segments.flatMap(\.parts) + playlist.open.parts) where !part.isGap {
      if files(Self.join(path, part.uri)) == nil {
        say(path, "the part \(part.uri) is listed and not there")
      }
    }
  }

  /// The path of what a playlist names.
  static func join(_ path: String, _ uri: String) -> String {
    var parts = path.split(separator: "/").dropLast()
    for part in (uri.removingPercentEncoding ?? uri).split(separator: "/") {
      if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }

  // MARK: Over time

  private mutating func compare(_ path: String, _ playlist: PlaylistText, _ text: String) {
    // What replaces a finished stream is another one.
    let before = memories[path].flatMap { $0.hasEnded ? nil : $0 }
    var now = before ?? Memory()
    now.text = text
    (now.targetDuration, now.first) = (playlist.targetDuration, playlist.first)
    (now.type, now.hasEnded) = (playlist.type, playlist.hasEnded)
    now.partLimits = playlist.partTarget.map {
      "PART-TARGET \($0), PART-HOLD-BACK \(playlist.control["PART-HOLD-BACK"] ?? "")"
    }
    if let before {
      // Players of Apple stop for good ("illegal PART-HOLD-BACK change").
      if let limits = before.partLimits, now.partLimits != limits {
        say(path, "\(limits) becomes \(now.partLimits ?? "nothing")")
      }
      // It is raised, with a warning, where keyframes are too rare: the truth is worth more.
      if playlist.targetDuration < before.targetDuration { say(path, "TARGETDURATION falls") }
      if playlist.targetDuration > before.targetDuration { hasRaisedTarget = true }
      if playlist.first < before.first { say(path, "MEDIA-SEQUENCE goes back") }
      if playlist.first > before.first, playlist.type != nil || before.type != nil {
        say(path, "segments leave a playlist of type \(before.type ?? "?")")
      }
      let last = playlist.segments.last?.number ?? playlist.first - 1
      if let listed = before.segments.keys.max(), last < listed {
        say(path, "the segments after \(last) are gone, \(listed) was listed")
      }
    }
    // Keyframes are counted from the first one that is listed.
    if !playlist.isIFramesOnly {
      for segment in playlist.segments {
        let line =
          "\(segment.uri) \(segment.duration) \(segment.discontinuity) \(segment.isGap) "
          + "\(segment.map ?? "")"
        if let other = now.segments.updateValue(line, forKey: segment.number), other != line {
          say(path, "segment \(segment.number) was \(other), is \(line)")
        }
      }
      for part in playlist.segments.flatMap(\.parts) + playlist.open.parts {
        let line = "\(part.duration) \(part.isIndependent)"
        if let other = now.parts.updateValue(line, forKey: part.uri), other != line {
          say(path, "the part \(part.uri) was \(other), is \(line)")
        }
      }
    }
    memories[path] = now
  }
}
