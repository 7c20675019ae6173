// SPDX-License-Identifier: MPL-2.0

/// The properties of a track except its samples, as read from a movie or to be written to one.
public struct TrackDescription: Equatable, Sendable {
  /// The sample entry; in a track to be written, that of all samples.
  public var sampleEntry: SampleEntry
  /// Timescale of the media in units per second; above 0.
  public var timescale: UInt32
  /// Three lower-case letters of ISO 639-2; `und` for anything else (`mdhd`).
  public var language: String
  /// A BCP 47 tag, if it is more specific than `language` (`elng`).
  public var languageTag: String?
  /// Rotation and mirroring to apply before display.
  public var orientation = PictureOrientation.upright
  /// The items of the track's own `meta` and `udta`.
  public var metadata: [MetadataItem] = []
  /// The boxes of the track's `udta`, such as its `name`. In a track to be written, without the
  /// boxes that ``metadata`` is written as.
  public var userData: [OpaqueBox] = []
  /// Tracks with the same nonzero group number are alternatives to each other.
  public var alternateGroup: UInt16 = 0
  /// Whether the track is played by default.
  public var isEnabled = true
  /// References to other tracks (`tref`), by the IDs that `addTrack` returns.
  public var references: [TrackReference] = []
  /// The media header box, if it is not the default one for the media type: `gmhd`, `sthd`.
  public var mediaHeader: OpaqueBox?
  /// Spherical Video V1 metadata, for programs that support nothing newer.
  public var sphericalVideoV1: SphericalVideoV1?
  /// How the samples of a track to be written in fragments are encrypted; nil if they are not.
  public var protection: TrackProtection?
  /// A human-readable name for `hdlr`.
  public var handlerName: String?

  /// Creates a description; `timescale` is in units per second, `language` is an ISO 639-2 code.
  public init(_ sampleEntry: SampleEntry, timescale: UInt32, language: String = "und") {
    self.sampleEntry = sampleEntry
    self.timescale = timescale
    self.language = language
  }
}

/// The ID of a track in its file, from 1 (`tkhd`).
public struct TrackID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number itself.
  public let rawValue: UInt32

  /// Creates an ID; 0 is invalid in files.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The ID for error messages: `track 1`.
  public var description: String { "track \(rawValue)" }

  /// Returns the index of the track among the `count` tracks of a movie being written.
  func index(in count: Int) throws(MovieWriterError) -> Int {
    guard let number = Int(exactly: rawValue), number >= 1, number <= count else {
      throw .unknownTrack(self)
    }
    return number - 1
  }
}

extension TrackDescription {
  /// Replaces the sample entry by one of the same media type.
  mutating func replaceSampleEntry(
    by entry: SampleEntry, of track: TrackID
  ) throws(MovieWriterError) {
    guard sampleEntry.hasSameMediaType(of: entry) else { throw .mediaTypeChanged(track) }
    sampleEntry = entry
  }
}

/// A reference from one track to another: an entry of `tref` (ISO/IEC 14496-12 8.3.3).
public struct TrackReference: Equatable, Sendable {
  /// The kind of reference: `cdsc` if this track describes the other, `chap` if the other has its
  /// chapters, `tmcd` if the other has its time code, and so on.
  public var type: FourCC
  /// The track referred to.
  public var track: TrackID

  /// Creates a reference to `track`.
  public init(type: FourCC, track: TrackID) {
    self.type = type
    self.track = track
  }
}

/// The position of a track on the movie's time line.
struct TrackTiming {
  /// Duration of the empty edit, in units of the movie's timescale.
  var emptyDuration: UInt64
  var editDuration: UInt64
  /// Media time of the edit, in units of the track's timescale.
  var mediaTime: UInt64
  /// Offset to subtract from each composition offset, so that the first picture is at 0.
  var compositionShift: Int64
  /// Whether an edit list is needed.
  var hasEdits = true

  /// Creates the timing of a track whose samples are in fragments, which are still to come.
  ///
  /// - Parameter mediaTime: start of the edit, in units of the track's timescale.
  init(fragmentedFrom mediaTime: Int64) {
    (emptyDuration, editDuration, compositionShift) = (0, 0, 0)
    self.mediaTime = UInt64(clamping: mediaTime)
    hasEdits = mediaTime > 0
  }

  init(_ tables: TrackTables, timescale: UInt32, movieTimescale: UInt32) {
    let start = max(0, tables.presentationStart)
    compositionShift = tables.presentationStart - tables.firstDecodeTime
    mediaTime = UInt64(clamping: start - tables.presentationStart)
    emptyDuration = rescale(
      UInt64(clamping: start), from: timescale, to: movieTimescale, .toNearestOrAwayFromZero)
    // Rounded up: readers drop a last frame that is not completely inside.
    editDuration = rescale(
      UInt64(clamping: tables.presentationEnd - start), from: timescale, to: movieTimescale, .up)
    // Readers would drop samples that last no time, which are never inside an edit.
    let length = tables.presentationEnd - tables.presentationStart
    if length < Int64(tables.sampleCount), emptyDuration == 0, mediaTime == 0 { hasEdits = false }
  }

  var duration: UInt64 {
    let (sum, overflow) = emptyDuration.addingReportingOverflow(editDuration)
    return overflow ? .max : sum
  }
}

/// Converts a time to another timescale; returns the largest value if it does not fit.
func rescale(
  _ time: UInt64, from timescale: UInt32, to newTimescale: UInt32,
  _ rounding: FloatingPointRoundingRule
) -> UInt64 {
  let product = time.multipliedFullWidth(by: UInt64(newTimescale))
  guard timescale > 0, product.high < UInt64(timescale) else { return .max }
  let (quotient, remainder) = UInt64(timescale).dividingFullWidth(product)
  let roundsUp = rounding == .up ? remainder > 0 : remainder * 2 >= UInt64(timescale)
  return roundsUp && quotient < .max ? quotient + 1 : quotient
}

/// Converts between nanoseconds and the units of a track's timescale.
public struct TrackClock: Sendable {
  /// Timescale in units per second; above 0.
  public let timescale: UInt32

  /// Creates a clock; a timescale of 0 counts as 1.
  public init(timescale: UInt32) {
    self.timescale = max(timescale, 1)
  }

  /// Creates a clock in which every frame of a constant rate lasts a whole number of units; 90,000
  /// units per second for variable rates.
  public init(framesPerSecond numerator: Int32, _ denominator: Int32) {
    guard numerator > 0, denominator > 0, var units = UInt32(exactly: numerator) else {
      self.init(timescale: 90_000)
      return
    }
    while units < 10_000 { units *= 10 }
    self.init(timescale: units)
  }

  /// Converts nanoseconds to the nearest number of units; saturates.
  public func units(_ nanoseconds: Int64) -> Int64 {
    let second: UInt64 = 1_000_000_000
    let product = nanoseconds.magnitude.multipliedFullWidth(by: UInt64(timescale))
    guard product.high < second else { return nanoseconds < 0 ? -.max : .max }
    let (quotient, remainder) = second.dividingFullWidth(product)
    let rounded = Int64(clamping: quotient).addingReportingOverflow(remainder >= second / 2 ? 1 : 0)
    let result = rounded.overflow ? .max : rounded.partialValue
    return nanoseconds < 0 ? -result : result
  }

  /// Converts units to the nearest number of nanoseconds; saturates.
  public func nanoseconds(_ units: UInt64) -> UInt64 {
    let product = units.multipliedFullWidth(by: 1_000_000_000)
    guard product.high < UInt64(timescale) else { return .max }
    let (quotient, remainder) = UInt64(timescale).dividingFullWidth(product)
    return remainder >= (UInt64(timescale) + 1) / 2 && quotient < .max ? quotient + 1 : quotient
  }
}
