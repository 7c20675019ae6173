// SPDX-License-Identifier: MPL-2.0

/// A DASH manifest over the segments of HLS playlists (ISO/IEC 23009-1), with an adaptation set for
/// the renditions between which players switch: those of both eyes, those of one eye, and those of
/// each audio track.
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
    /// Minimum interval between updates of the manifest: the duration of a segment.
    public var minimumUpdatePeriod: UInt64
    /// How long segments stay available; nil for unlimited time.
    public var timeShiftBufferDepth: UInt64?
    /// Delay at which players are to show the stream, three segments.
    public var delay: UInt64
    /// URI whose server tells the time: that of the manifest.
    public var clock: String

    /// Creates properties of a presentation whose segments stay available.
    public init(
      availabilityStartTime: Int64, publishTime: Int64, minimumUpdatePeriod: UInt64,
      delay: UInt64, clock: String
    ) {
      self.availabilityStartTime = availabilityStartTime
      self.publishTime = publishTime
      self.minimumUpdatePeriod = minimumUpdatePeriod
      (self.delay, self.clock) = (delay, clock)
    }
  }

  /// A part of the presentation without format changes.
  public struct Period: Equatable, Sendable {
    /// Start in nanoseconds on the timeline of the segments.
    public var start: UInt64
    /// The renditions in this period, in the same order in all periods.
    public var representations: [Representation]

    /// Messages to players in this period.
    public var events: [Event] = []

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
    let lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"] + element.lines
    return lines.joined(separator: "\n") + "\n"
  }

  private var element: ManifestElement {
    var element = ManifestElement("MPD")
    element.add("xmlns", "urn:mpeg:dash:schema:mpd:2011")
    element.add(
      "profiles", "urn:mpeg:dash:profile:cmaf:2019,urn:mpeg:dash:profile:isoff-live:2011")
    element.add("minBufferTime", Self.duration(minimumBufferTime))
    switch kind {
    case .onDemand:
      element.add("type", "static")
      let end = periods.flatMap(\.representations).map(\.end).max() ?? 0
      element.add("mediaPresentationDuration", Self.duration(end - min(origin, end)))
    case .live(let live):
      live.addAttributes(to: &element)
      element.add(live.serviceDescription)
    }
    for (index, period) in periods.enumerated() {
      let isFirst = index == 0 && kind == .onDemand
      element.add(period.element(from: isFirst ? origin : period.start, origin: origin))
    }
    if case .live(let live) = kind {
      // Lets players compare their clock with that of the server, which dates its answers.
      element.add(
        ManifestElement(
          "UTCTiming", scheme: "urn:mpeg:dash:utc:http-head:2014", value: live.clock))
    }
    return element
  }

  /// Media time at presentation time 0, in nanoseconds: a finished presentation begins with its
  /// first sample, or players would show nothing up to there.
  private var origin: UInt64 {
    guard kind == .onDemand, let first = periods.first else { return 0 }
    let starts = first.representations.filter { !$0.segments.isEmpty }.map(\.start)
    return starts.min() ?? first.start
  }

  static func duration(_ nanoseconds: UInt64) -> String {
    nanoseconds == 0 ? "PT0S" : "PT\(seconds(nanoseconds, decimals: 3))S"
  }
}

extension MediaPresentation.Live {
  fileprivate func addAttributes(to element: inout ManifestElement) {
    element.add("type", "dynamic")
    element.add("availabilityStartTime", UTCTime.text(availabilityStartTime))
    element.add("publishTime", UTCTime.text(publishTime))
    element.add("minimumUpdatePeriod", MediaPresentation.duration(minimumUpdatePeriod))
    element.add("timeShiftBufferDepth", timeShiftBufferDepth.map(MediaPresentation.duration))
    element.add("suggestedPresentationDelay", MediaPresentation.duration(delay))
  }

  /// The latency that players are to keep (ISO/IEC 23009-1 annex K), in milliseconds. At less than
  /// two segments, they would wait for the one that is being written, and for the manifest.
  fileprivate var serviceDescription: ManifestElement {
    var latency = ManifestElement("Latency")
    latency.add("min", String(delay / 1_500_000))
    latency.add("target", String(delay / 1_000_000))
    var description = ManifestElement("ServiceDescription")
    description.add("id", "0")
    description.add(latency)
    return description
  }
}

extension MediaPresentation.Period {
  /// The element.
  ///
  /// - Parameters:
  ///   - start: Media time at which it starts, in nanoseconds.
  ///   - origin: Media time at presentation time 0, in nanoseconds.
  fileprivate func element(from start: UInt64, origin: UInt64) -> ManifestElement {
    var element = ManifestElement("Period")
    // The ID of a period stays the same when earlier ones are removed.
    element.add("id", String(self.start / 1_000_000))
    element.add("start", MediaPresentation.duration(start - min(origin, start)))
    if let stream = Self.stream(of: events, from: start) { element.add(stream) }
    let sets = AdaptationSet.sets(of: representations)
    for set in sets { element.add(set.element(from: start, among: sets)) }
    return element
  }
}
