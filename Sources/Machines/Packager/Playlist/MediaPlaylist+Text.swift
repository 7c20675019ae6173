// SPDX-License-Identifier: MPL-2.0

extension MediaPlaylist {
  /// The content of the playlist file.
  public var text: String { text(skipping: 0) }

  /// A playlist delta update (`EXT-X-SKIP`), which omits old segments and is requested with
  /// `_HLS_skip=YES`; the complete playlist if skipping is not allowed or omits nothing.
  public var deltaUpdate: String {
    guard let distance = lowLatency?.canSkipUntil, !hasEnded else { return text }
    var rest = openParts.reduce(duration) { $0 &+ $1.duration }
    let count = segments.prefix { segment in
      rest -= min(rest, segment.duration)
      return rest >= distance
    }.count
    return text(skipping: count)
  }

  private func text(skipping skipped: Int) -> String {
    var lines = ["#EXTM3U", "#EXT-X-VERSION:\(skipped > 0 ? 9 : version)"]
    lines.append("#EXT-X-TARGETDURATION:\(targetDuration)")
    if let lowLatency { lines += lowLatency.lines }
    lines.append("#EXT-X-MEDIA-SEQUENCE:\(mediaSequence)")
    if discontinuitySequence > 0 || kind == .live {
      lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)")
    }
    if kind != .live { lines.append("#EXT-X-PLAYLIST-TYPE:\(kind.rawValue)") }
    if isIFramesOnly { lines.append("#EXT-X-I-FRAMES-ONLY") }
    if skipped > 0 { lines.append("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)") }
    lines += (ranges + segments.prefix(skipped).flatMap(\.ranges)).map(\.line)
    var last: MediaSegment?
    // The date of the next segment unless it has a tag of its own.
    var date: Int64?
    let firstWithParts = firstSegmentWithParts
    for (index, segment) in segments.enumerated() {
      let isListed = index >= skipped
      if isListed {
        lines += segment.lines(after: last, date)
        if index >= firstWithParts { lines += segment.parts.map(\.line) }
        lines += segment.ending
      }
      last = segment
      let start = segment.programDateTime ?? date
      date = start.map { $0 &+ Int64(clamping: segment.duration) }
    }
    if let openSegment {
      lines += openSegment.lines(after: last, date) + openSegment.parts.map(\.line)
    }
    if let preloadHint, !hasEnded {
      var hint = AttributeList()
      hint.add("TYPE", "PART")
      hint.add("URI", quoted: preloadHint)
      lines.append("#EXT-X-PRELOAD-HINT:\(hint.text)")
    }
    if !hasEnded { lines += renditionReports.map(\.line) }
    if hasEnded { lines.append("#EXT-X-ENDLIST") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Parts are listed only within three target durations of the end.
  private var firstSegmentWithParts: Int {
    var rest = UInt64(targetDuration) * 3_000_000_000
    for index in segments.indices.reversed() {
      guard rest >= segments[index].duration else { return index + 1 }
      rest -= segments[index].duration
    }
    return 0
  }
}

extension LowLatency {
  fileprivate var lines: [String] {
    var control = AttributeList()
    control.add("CAN-BLOCK-RELOAD", "YES")
    control.add("PART-HOLD-BACK", seconds(partHoldBack))
    control.add("CAN-SKIP-UNTIL", canSkipUntil.map { seconds($0) })
    return [
      "#EXT-X-SERVER-CONTROL:\(control.text)",
      "#EXT-X-PART-INF:PART-TARGET=\(seconds(partTarget))",
    ]
  }
}

extension MediaSegment {
  /// Returns the lines of a segment that precede its parts.
  ///
  /// - Parameters:
  ///   - last: The previous segment.
  ///   - date: Date of this segment if it had no tag.
  fileprivate func lines(after last: MediaSegment?, _ date: Int64?) -> [String] {
    var lines: [String] = []
    if startsDiscontinuity { lines.append("#EXT-X-DISCONTINUITY") }
    if keyTags != last?.keyTags ?? [] {
      lines += keyTags.isEmpty ? ["#EXT-X-KEY:METHOD=NONE"] : keyTags
    }
    if let section = map, section != last?.map || startsDiscontinuity {
      lines.append(section.line)
    }
    if let programDateTime,
      startsDiscontinuity || date.map({ ($0 &- programDateTime).magnitude >= 500_000 }) ?? true
    {
      lines.append("#EXT-X-PROGRAM-DATE-TIME:\(UTCTime.text(programDateTime))")
    }
    return lines + ranges.map(\.line) + cues
  }

  /// The lines of a segment that follow its parts.
  fileprivate var ending: [String] {
    var lines: [String] = []
    if isGap { lines.append("#EXT-X-GAP") }
    lines.append("#EXTINF:\(seconds(duration)),")
    if let byteRange { lines.append("#EXT-X-BYTERANGE:\(byteRange.text)") }
    return lines + [uri]
  }
}

extension InitializationSection {
  fileprivate var line: String {
    var attributes = AttributeList()
    attributes.add("URI", quoted: uri)
    attributes.add("BYTERANGE", quoted: byteRange?.text)
    return "#EXT-X-MAP:\(attributes.text)"
  }
}

extension PartialSegment {
  fileprivate var line: String {
    var attributes = AttributeList()
    attributes.add("DURATION", seconds(duration))
    attributes.add("URI", quoted: uri)
    if isIndependent { attributes.add("INDEPENDENT", "YES") }
    return "#EXT-X-PART:\(attributes.text)"
  }
}

extension RenditionReport {
  fileprivate var line: String {
    var attributes = AttributeList()
    attributes.add("URI", quoted: uri)
    attributes.add("LAST-MSN", String(lastSequence))
    attributes.add("LAST-PART", lastPart.map { String($0) })
    return "#EXT-X-RENDITION-REPORT:\(attributes.text)"
  }
}

/// The attribute list of a tag, such as `BANDWIDTH=900000,URI="a.m3u8"`
/// (draft-pantos-hls-rfc8216bis 4.2).
struct AttributeList {
  private(set) var text = ""

  /// Adds a number, an enumerated string or a resolution; nothing if it is nil.
  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    text += (text.isEmpty ? "" : ",") + name + "=" + value
  }

  /// Adds a quoted string without its quotation marks and line breaks; nothing if it is nil.
  ///
  /// It is filtered by scalars, not by characters: a quotation mark with a combining accent ends a
  /// string too.
  mutating func add(_ name: String, quoted value: String?) {
    let scalars = value?.unicodeScalars.filter { $0 != "\"" && !Character($0).isNewline }
    add(name, scalars.map { "\"" + String(String.UnicodeScalarView($0)) + "\"" })
  }

  /// Parses an attribute list.
  static func parse(_ text: some StringProtocol) -> [String: String] {
    var attributes: [String: String] = [:]
    var rest = Substring(text).unicodeScalars
    while let equals = rest.firstIndex(of: "=") {
      let name = rest[..<equals]
      rest = rest[equals...].dropFirst()
      let isQuoted = rest.first == "\""
      if isQuoted { rest = rest.dropFirst() }
      let end = rest.firstIndex(of: isQuoted ? "\"" : ",") ?? rest.endIndex
      // Quotation marks are dropped from values, since they could not be written again.
      let value = rest[..<end].filter { $0 != "\"" }
      attributes[String(name)] = String(String.UnicodeScalarView(value))
      rest = rest[end...]
      if isQuoted { rest = rest.dropFirst() }
      if rest.first == "," { rest = rest.dropFirst() }
    }
    return attributes
  }
}
