// SPDX-License-Identifier: MPL-2.0

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
