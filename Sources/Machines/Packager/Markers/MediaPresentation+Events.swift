// SPDX-License-Identifier: MPL-2.0

extension MediaPresentation {
  /// A message of SCTE 35 to players, at a time.
  public struct Event: Equatable, Sendable {
    /// Start in nanoseconds on the timeline of the segments.
    public var start: UInt64
    /// In nanoseconds; nil if unknown.
    public var duration: UInt64?
    /// A `splice_info_section`.
    public var message: [UInt8]

    /// Creates an event.
    public init(start: UInt64, duration: UInt64?, message: [UInt8]) {
      (self.start, self.duration, self.message) = (start, duration, message)
    }
  }
}

extension MediaPresentation.Period {
  /// Returns the messages as an `EventStream` (ISO/IEC 23009-1 5.10.2; SCTE 214-1 6.7.4), with
  /// times in milliseconds; nil if there are none.
  ///
  /// - Parameter start: Media time at which the period starts, in nanoseconds.
  static func stream(
    of events: [MediaPresentation.Event], from start: UInt64
  ) -> ManifestElement? {
    guard !events.isEmpty else { return nil }
    var stream = ManifestElement("EventStream")
    stream.add("schemeIdUri", "urn:scte:scte35:2014:xml+bin")
    stream.add("timescale", "1000")
    for event in events.sorted(by: { $0.start < $1.start }) {
      var element = ManifestElement("Event")
      // Events that began before the period have begun with it.
      let time = event.start - min(start, event.start)
      element.add("presentationTime", String(time / 1_000_000))
      element.add("duration", event.duration.map { String($0 / 1_000_000) })
      // Players leave out a message whose number they have had.
      element.add("id", String(eventNumber(event.message, at: Int64(clamping: event.start))))
      var signal = ManifestElement("Signal")
      signal.add("xmlns", "http://www.scte.org/schemas/35/2016")
      signal.add(ManifestElement("Binary", text: event.message.base64))
      element.add(signal)
      stream.add(element)
    }
    return stream
  }
}
