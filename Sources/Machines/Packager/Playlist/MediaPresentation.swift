// SPDX-License-Identifier: MPL-2.0

/// A DASH manifest over the segments of HLS playlists (ISO/IEC 23009-1), with an adaptation set for
/// each video and audio rendition.
public struct MediaPresentation: Equatable, Sendable {
  /// Whether the presentation is complete or live.
  public enum Kind: Equatable, Sendable {
    /// All segments are available.
    case onDemand
    /// Segments become available in real time.
    case live(Live)
  }

  /// Properties of a live presentation. Times are in nanoseconds.
  public struct Live: Equatable, Sendable {
    /// Wall-clock time of media time 0, since 1970-01-01 00:00 UTC.
    public var availabilityStartTime: Int64
    /// Wall-clock time at which the manifest was written, since 1970-01-01 00:00 UTC.
    public var publishTime: Int64
    /// Minimum interval between updates of the manifest.
    public var minimumUpdatePeriod: UInt64
    /// How long segments stay available; nil for unlimited time.
    public var timeShiftBufferDepth: UInt64?

    /// Creates properties of a presentation.
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

  /// Media type and properties of a rendition.
  public enum Content: Equatable, Sendable {
    /// Width and height of one eye, in pixels.
    /// Audio; the sample rate is in hertz, the language a BCP 47 tag.
    case video(width: Int, height: Int, frameRate: FrameRate?)
    case audio(sampleRate: UInt32, channelCount: Int, language: String?)
  }

  /// A rendition with its segments.
  public struct Representation: Equatable, Sendable {
    /// The name of the rendition.
    public var id: String
    /// Media type and properties.
    public var content: Content
    /// RFC 6381, such as `hvc1.1.6.L123.B0`.
    public var codecs: String
    /// Bits per second.
    public var bandwidth: UInt64
    /// Units per second of the segments' times.
    public var timescale: UInt32
    /// URI of the initialization segment.
    public var initialization: String
    /// URI template of the segments, with `$Number%05d$` for their number.
    public var media: String
    /// Number of the first segment.
    public var startNumber: UInt64
    /// Start and duration of each segment.
    public var segments: [Segment]

    /// Position of a segment, in units of the timescale.
    public struct Segment: Equatable, Sendable {
      /// Media time of the start.
      public var start: UInt64
      /// Duration.
      public var duration: UInt64
      /// Whether the rendition has nothing there, and no file.
      public var isGap: Bool

      /// Creates a position.
      public init(start: UInt64, duration: UInt64, isGap: Bool = false) {
        (self.start, self.duration, self.isGap) = (start, duration, isGap)
      }
    }

    /// Creates a representation.
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

  /// A part of the presentation without format changes.
  public struct Period: Equatable, Sendable {
    /// Start in nanoseconds on the timeline of the segments.
    public var start: UInt64
    /// The renditions in this period.
    public var representations: [Representation]

    /// Creates a period.
    public init(_ start: UInt64, _ representations: [Representation]) {
      (self.start, self.representations) = (start, representations)
    }
  }

  /// Whether the presentation is complete or live.
  public var kind: Kind
  /// Minimum buffer of a player, in nanoseconds: a segment.
  public var minimumBufferTime: UInt64
  /// In chronological order.
  public var periods: [Period] = []

  /// Creates a presentation without periods.
  public init(_ kind: Kind, minimumBufferTime: UInt64) {
    self.kind = kind
    self.minimumBufferTime = minimumBufferTime
  }

  /// The content of the manifest file.
  public var text: String {
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", header]
    for period in periods {
      // The ID of a period stays the same when earlier ones are removed.
      let id = period.start / 1_000_000
      lines.append(
        "  <Period id=\"\(id)\" "
          + "start=\"\(period.start == 0 ? "PT0S" : Self.duration(period.start))\">"
      )
      for (index, representation) in period.representations.enumerated() {
        lines.append("    <AdaptationSet id=\"\(index)\" \(representation.setAttributes)>")
        lines += representation.lines(from: period.start).map { "      " + $0 }
        lines.append("    </AdaptationSet>")
      }
      lines.append("  </Period>")
    }
    if case .live(let live) = kind {
      // Lets players compare their clock with that of the server.
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

  /// End of the longest rendition, in nanoseconds.
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

  fileprivate func lines(from start: UInt64) -> [String] {
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
      // Rounded to the nearest, since both times are.
      let (whole, rest) = units.high < second ? second.dividingFullWidth(units) : (0, 0)
      let offset = whole + (rest * 2 >= second ? 1 : 0)
      template += " presentationTimeOffset=\"\(offset)\""
    }
    lines.append(template + ">")
    lines.append("    <SegmentTimeline>")
    lines += timeline.map { "      " + $0 }
    lines += ["    </SegmentTimeline>", "  </SegmentTemplate>", "</Representation>"]
    return lines
  }

  /// The rows of the segment timeline; successive segments of equal duration share a row.
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
