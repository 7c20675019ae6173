// SPDX-License-Identifier: MPL-2.0

/// The reason why a playlist cannot be parsed.
public struct PlaylistError: Error, Equatable, CustomStringConvertible {
  /// Line number, from 1.
  public let line: Int
  /// Description of the problem.
  public let reason: String

  /// Line number and reason.
  public var description: String { "line \(line): \(reason)" }
}

extension MediaPlaylist {
  /// Parses a media playlist. Tags without a counterpart in this type are ignored.
  ///
  /// - Throws: A ``PlaylistError`` if it is not a media playlist or has an invalid tag.
  public init(parsing text: String) throws(PlaylistError) {
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    guard lines.first == "#EXTM3U" else {
      throw PlaylistError(line: 1, reason: "it does not start with #EXTM3U")
    }
    let target = lines.lazy.compactMap { $0.value(of: "#EXT-X-TARGETDURATION:") }.first
    guard let target, let targetDuration = Int(target), (1...86_400).contains(targetDuration) else {
      throw PlaylistError(line: 1, reason: "it has no #EXT-X-TARGETDURATION")
    }
    self.init(.live, targetDuration: targetDuration)
    var reading = Reading()
    for (index, line) in lines.enumerated() {
      guard read(line, &reading) else {
        throw PlaylistError(line: index + 1, reason: "'\(line.prefix(80))' is invalid")
      }
    }
    if openSegment != nil {
      reading.prepareNext()
      describeOpenSegment(as: reading.next)
    }
  }

  /// Upper bound for media sequence numbers, so that sums cannot overflow.
  private static let maximumSequence: UInt64 = 1 << 62

  /// The properties of the next segment that have been read so far.
  private struct Reading {
    var next = MediaSegment("", duration: 0)
    var hasDuration = false
    var map: InitializationSection?
    var keyTags: [String] = []
    /// Whether the tags of the key stand before the next segment, so that another one is added.
    var hasNewKey = false
    var date: Int64?
    var sectionEnd: UInt64 = 0

    /// Applies the properties that carry over from the previous segments.
    fileprivate mutating func prepareNext() {
      next.map = map
      next.keyTags = keyTags
      hasNewKey = false
      next.programDateTime = next.programDateTime ?? date
    }
  }

  /// Returns false for an invalid line.
  private mutating func read(_ line: Substring, _ reading: inout Reading) -> Bool {
    guard line.hasPrefix("#") else { return line.isEmpty || readAddress(line, &reading) }
    if let value = line.value(of: "#EXT-X-MEDIA-SEQUENCE:") {
      guard let number = UInt64(value), number < Self.maximumSequence else { return false }
      mediaSequence = number
    } else if let value = line.value(of: "#EXT-X-DISCONTINUITY-SEQUENCE:") {
      guard let number = UInt64(value), number < Self.maximumSequence else { return false }
      discontinuitySequence = number
    } else if let value = line.value(of: "#EXT-X-PLAYLIST-TYPE:") {
      guard let kind = Kind(rawValue: String(value)), kind != .live else { return false }
      self.kind = kind
    } else if line == "#EXT-X-I-FRAMES-ONLY" {
      isIFramesOnly = true
    } else if line == "#EXT-X-ENDLIST" {
      hasEnded = true
    } else {
      return readSegmentTag(line, &reading) && readLowLatencyTag(line)
    }
    return true
  }

  private mutating func readAddress(_ line: Substring, _ reading: inout Reading) -> Bool {
    guard reading.hasDuration else { return false }
    reading.next.uri = String(line)
    reading.prepareNext()
    reading.date = reading.next.programDateTime.map {
      $0 &+ Int64(clamping: reading.next.duration)
    }
    append(reading.next)
    reading.next = MediaSegment("", duration: 0)
    reading.hasDuration = false
    return true
  }

  private func readSegmentTag(_ line: Substring, _ reading: inout Reading) -> Bool {
    if let value = line.value(of: "#EXTINF:") {
      guard let duration = nanoseconds(value.prefix { $0 != "," }) else { return false }
      reading.next.duration = duration
      reading.hasDuration = true
    } else if let value = line.value(of: "#EXT-X-BYTERANGE:") {
      guard let range = ByteRange(value, after: reading.sectionEnd) else { return false }
      reading.next.byteRange = range
      reading.sectionEnd = range.offset &+ range.length
    } else if let value = line.value(of: "#EXT-X-MAP:") {
      let attributes = AttributeList.parse(value)
      guard let uri = attributes["URI"] else { return false }
      reading.map = InitializationSection(
        uri, byteRange: attributes["BYTERANGE"].flatMap { ByteRange($0, after: 0) })
    } else if let value = line.value(of: "#EXT-X-KEY:") {
      if !reading.hasNewKey { reading.keyTags = [] }
      reading.hasNewKey = true
      if AttributeList.parse(value)["METHOD"] != "NONE" { reading.keyTags.append(String(line)) }
    } else if let value = line.value(of: "#EXT-X-PROGRAM-DATE-TIME:") {
      // Other ISO 8601 formats are allowed, but this library does not write them.
      reading.next.programDateTime = UTCTime.nanoseconds(value)
    } else if let value = line.value(of: "#EXT-X-DATERANGE:") {
      if let range = DateRange(parsing: line, attributes: value) {
        reading.next.ranges.append(range)
      }
    } else if line.hasPrefix("#EXT-X-CUE-OUT") || line == "#EXT-X-CUE-IN" {
      reading.next.cues.append(String(line.prefix(200)))
    } else if line == "#EXT-X-DISCONTINUITY" {
      reading.next.startsDiscontinuity = true
    } else if line == "#EXT-X-GAP" {
      reading.next.isGap = true
    }
    return true
  }

  private mutating func readLowLatencyTag(_ line: Substring) -> Bool {
    if let value = line.value(of: "#EXT-X-SERVER-CONTROL:") {
      let attributes = AttributeList.parse(value)
      guard let holdBack = attributes["PART-HOLD-BACK"].flatMap({ nanoseconds($0) }) else {
        return true
      }
      lowLatency = LowLatency(
        partTarget: lowLatency?.partTarget ?? 0, partHoldBack: holdBack,
        canSkipUntil: attributes["CAN-SKIP-UNTIL"].flatMap { nanoseconds($0) })
    } else if let value = line.value(of: "#EXT-X-PART-INF:") {
      let attributes = AttributeList.parse(value)
      guard let target = attributes["PART-TARGET"].flatMap({ nanoseconds($0) }) else {
        return false
      }
      lowLatency = lowLatency ?? LowLatency(partTarget: 0, partHoldBack: target &* 3)
      lowLatency?.partTarget = target
    } else if let value = line.value(of: "#EXT-X-PART:") {
      let attributes = AttributeList.parse(value)
      guard let uri = attributes["URI"],
        let duration = attributes["DURATION"].flatMap({ nanoseconds($0) })
      else { return false }
      append(
        PartialSegment(uri, duration: duration, isIndependent: attributes["INDEPENDENT"] == "YES"))
    } else if let value = line.value(of: "#EXT-X-PRELOAD-HINT:") {
      let attributes = AttributeList.parse(value)
      if attributes["TYPE"] == "PART" { preloadHint = attributes["URI"] }
    } else if let value = line.value(of: "#EXT-X-RENDITION-REPORT:") {
      let attributes = AttributeList.parse(value)
      guard let uri = attributes["URI"], let last = attributes["LAST-MSN"].flatMap({ UInt64($0) })
      else { return false }
      renditionReports.append(
        RenditionReport(
          uri: uri, lastSequence: last, lastPart: attributes["LAST-PART"].flatMap { UInt64($0) }))
    }
    return true
  }
}

extension ByteRange {
  /// Parses `length@offset`, or `length` alone for a range that starts at `end`.
  fileprivate init?(_ text: some StringProtocol, after end: UInt64) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard let length = parts.first.flatMap({ UInt64($0) }) else { return nil }
    guard parts.count == 2 else {
      self.init(length: length, offset: end)
      return
    }
    guard let offset = UInt64(parts[1]) else { return nil }
    self.init(length: length, offset: offset)
  }
}

extension Substring {
  /// Returns the text after a tag; nil for any other tag.
  fileprivate func value(of tag: String) -> Substring? {
    hasPrefix(tag) ? dropFirst(tag.count) : nil
  }
}
