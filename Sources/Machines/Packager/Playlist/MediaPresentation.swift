// SPDX-License-Identifier: MPL-2.0

/// A DASH manifest over the segments of HLS playlists (ISO/IEC 23009-1): one period, an adaptation
/// set for each rendition of video and of sound.
public struct MediaPresentation: Equatable, Sendable {
  public enum Kind: Equatable, Sendable {
    /// All segments are there.
    case onDemand
    /// Segments come in real time.
    case live(Live)
  }

  /// What players of a live presentation need. Times in nanoseconds.
  public struct Live: Equatable, Sendable {
    /// When media time 0 was, since 1970-01-01 00:00 UTC.
    public var availabilityStartTime: Int64
    /// When the manifest was written, since 1970-01-01 00:00 UTC.
    public var publishTime: Int64
    /// How often it is worth to look for a new manifest.
    public var minimumUpdatePeriod: UInt64
    /// How long segments stay; nil for always.
    public var timeShiftBufferDepth: UInt64?
    /// How much before its end a segment can be asked for; 0 for not before.
    public var availabilityTimeOffset: UInt64 = 0

    public init(
      availabilityStartTime: Int64, publishTime: Int64, minimumUpdatePeriod: UInt64,
      timeShiftBufferDepth: UInt64? = nil
    ) {
      self.availabilityStartTime = availabilityStartTime
      self.publishTime = publishTime
      self.minimumUpdatePeriod = minimumUpdatePeriod
      self.timeShiftBufferDepth = timeShiftBufferDepth
    }
  }

  /// What a rendition shows or plays.
  public enum Content: Equatable, Sendable {
    /// - width, height: of one eye, in pixels.
    case video(width: Int, height: Int, frameRate: FrameRate?)
    case audio(sampleRate: UInt32, channelCount: Int, language: String?)
  }

  /// One rendition, and its segments.
  public struct Representation: Equatable, Sendable {
    public var id: String
    public var content: Content
    /// RFC 6381: `hvc1.1.6.L123.B0`.
    public var codecs: String
    /// Bits a second.
    public var bandwidth: UInt64
    /// Units a second of the segments' times.
    public var timescale: UInt32
    /// The address of `ftyp` and `moov`.
    public var initialization: String
    /// The addresses of segments, with `$Number%05d$` for their number.
    public var media: String
    /// The number of the first segment.
    public var startNumber: UInt64
    /// When each segment starts and how long it lasts, in units of the timescale.
    public var segments: [Segment]

    /// In units of the timescale.
    public struct Segment: Equatable, Sendable {
      public var start: UInt64
      public var duration: UInt64

      public init(start: UInt64, duration: UInt64) {
        (self.start, self.duration) = (start, duration)
      }
    }

    public init(
      id: String, content: Content, codecs: String, bandwidth: UInt64, timescale: UInt32,
      initialization: String, media: String, startNumber: UInt64,
      segments: [Segment]
    ) {
      (self.id, self.content, self.codecs, self.bandwidth) = (id, content, codecs, bandwidth)
      (self.timescale, self.initialization) = (max(timescale, 1), initialization)
      (self.media, self.startNumber, self.segments) = (media, startNumber, segments)
    }
  }

  /// What is coded in one way.
  public struct Period: Equatable, Sendable {
    /// On the time line of the segments, in nanoseconds.
    public var start: UInt64
    public var representations: [Representation]

    public init(_ start: UInt64, _ representations: [Representation]) {
      (self.start, self.representations) = (start, representations)
    }
  }

  public var kind: Kind
  /// How much is to be buffered at least, in nanoseconds: a segment.
  public var minimumBufferTime: UInt64
  /// In the order of time.
  public var periods: [Period] = []

  public init(_ kind: Kind, minimumBufferTime: UInt64) {
    self.kind = kind
    self.minimumBufferTime = minimumBufferTime
  }

  /// The file.
  public var text: String {
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", header]
    for period in periods {
      // A period keeps its name when others before it leave the list.
      let id = period.start / 1_000_000
      lines.append(
        "  <Period id=\"\(id)\" start=\"\(period.start == 0 ? "PT0S" : Self.duration(period.start))\">"
      )
      for (index, representation) in period.representations.enumerated() {
        lines.append("    <AdaptationSet id=\"\(index)\" \(representation.setAttributes)>")
        lines += representation.lines(in: kind, from: period.start).map { "      " + $0 }
        lines.append("    </AdaptationSet>")
      }
      lines.append("  </Period>")
    }
    if case .live(let live) = kind {
      // Players compare their clock with the manifest's date.
      lines.append(
        "  <UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" "
          + "value=\"\(UTCTime.text(live.publishTime))\"/>")
    }
    lines.append("</MPD>")
    return lines.joined(separator: "\n") + "\n"
  }

  private var header: String {
    var attributes = [
      "xmlns=\"urn:mpeg:dash:schema:mpd:2011\"",
      "profiles=\"urn:mpeg:dash:profile:cmaf:2019,urn:mpeg:dash:profile:isoff-live:2011\"",
      "minBufferTime=\"\(Self.duration(minimumBufferTime))\"",
    ]
    switch kind {
    case .onDemand:
      attributes += [
        "type=\"static\"", "mediaPresentationDuration=\"\(Self.duration(duration))\"",
      ]
    case .live(let live):
      attributes += [
        "type=\"dynamic\"",
        "availabilityStartTime=\"\(UTCTime.text(live.availabilityStartTime))\"",
        "publishTime=\"\(UTCTime.text(live.publishTime))\"",
        "minimumUpdatePeriod=\"\(Self.duration(live.minimumUpdatePeriod))\"",
      ]
      if let depth = live.timeShiftBufferDepth {
        attributes.append("timeShiftBufferDepth=\"\(Self.duration(depth))\"")
      }
    }
    return "<MPD \(attributes.joined(separator: " "))>"
  }

  /// Of the longest rendition, in nanoseconds.
  private var duration: UInt64 {
    periods.flatMap(\.representations).map { representation in
      guard let last = representation.segments.last else { return 0 }
      let end = last.start &+ last.duration
      let product = end.multipliedFullWidth(by: 1_000_000_000)
      let scale = UInt64(representation.timescale)
      return product.high < scale ? scale.dividingFullWidth(product).quotient : .max
    }.max() ?? 0
  }

  private static func duration(_ nanoseconds: UInt64) -> String {
    "PT\(seconds(nanoseconds, decimals: 3))S"
  }
}

extension MediaPresentation.Representation {
  fileprivate var setAttributes: String {
    let common = "segmentAlignment=\"true\" startWithSAP=\"1\""
    switch content {
    case .video(let width, let height, let frameRate):
      let rate = frameRate.map { " frameRate=\"\($0.text)\"" } ?? ""
      return "contentType=\"video\" mimeType=\"video/mp4\" width=\"\(width)\" "
        + "height=\"\(height)\"\(rate) \(common)"
    case .audio(_, _, let language):
      let tag = language.map { " lang=\"\(Self.escaped($0))\"" } ?? ""
      return "contentType=\"audio\" mimeType=\"audio/mp4\"\(tag) \(common)"
    }
  }

  fileprivate func lines(in kind: MediaPresentation.Kind, from start: UInt64) -> [String] {
    var head = "<Representation id=\"\(Self.escaped(id))\" codecs=\"\(Self.escaped(codecs))\" "
    head += "bandwidth=\"\(bandwidth)\""
    if case .audio(let rate, _, _) = content { head += " audioSamplingRate=\"\(rate)\"" }
    var lines = [head + ">"]
    if case .audio(_, let count, _) = content {
      lines.append(
        "  <AudioChannelConfiguration "
          + "schemeIdUri=\"urn:mpeg:dash:23003:3:audio_channel_configuration:2011\" "
          + "value=\"\(count)\"/>")
    }
    var template =
      "  <SegmentTemplate timescale=\"\(timescale)\" startNumber=\"\(startNumber)\" "
      + "initialization=\"\(Self.escaped(initialization))\" media=\"\(Self.escaped(media))\""
    if start > 0 {
      let second: UInt64 = 1_000_000_000
      let units = start.multipliedFullWidth(by: UInt64(timescale))
      // To the nearest: both are rounded.
      let (whole, rest) = units.high < second ? second.dividingFullWidth(units) : (0, 0)
      let offset = whole + (rest * 2 >= second ? 1 : 0)
      template += " presentationTimeOffset=\"\(offset)\""
    }
    if case .live(let live) = kind, live.availabilityTimeOffset > 0 {
      template +=
        " availabilityTimeOffset=\"\(seconds(live.availabilityTimeOffset, decimals: 3))\""
        + " availabilityTimeComplete=\"false\""
    }
    lines.append(template + ">")
    lines.append("    <SegmentTimeline>")
    lines += timeline.map { "      " + $0 }
    lines += ["    </SegmentTimeline>", "  </SegmentTemplate>", "</Representation>"]
    return lines
  }

  /// Segments of one length behind each other in one row.
  private var timeline: [String] {
    var rows: [(start: UInt64, duration: UInt64, count: Int)] = []
    var end: UInt64?
    for segment in segments {
      if let last = rows.last, last.duration == segment.duration, segment.start == end {
        rows[rows.count - 1].count += 1
      } else {
        rows.append((segment.start, segment.duration, 1))
      }
      end = segment.start &+ segment.duration
    }
    return rows.map { row in
      let repeats = row.count > 1 ? " r=\"\(row.count - 1)\"" : ""
      return "<S t=\"\(row.start)\" d=\"\(row.duration)\"\(repeats)/>"
    }
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }
}
