// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import ISOBMFF
internal import SpatialElements

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

extension StereoMovie {
  /// The title, date, place and so on of a movie.
  public struct Metadata: Equatable, Sendable {
    /// The title.
    public var title: String?
    /// The artist or author.
    public var artist: String?
    /// A description of the content.
    public var description: String?
    /// The copyright notice.
    public var copyright: String?
    /// The date or time of recording in ISO 8601 format, such as `2026-01-31T09:30:00+0100`, with
    /// as many fields as are known. A movie may contain any text; no other text is written.
    public var date: String?
    /// The place of recording.
    public var place: Place?

    /// A place on Earth, in WGS 84.
    public struct Place: Equatable, Sendable {
      /// In degrees, -90 to 90; north is positive.
      public var latitude: Double
      /// In degrees, -180 to 180; east is positive.
      public var longitude: Double
      /// Height above sea level in metres, above -100,000,000 and below 100,000,000; nil if it is
      /// unknown.
      public var altitude: Double?

      /// Creates a place, whose numbers are checked when it is written.
      public init(latitude: Double, longitude: Double, altitude: Double? = nil) {
        (self.latitude, self.longitude, self.altitude) = (latitude, longitude, altitude)
      }
    }

    /// Creates metadata that say nothing.
    public init() {}
  }
}

extension StereoMovie.Metadata {
  /// Reads a movie's metadata.
  init(_ movie: Movie) {
    title = MetadataTags.text(Tag.title, of: movie)
    artist = MetadataTags.text(Tag.artist, of: movie)
    description = MetadataTags.text(Tag.description, of: movie)
    copyright = MetadataTags.text(Tag.copyright, of: movie)
    date = MetadataTags.text(Tag.dateTime, of: movie) ?? Self.date(movie.creationTime)
    place = MetadataTags.text(Tag.geoLocationLatitude, of: movie)
      .flatMap { GeographicLocation(iso6709: $0) }
      .map { Place(latitude: $0.latitude, longitude: $0.longitude, altitude: $0.altitude) }
  }

  /// Returns a time of a movie's header, in seconds since 1904, in ISO 8601 format; nil for 0, for
  /// times before 1970, which devices write whose clock is not set, and after the year 9999.
  private static func date(_ seconds: UInt64) -> String? {
    var time = time_t(clamping: Int64(clamping: seconds) - 2_082_844_800)
    var parts = tm()
    guard (0...253_402_300_799).contains(time), gmtime_r(&time, &parts) != nil else { return nil }
    func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday].map(digits)
    let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(digits)
    return day.joined(separator: "-") + "T" + clock.joined(separator: ":") + "Z"
  }

  /// The fields that can be written; files may contain any date.
  var writable: Self {
    var result = self
    result.date = date.flatMap { DateTime($0)?.text }
    return result
  }

  /// Throws if a field cannot be written.
  func check() throws(StereoMediaError) {
    for text in [title, artist, description, copyright].compactMap(\.self) {
      guard !text.utf8.contains(0) else {
        throw StereoMediaError(.outOfRange, "metadata cannot contain NUL characters")
      }
    }
    if let date, DateTime(date) == nil {
      throw StereoMediaError(
        .outOfRange, "'\(date)' is not a date in ISO 8601 format",
        hint: "write it like 2026-01-31T09:30:00+0100 or 2026-01-31")
    }
    if let place, GeographicLocation(place) == nil {
      throw StereoMediaError(
        .outOfRange,
        "there is no place of latitude \(place.latitude), longitude \(place.longitude) and "
          + "altitude \(place.altitude ?? 0)")
    }
  }

  /// The fields as tags of a whole file; nil if there are none.
  var tags: TagList? {
    guard self != Self() else { return nil }
    let tags = TagList()
    tags.isGlobal = true
    let texts = [
      (Tag.title, title), (Tag.artist, artist), (Tag.description, description),
      (Tag.copyright, copyright),
    ]
    for case (let tag, let text?) in texts { tags.set(tag, .string(text)) }
    if let date = date.flatMap({ DateTime($0) }) { tags.set(Tag.dateTime, date) }
    if let place {
      tags.set(Tag.geoLocationLatitude, .double(place.latitude))
      tags.set(Tag.geoLocationLongitude, .double(place.longitude))
      if let altitude = place.altitude { tags.set(Tag.geoLocationElevation, .double(altitude)) }
    }
    return tags
  }

  /// Returns the metadata with the fields of `other` in place of those that are nil.
  func fillingGaps(from other: Self) -> Self {
    var result = self
    result.title = title ?? other.title
    result.artist = artist ?? other.artist
    result.description = description ?? other.description
    result.copyright = copyright ?? other.copyright
    result.date = date ?? other.date
    result.place = place ?? other.place
    return result
  }
}

extension GeographicLocation {
  fileprivate init?(_ place: StereoMovie.Metadata.Place) {
    self.init(
      latitude: place.latitude, longitude: place.longitude, altitude: place.altitude)
  }
}
