// SPDX-License-Identifier: MPL-2.0

/// The position, times and properties of one sample.
public struct SampleRecord: Equatable, Sendable {
  /// Offset in the file, in bytes. It may be past the end of the file: check before reading.
  public var offset: UInt64
  /// Size in bytes.
  public var size: UInt32
  /// Decode time in units of the track's timescale, on the media time line (before edit lists).
  public var decodeTime: Int64
  /// Presentation time in units of the track's timescale, on the media time line (before edit
  /// lists).
  public var presentationTime: Int64
  /// Duration in units of the track's timescale.
  public var duration: UInt32
  /// Whether this is a sync sample.
  public var isSync: Bool
  /// Dependencies between this sample and others, as far as the file states them.
  public var dependency: SampleDependency
  /// Index into the track's sample entries, from 0; out of range in a broken file.
  public var sampleEntryIndex: Int

  /// Creates a record; times are in units of the track's timescale.
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

/// Consecutive samples with equal properties that are contiguous in the file, such as PCM frames.
public struct SampleRun: Equatable, Sendable {
  /// The first sample.
  public var first: SampleRecord
  /// Number of samples, including the first.
  public var count: Int
}

/// The dependencies of a sample: one byte of `sdtp` (ISO/IEC 14496-12 8.6.4).
public struct SampleDependency: RawRepresentable, Hashable, Sendable {
  /// is_leading, sample_depends_on, sample_is_depended_on and sample_has_redundancy, two bits each
  /// from the top; 0 means unknown.
  public var rawValue: UInt8

  /// Creates a value from the `sdtp` byte.
  public init(rawValue: UInt8 = 0) {
    self.rawValue = rawValue
  }

  /// Depends on no other sample (an intra picture): 0x20.
  public static let independent = SampleDependency(rawValue: 0x20)
  /// Depends on others: 0x10.
  public static let dependent = SampleDependency(rawValue: 0x10)
  /// Depends on others, and no other depends on it: 0x18.
  public static let disposable = SampleDependency(rawValue: 0x18)

  /// Whether other samples depend on this one; nil if unknown.
  public var isDependedOn: Bool? {
    switch rawValue >> 2 & 3 {
    case 1: true
    case 2: false
    default: nil
    }
  }
}

/// A limit, proportional to the file size, on the work that a file's sample tables can cause.
///
/// A few bytes of a table can declare four billion samples, or place any number of them at the same
/// bytes. Real files occasionally share bytes between samples, but they have neither more samples
/// than bytes nor sample data of many times their own size.
public struct SampleBudget: Sendable {
  /// How many times the bytes of a file may be read as samples, on average.
  public static let maximumOverlap: UInt64 = 16

  /// Number of reads so far: one per sample, or per run of equal samples.
  public private(set) var readCount: UInt64 = 0
  /// Total size of the samples read, in bytes.
  public private(set) var byteCount: UInt64 = 0

  /// Creates an unused budget.
  public init() {}

  /// Counts samples that are read together.
  ///
  /// - Parameters:
  ///   - size: their total size in bytes.
  ///   - record: the first sample.
  ///   - track: index of their track in the movie.
  ///   - fileSize: size of the file in bytes; for a stream, of the part received so far.
  /// - Throws: ``ISOBMFFError`` if the samples counted so far are more than a file of this size can
  ///   have.
  public mutating func count(
    _ size: UInt64, at record: SampleRecord, ofTrack track: Int, fileSize: UInt64
  ) throws(ISOBMFFError) {
    readCount = saturating(readCount, 1)
    byteCount = saturating(byteCount, size)
    let limit = fileSize.multipliedReportingOverflow(by: Self.maximumOverlap)
    guard readCount <= fileSize, limit.overflow || byteCount <= limit.partialValue else {
      throw ISOBMFFError(
        path: "moov/trak[\(track)]", offset: record.offset,
        reason: "\(readCount) samples of \(byteCount) bytes have been read from a "
          + "file of \(fileSize) bytes; its sample tables refer to the same bytes repeatedly")
    }
  }

  private func saturating(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }
}
