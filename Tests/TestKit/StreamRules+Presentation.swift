// SPDX-License-Identifier: MPL-2.0

import Foundation

extension StreamRules {
  /// A variant or a rendition of a multivariant playlist.
  private struct Member {
    enum Kind { case variant, media, iFrames }

    var kind: Kind
    var attributes: [String: String]
    var uri: String?

    subscript(name: String) -> String? { attributes[name] }
  }

  /// Checks all that a multivariant playlist names, with the content of the segments.
  ///
  /// - Parameters:
  ///   - path: of the playlist in the folder of the stream.
  ///   - isComplete: whether all renditions have been written to the same end.
  public mutating func check(
    presentation path: String, isComplete: Bool, files: @escaping Files
  ) {
    guard let text = Self.text(path, files) else { return say(path, "is not there") }
    let members = Self.members(of: text)
    checkAttributes(path, text, members)
    var lists: [(name: String, list: PlaylistText)] = []
    var rates: [String: (peak: Double, average: Double)] = [:]
    for uri in Set(members.compactMap(\.uri)).sorted() {
      let name = Self.join(path, uri)
      guard let text = Self.text(name, files) else {
        say(path, "\(uri) is not there")
        continue
      }
      reload(name, text, files: files)
      let list = PlaylistText(text)
      rates[uri] = checkContent(name, list, files)
      if !list.isIFramesOnly { lists.append((name, list)) }
    }
    checkRates(path, members, rates)
    if isComplete { checkAlignment(path, lists) }
  }

  static func text(_ path: String, _ files: Files) -> String? {
    files(path).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func members(of text: String) -> [Member] {
    let lines = text.split(separator: "\n")
    return lines.indices.compactMap { index in
      let (name, value) = (
        lines[index].prefix { $0 != ":" }, lines[index].drop { $0 != ":" }.dropFirst()
      )
      let attributes = PlaylistText.attributes(value)
      switch name {
      case "#EXT-X-STREAM-INF":
        let uri = lines.indices.contains(index + 1) ? String(lines[index + 1]) : nil
        return Member(kind: .variant, attributes: attributes, uri: uri)
      case "#EXT-X-MEDIA":
        return Member(kind: .media, attributes: attributes, uri: attributes["URI"])
      case "#EXT-X-I-FRAME-STREAM-INF":
        return Member(kind: .iFrames, attributes: attributes, uri: attributes["URI"])
      default: return nil
      }
    }
  }

  // MARK: The multivariant playlist

  private mutating func checkAttributes(_ path: String, _ text: String, _ members: [Member]) {
    if !text.hasPrefix("#EXTM3U\n") || !text.hasSuffix("\n") { say(path, "torn") }
    let version = text.firstMatch(of: /#EXT-X-VERSION:([0-9]+)/).flatMap { Int($0.output.1) } ?? 1
    if members.contains(where: { $0["REQ-VIDEO-LAYOUT"] != nil }) != (version >= 12) {
      say(path, "EXT-X-VERSION \(version) and REQ-VIDEO-LAYOUT do not fit")
    }
    if !members.contains(where: { $0.kind == .variant }) { say(path, "no variant") }
    for member in members {
      var needed = ["GROUP-ID", "NAME", "TYPE", "URI"]
      if member.kind != .media { needed = ["BANDWIDTH", "AVERAGE-BANDWIDTH", "CODECS"] }
      if member["RESOLUTION"] != nil { needed.append("VIDEO-RANGE") }
      if member["RESOLUTION"] != nil, member.kind == .variant { needed.append("CLOSED-CAPTIONS") }
      for name in needed where member[name] == nil { say(path, "\(member.uri ?? "?"): no \(name)") }
      for type in ["AUDIO", "SUBTITLES"] {
        guard let group = member[type], member.kind == .variant else { continue }
        if !members.contains(where: { $0["TYPE"] == type && $0["GROUP-ID"] == group }) {
          say(path, "there is no \(type) group \(group)")
        }
      }
    }
    checkGroups(path, members.filter { $0.kind == .media })
  }

  private mutating func checkGroups(_ path: String, _ media: [Member]) {
    let groups = Dictionary(grouping: media) { ($0["TYPE"] ?? "") + " " + ($0["GROUP-ID"] ?? "") }
    for (group, members) in groups {
      if Set(members.map { $0["NAME"] }).count < members.count {
        say(path, "\(group): equal NAMEs")
      }
      if members.count(where: { $0["DEFAULT"] == "YES" }) > 1 { say(path, "\(group): DEFAULTs") }
    }
    // The groups of a type have the same members but for their addresses and channels.
    for (type, groups) in Dictionary(grouping: groups, by: { $0.key.prefix { $0 != " " } }) {
      let contents = groups.map { group in
        Set(
          group.value.map { "\($0["NAME"] ?? "") \($0["LANGUAGE"] ?? "") \($0["DEFAULT"] ?? "")" })
      }
      if Set(contents).count > 1 { say(path, "the groups of \(type) differ: \(contents)") }
    }
  }

  private mutating func checkRates(
    _ path: String, _ members: [Member], _ rates: [String: (peak: Double, average: Double)]
  ) {
    for member in members where member.kind != .media {
      guard var rate = member.uri.flatMap({ rates[$0] }) else { continue }
      // The variant of audio alone is one of its group.
      let group = members.filter {
        $0["TYPE"] == "AUDIO" && $0["GROUP-ID"] == member["AUDIO"] && $0.uri != member.uri
          && member["RESOLUTION"] != nil && member.kind == .variant
      }
      rate.peak += group.compactMap { $0.uri.flatMap { rates[$0]?.peak } }.max() ?? 0
      let said = member["BANDWIDTH"].flatMap(Double.init) ?? 0
      if rate.peak > said * 1.0001, !hasRaisedTarget {
        say(path, "\(member.uri ?? ""): BANDWIDTH \(said) < the peak \(rate.peak.rounded())")
      }
    }
  }

  /// Players that switch look for the same segments (RFC 8216 6.2.4).
  private mutating func checkAlignment(
    _ path: String, _ lists: [(name: String, list: PlaylistText)]
  ) {
    guard let first = lists.first else { return }
    for (name, list) in lists.dropFirst() {
      if list.targetDuration != first.list.targetDuration {
        say(name, "TARGETDURATION is not that of \(first.name)")
      }
      let last = min(list.segments.last?.number ?? 0, first.list.segments.last?.number ?? 0)
      let start = max(list.first, first.list.first)
      let places = [list, first.list].map { list in
        list.segments.filter { $0.startsDiscontinuity && (start...max(start, last)) ~= $0.number }
          .map(\.number)
      }
      if places[0] != places[1] {
        say(name, "discontinuities at \(places[0]), in \(first.name) at \(places[1])")
      }
    }
  }

  // MARK: Segments

  /// Checks the content of segments; returns the bit rates as players measure them.
  private mutating func checkContent(
    _ path: String, _ list: PlaylistText, _ files: Files
  ) -> (peak: Double, average: Double) {
    var track: SegmentContent.Track?
    var (map, end): (String?, UInt64?)
    var last = 0.0
    var sizes: [(bits: Double, seconds: Double)] = []
    for segment in list.segments {
      guard !segment.isGap, var bytes = files(Self.join(path, segment.uri)) else {
        end = nil
        continue
      }
      if let range = segment.range {
        guard range.upperBound <= bytes.count else {
          say(path, "\(segment.uri): the range \(range) is beyond its \(bytes.count) bytes")
          continue
        }
        bytes = Array(bytes[range])
      }
      sizes.append((Double(bytes.count) * 8, segment.duration))
      guard let name = segment.map else { continue }
      if name != map {
        let header = files(Self.join(path, name)).map(SegmentContent.Track.init)
        for mistake in header?.mistakes ?? [] { say(path, "\(name): \(mistake)") }
        (track, map) = (header, name)
      }
      guard let track else { continue }
      let content = SegmentContent(bytes, track)
      for mistake in content.mistakes { say(path, "\(segment.uri): \(mistake)") }
      if list.isIFramesOnly {
        if content.sampleCount != 1 { say(path, "\(segment.uri): \(content.sampleCount) pictures") }
        continue
      }
      if abs(content.seconds - segment.duration) > 0.002 {
        say(path, "\(segment.uri): EXTINF \(segment.duration), it lasts \(content.seconds)")
      }
      let hole = end.map { (Double(content.start) - Double($0)) / track.timescale } ?? 0
      if let end, !segment.startsDiscontinuity, content.start != end,
        hole < 0 || Int((last + hole).rounded()) <= list.targetDuration
      {
        say(path, "\(segment.uri): it begins at \(content.start), the last one ended at \(end)")
      }
      (end, last) = (content.end, segment.duration)
    }
    let total = sizes.reduce((0.0, 0.0)) { ($0.0 + $1.bits, $0.1 + $1.seconds) }
    return (Self.peak(sizes, target: Double(list.targetDuration)), total.0 / max(total.1, 1e-9))
  }

  /// The highest rate of consecutive segments that last half to one and a half target durations
  /// (draft-pantos-hls-rfc8216bis 4.4.6.2, BANDWIDTH).
  private static func peak(_ sizes: [(bits: Double, seconds: Double)], target: Double) -> Double {
    var peak = 0.0
    for first in sizes.indices {
      var (bits, seconds) = (0.0, 0.0)
      for size in sizes[first...] {
        (bits, seconds) = (bits + size.bits, seconds + size.seconds)
        guard seconds <= 1.5 * target else { break }
        if seconds >= 0.5 * target { peak = max(peak, bits / seconds) }
      }
    }
    return peak
  }
}
