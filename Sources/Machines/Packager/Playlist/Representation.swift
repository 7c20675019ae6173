// SPDX-License-Identifier: MPL-2.0

extension MediaPresentation {
  /// A rendition with its segments (ISO/IEC 23009-1 5.3.5).
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
    /// Start and duration of each segment; a representation without segments is not written.
    public var segments: [Segment]
    /// Whether the segments have ID3 tags in boxes `emsg`.
    public var hasMetadata = false
    /// How the segments are encrypted; nil if they are not.
    public var key: ContentKey?

    /// Position of a segment, in units of the timescale.
    public struct Segment: Equatable, Sendable {
      /// Media time of the start.
      public var start: UInt64
      /// Duration.
      public var duration: UInt64
      /// Whether the rendition has nothing there, and no file.
      public var isGap: Bool
      /// Whether pictures are shown before the keyframe that begins the segment.
      public var hasLeadingPictures = false

      /// Creates a position of a segment whose keyframe is shown first.
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
}

extension MediaPresentation.Representation {
  /// Start of the first segment, in nanoseconds.
  var start: UInt64 { nanoseconds(segments.first?.start ?? 0) }

  /// End of the last segment, in nanoseconds.
  var end: UInt64 { nanoseconds(segments.last.map { $0.start &+ $0.duration } ?? 0) }

  private func nanoseconds(_ units: UInt64) -> UInt64 {
    let product = units.multipliedFullWidth(by: 1_000_000_000)
    let scale = UInt64(timescale)
    return product.high < scale ? scale.dividingFullWidth(product).quotient : .max
  }

  /// The element.
  ///
  /// - Parameters:
  ///   - start: Media time at which the period starts, in nanoseconds.
  ///   - hasSize: Whether the size differs from that of other representations of the set.
  func element(from start: UInt64, hasSize: Bool) -> ManifestElement {
    var element = ManifestElement("Representation")
    element.add("id", id)
    element.add("codecs", codecs)
    // The schema has 32 bits for it.
    element.add("bandwidth", String(min(bandwidth, UInt64(UInt32.max))))
    if hasSize, case .video(let video) = content {
      element.add("width", String(video.width))
      element.add("height", String(video.height))
    }
    if case .video(let video) = content { element.add("sar", video.sar) }
    element.add(template(from: start))
    return element
  }

  private func template(from start: UInt64) -> ManifestElement {
    var template = ManifestElement("SegmentTemplate")
    template.add("timescale", String(timescale))
    template.add("startNumber", String(startNumber))
    template.add("initialization", initialization)
    template.add("media", media)
    if start > 0 {
      let second: UInt64 = 1_000_000_000
      let units = start.multipliedFullWidth(by: UInt64(timescale))
      // Rounded to the nearest, since both times are.
      let (whole, rest) = units.high < second ? second.dividingFullWidth(units) : (0, 0)
      template.add("presentationTimeOffset", String(whole &+ (rest * 2 >= second ? 1 : 0)))
    }
    template.add(timeline)
    return template
  }

  /// The segment timeline; successive segments of equal duration share a row.
  private var timeline: ManifestElement {
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
    var timeline = ManifestElement("SegmentTimeline")
    for row in rows {
      var element = ManifestElement("S")
      element.add("t", String(row.start))
      element.add("d", String(row.duration))
      element.add("r", row.count > 1 ? String(row.count - 1) : nil)
      timeline.add(element)
    }
    return timeline
  }
}
