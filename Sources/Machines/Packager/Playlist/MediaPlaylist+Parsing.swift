// SPDX-License-Identifier: MPL-2.0

/// Why a playlist cannot be read.
public struct PlaylistError: Error, Equatable, CustomStringConvertible {
  /// From 1 on.
  public let line: Int
  public let reason: String

  public var description: String { "line \(line): \(reason)" }
}

extension MediaPlaylist {
  /// Reads a media playlist. Tags that this type has no place for are passed over.
  ///
  /// - Throws: a ``PlaylistError`` where it is no media playlist, or a tag makes no sense.
  public init(parsing text: String) throws(PlaylistError) {
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    guard lines.first == "#EXTM3U" else {
      throw PlaylistError(line: 1, reason: "it does not begin with #EXTM3U")
    }
    let target = lines.lazy.compactMap { $0.value(of: "#EXT-X-TARGETDURATION:") }.first
    guard let target, let targetDuration = Int(target), (1...86_400).contains(targetDuration) else {
      throw PlaylistError(line: 1, reason: "it has no #EXT-X-TARGETDURATION")
    }
    self.init(.live, targetDuration: targetDuration)
    var reading = Reading()
    for (index, line) in lines.enumerated() {
      guard read(line, &reading) else {
        throw PlaylistError(line: index + 1, reason: "'\(line.prefix(80))' makes no sense")
      }
    }
    if openSegment != nil {
      reading.prepareNext()
      describeOpenSegment(as: reading.next)
    }
  }

  /// So many segments nobody counts.
  private static let maximumSequence: UInt64 = 1 << 62

  /// What is known of the segment that comes next.
  private struct Reading {
    var next = MediaSegment("", duration: 0)
    var hasDuration = false
    var map: InitializationSection?
    var date: Int64?
    var sectionEnd: UInt64 = 0

    /// What goes on from segment to segment holds for the next one.
    mutating func prepareNext() {
      next.map = map
      next.programDateTime = next.programDateTime ?? date
    }
  }

  /// False for a line that makes no sense.
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
      guard let range = ByteRange(value, behind: reading.sectionEnd) else { return false }
      reading.next.byteRange = range
      reading.sectionEnd = range.offset &+ range.length
    } else if let value = line.value(of: "#EXT-X-MAP:") {
      let attributes = AttributeList.parse(value)
      guard let uri = attributes["URI"] else { return false }
      reading.map = InitializationSection(
        uri, byteRange: attributes["BYTERANGE"].flatMap { ByteRange($0, behind: 0) })
    } else if let value = line.value(of: "#EXT-X-PROGRAM-DATE-TIME:") {
      // Other forms of ISO 8601 are allowed, and not ours.
      reading.next.programDateTime = UTCTime.nanoseconds(value)
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
  /// Reads `length@offset`, or `length`, which begins where the one before ends.
  fileprivate init?(_ text: some StringProtocol, behind end: UInt64) {
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
  /// What stands behind a tag; nil where it is another one.
  fileprivate func value(of tag: String) -> Substring? {
    hasPrefix(tag) ? dropFirst(tag.count) : nil
  }
}
