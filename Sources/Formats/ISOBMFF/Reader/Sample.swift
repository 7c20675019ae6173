// SPDX-License-Identifier: MPL-2.0

/// Where one sample of a track lies, when it plays and what it is.
public struct SampleRecord: Equatable, Sendable {
  /// In bytes from the file's start. It may lie beyond the file's end: check before reading.
  public var offset: UInt64
  /// In bytes.
  public var size: UInt32
  /// In units of the track's timescale, on the media's own time line (before edit lists).
  public var decodeTime: Int64
  /// In units of the track's timescale, on the media's own time line (before edit lists).
  public var presentationTime: Int64
  /// In units of the track's timescale.
  public var duration: UInt32
  /// Decoding can start here.
  public var isSync: Bool
  /// What the sample needs and who needs it, as far as the file says so.
  public var dependency: SampleDependency
  /// Into the track's sample entries, from 0 on; it may lie beyond them in a broken file.
  public var sampleEntryIndex: Int

  public init(
    offset: UInt64, size: UInt32, decodeTime: Int64, presentationTime: Int64, duration: UInt32,
    isSync: Bool, dependency: SampleDependency = SampleDependency(), sampleEntryIndex: Int = 0
  ) {
    self.offset = offset
    self.size = size
    self.decodeTime = decodeTime
    self.presentationTime = presentationTime
    self.duration = duration
    self.isSync = isSync
    self.dependency = dependency
    self.sampleEntryIndex = sampleEntryIndex
  }
}

/// Equal samples one behind the other in the file, such as the frames of PCM audio.
public struct SampleRun: Equatable, Sendable {
  public var first: SampleRecord
  /// How many samples there are, the first included.
  public var count: Int
}

/// What a sample needs, and who needs it: one byte of `sdtp` (ISO/IEC 14496-12 8.6.4).
public struct SampleDependency: RawRepresentable, Hashable, Sendable {
  /// is_leading, sample_depends_on, sample_is_depended_on and sample_has_redundancy, two bits
  /// each from the top; 0 is not known.
  public var rawValue: UInt8

  public init(rawValue: UInt8 = 0) {
    self.rawValue = rawValue
  }

  /// Needs no other sample (an intra picture): 0x20.
  public static let independent = SampleDependency(rawValue: 0x20)
  /// Needs others: 0x10.
  public static let dependent = SampleDependency(rawValue: 0x10)
  /// Needs others, and none needs it: 0x18.
  public static let disposable = SampleDependency(rawValue: 0x18)

  /// Whether other samples need this one; nil is not known.
  public var isDependedOn: Bool? {
    switch rawValue >> 2 & 3 {
    case 1: true
    case 2: false
    default: nil
    }
  }
}

/// Bounds what the sample tables of a file can make a reader do by the size of the file.
///
/// A few bytes of a table can say that there are four billion samples, or put any number of them
/// at the same bytes. Real files now and then share bytes between samples, but have neither more
/// samples than bytes nor many times their own size of sample data.
public struct SampleBudget: Sendable {
  /// How often the bytes of a file may be read as samples, on average.
  public static let maximumOverlap: UInt64 = 16

  /// Reads that have been counted: a sample each, or a run of equal ones.
  public private(set) var readCount: UInt64 = 0
  /// The bytes of all of them.
  public private(set) var byteCount: UInt64 = 0

  public init() {}

  /// Counts samples that are read together.
  ///
  /// - Parameters:
  ///   - size: the bytes of all of them.
  ///   - record: the first of them.
  ///   - track: their track, by its place in the movie.
  ///   - fileSize: in bytes; of a stream, what has come of it so far.
  /// - Throws: an ``ISOBMFFError`` where these are more samples, with all those before, than a file
  ///   of this size has.
  public mutating func count(
    _ size: UInt64, at record: SampleRecord, ofTrack track: Int, fileSize: UInt64
  ) throws(ISOBMFFError) {
    readCount = saturating(readCount, 1)
    byteCount = saturating(byteCount, size)
    let limit = fileSize.multipliedReportingOverflow(by: Self.maximumOverlap)
    guard readCount <= fileSize, limit.overflow || byteCount <= limit.partialValue else {
      throw ISOBMFFError(
        path: "moov/trak[\(track)]", offset: record.offset,
        reason: "with this one \(readCount) samples of \(byteCount) bytes have been read from a "
          + "file of \(fileSize) bytes; its sample tables point at the same bytes again and again")
    }
  }

  private func saturating(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }
}
