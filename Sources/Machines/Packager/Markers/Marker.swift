// SPDX-License-Identifier: MPL-2.0

/// A point of a programme at which others may take over, such as the start of advertisements, or
/// another message of SCTE 35 to whoever distributes the stream.
public struct Marker: Equatable, Sendable {
  /// The meaning of the point.
  public enum Role: Equatable, Sendable {
    /// The programme may be replaced from here on.
    case out
    /// The programme continues.
    case `in`
    /// Anything else.
    case other
  }

  /// The same for a start and its end, such as the number of the event.
  public var id: String
  /// Presentation time in nanoseconds.
  public var time: Int64
  /// The meaning.
  public var role: Role
  /// The planned duration in nanoseconds; nil if unknown.
  public var duration: UInt64?
  /// Whether the programme continues after the duration without another marker.
  public var returnsByItself = false
  /// The message: a `splice_info_section` (SCTE 35 9.6); it may be empty.
  public var message: [UInt8]

  /// Creates a marker of unknown duration.
  public init(id: String, time: Int64, role: Role, message: [UInt8] = []) {
    (self.id, self.time, self.role, self.message) = (id, time, role, message)
  }

  /// The end in nanoseconds; nil if unknown.
  var end: Int64? { duration.map { time &+ Int64(clamping: $0) } }
}

/// The tags of a marker in a media playlist, at a place of the stream.
struct MarkerTag: Sendable {
  enum Kind: Sendable {
    /// `EXT-X-DATERANGE`, with the marker that started the range if this ends it.
    case range(Marker, started: Marker?)
    /// `EXT-X-CUE-OUT`, with the planned duration in nanoseconds.
    case cueOut(UInt64?)
    /// `EXT-X-CUE-IN`.
    case cueIn
  }

  /// Presentation time in nanoseconds, as in the files.
  var place: Int64
  var kind: Kind

  /// Ranges without an end are listed for a day.
  private static let longest: Int64 = 86_400_000_000_000

  /// The tag of a range (draft-pantos-hls-rfc8216bis 4.4.5.1).
  ///
  /// - Parameter date: Wall-clock time of time 0 of markers, in nanoseconds since 1970.
  func range(date: Int64) -> DateRange? {
    guard case .range(let marker, let started) = kind else { return nil }
    let first = started ?? marker
    var attributes = AttributeList()
    attributes.add("ID", quoted: first.id)
    attributes.add("START-DATE", quoted: UTCTime.text(date &+ first.time))
    var end = first.end ?? (first.role == .out ? first.time &+ Self.longest : first.time)
    if started != nil {
      end = max(marker.time, first.time)
      attributes.add("DURATION", seconds(UInt64(clamping: end &- first.time), decimals: 3))
    } else if let duration = marker.duration {
      attributes.add("PLANNED-DURATION", seconds(duration, decimals: 3))
    }
    let name =
      switch marker.role {
      case .out: "SCTE35-OUT"
      case .in: "SCTE35-IN"
      case .other: "SCTE35-CMD"
      }
    if !marker.message.isEmpty { attributes.add(name, marker.message.hexadecimal) }
    return DateRange(line: "#EXT-X-DATERANGE:\(attributes.text)", end: date &+ end)
  }

  /// The tag of a cue, which some servers read in place of ranges.
  var cue: String? {
    switch kind {
    case .range: nil
    case .cueOut(let duration):
      "#EXT-X-CUE-OUT" + (duration.map { ":\(seconds($0, decimals: 3))" } ?? "")
    case .cueIn: "#EXT-X-CUE-IN"
    }
  }
}

/// A range of time in a playlist (`EXT-X-DATERANGE`), as it is written.
public struct DateRange: Equatable, Sendable {
  /// The tag.
  public var line: String
  /// The wall-clock time in nanoseconds since 1970 up to which it is listed.
  public var end: Int64

  /// Creates a range from its tag.
  public init(line: String, end: Int64) { (self.line, self.end) = (line, end) }

  /// Parses a tag; nil if it has no start.
  init?(parsing line: Substring, attributes: Substring) {
    let values = AttributeList.parse(attributes)
    guard line.utf8.count <= Self.longest,
      let start = values["START-DATE"].flatMap({ UTCTime.nanoseconds($0) })
    else { return nil }
    let duration = (values["DURATION"] ?? values["PLANNED-DURATION"]).flatMap { nanoseconds($0) }
    self.init(line: String(line), end: start &+ Int64(clamping: duration ?? 0))
  }

  /// Maximum length of a tag that is kept, in bytes: a message has 4096 at most.
  private static let longest = 16_384
}
