// SPDX-License-Identifier: MPL-2.0

/// What a track of a movie is, beside its samples: one that was read, or one that is to be written.
public struct TrackDescription: Equatable, Sendable {
  /// What the samples are; in a track that is to be written, all have this entry.
  public var sampleEntry: SampleEntry
  /// Units a second of the media's times; above 0.
  public var timescale: UInt32
  /// Three lower-case letters of ISO 639-2; `und` for anything else (`mdhd`).
  public var language: String
  /// A BCP 47 tag, where it says more than `language` (`elng`).
  public var languageTag: String?
  /// How the picture is turned before it is shown.
  public var orientation = PictureOrientation.upright
  /// The items of the track's own `meta` and `udta`.
  public var metadata: [MetadataItem] = []
  /// The boxes of the track's `udta`, such as its `name`; of one that is to be written, without
  /// those that ``metadata`` becomes.
  public var userData: [OpaqueBox] = []
  /// Tracks of one group, other than 0, are alternatives to each other.
  public var alternateGroup: UInt16 = 0
  /// Meant to be played unless the viewer says otherwise.
  public var isEnabled = true
  /// Tracks that this one refers to, by their numbers, which `addTrack` gives (`tref`).
  public var references: [TrackReference] = []
  /// The box that says what kind of media it is, where it is not the usual one: `gmhd`, `sthd`.
  public var mediaHeader: OpaqueBox?
  /// How the picture surrounds the viewer, for programs that read nothing newer.
  public var sphericalVideoV1: SphericalVideoV1?
  /// A name for people, in `hdlr`.
  public var handlerName: String?

  public init(_ sampleEntry: SampleEntry, timescale: UInt32, language: String = "und") {
    self.sampleEntry = sampleEntry
    self.timescale = timescale
    self.language = language
  }
}

/// The number of a track in its file, from 1 on (`tkhd`).
public struct TrackID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  public var description: String { "track \(rawValue)" }

  /// Where the track stands among the `count` tracks of a movie that is written.
  func index(in count: Int) throws(MovieWriterError) -> Int {
    guard let number = Int(exactly: rawValue), number >= 1, number <= count else {
      throw .unknownTrack(self)
    }
    return number - 1
  }
}

extension TrackDescription {
  /// Takes a sample entry of the same kind in place of the present one.
  mutating func replaceSampleEntry(
    by entry: SampleEntry, of track: TrackID
  ) throws(MovieWriterError) {
    guard sampleEntry.isOfKind(of: entry) else { throw .mediaKindChanged(track) }
    sampleEntry = entry
  }
}

/// That a track needs another one, and for what: an entry of `tref` (ISO/IEC 14496-12 8.3.3).
public struct TrackReference: Equatable, Sendable {
  /// `cdsc` where the track describes the other, `chap` where the other has its chapters, `tmcd`
  /// where the other has its time code, and so on.
  public var type: FourCC
  public var track: TrackID

  public init(type: FourCC, track: TrackID) {
    self.type = type
    self.track = track
  }
}

/// How a track lies on the movie's time line.
struct TrackTiming {
  /// In units of the movie's timescale.
  var emptyDuration: UInt64
  var editDuration: UInt64
  /// In units of the track's timescale: what the edit begins with.
  var mediaTime: UInt64
  /// What has to be taken off each composition offset, so that the first picture is at 0.
  var compositionShift: Int64
  /// Whether there is anything to say in an edit list.
  var hasEdits = true

  /// Of a track whose samples are in fragments, as many as will come.
  ///
  /// - Parameter mediaTime: what it begins with.
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
    // Rounded up: a reader drops a last frame that is not wholly inside.
    editDuration = rescale(
      UInt64(clamping: tables.presentationEnd - start), from: timescale, to: movieTimescale, .up)
  }

  var duration: UInt64 {
    let (sum, overflow) = emptyDuration.addingReportingOverflow(editDuration)
    return overflow ? .max : sum
  }
}

/// A time in another timescale; the largest value where it does not fit.
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

/// Counts nanoseconds in a track's units.
public struct TrackClock: Sendable {
  /// Units a second, above 0.
  public let timescale: UInt32

  public init(timescale: UInt32) {
    self.timescale = max(timescale, 1)
  }

  /// A timescale in which every frame of a constant rate lasts a whole number of units; 90,000
  /// for a rate that varies.
  public init(framesPerSecond numerator: Int32, _ denominator: Int32) {
    guard numerator > 0, denominator > 0, var units = UInt32(exactly: numerator) else {
      self.init(timescale: 90_000)
      return
    }
    while units < 10_000 { units *= 10 }
    self.init(timescale: units)
  }

  /// The nearest number of units; saturated.
  public func units(_ nanoseconds: Int64) -> Int64 {
    let second: UInt64 = 1_000_000_000
    let product = nanoseconds.magnitude.multipliedFullWidth(by: UInt64(timescale))
    guard product.high < second else { return nanoseconds < 0 ? -.max : .max }
    let (quotient, remainder) = second.dividingFullWidth(product)
    let rounded = Int64(clamping: quotient).addingReportingOverflow(remainder >= second / 2 ? 1 : 0)
    let result = rounded.overflow ? .max : rounded.partialValue
    return nanoseconds < 0 ? -result : result
  }

  /// The nearest number of nanoseconds; saturated.
  public func nanoseconds(_ units: UInt64) -> UInt64 {
    let product = units.multipliedFullWidth(by: 1_000_000_000)
    guard product.high < UInt64(timescale) else { return .max }
    let (quotient, remainder) = UInt64(timescale).dividingFullWidth(product)
    return remainder >= (UInt64(timescale) + 1) / 2 && quotient < .max ? quotient + 1 : quotient
  }
}
