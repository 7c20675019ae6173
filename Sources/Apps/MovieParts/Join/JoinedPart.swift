// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import ISOBMFF
internal import StereoMedia

/// The file of a part that is read sample by sample, in decoding order.
struct JoinedPart {
  /// A sample and its place among the pictures of the part.
  struct Sample {
    let offset: UInt64
    let size: Int
    /// The number of the picture in the order in which pictures are shown, from 0.
    let picture: Int
    let isSync: Bool
    let isDroppable: Bool
  }

  let samples: [Sample]
  /// How many pictures are decoded before one that is shown before them, at most.
  let reorderDepth: Int
  /// The boxes that describe the samples.
  let entry: SampleEntry
  /// The duration of the picture that is shown last.
  let lastDuration: ClockTime
  let file: OpenedFile
  private let path: String

  /// Opens a part and checks its pictures.
  ///
  /// - Parameter times: the plan's times of its pictures.
  /// - Throws: a ``PartError`` if the file is not the part of the plan.
  init(_ path: String, times: ArraySlice<UInt64>) throws {
    let reader = try MovieReader(path: path)
    guard let track = reader.movie.tracks.first(where: { $0.handlerType == "vide" }),
      let entry = track.sampleEntries.first, track.sampleEntries.count == 1
    else { throw Self.damaged(path, "it has no video, or more than one description of it") }
    guard track.samples.count == times.count else {
      throw Self.damaged(path, "it has \(track.samples.count) pictures, not \(times.count)")
    }
    let records = (0..<times.count).compactMap { track.samples.sample(at: $0) }
    guard records.count == times.count else { throw Self.damaged(path, "its index is incomplete") }
    let order = records.indices.sorted {
      (records[$0].presentationTime, $0) < (records[$1].presentationTime, $1)
    }
    try Self.check(order.map { records[$0] }, timescale: track.timescale, times, path)
    var pictures = [Int](repeating: 0, count: records.count)
    for (picture, sample) in order.enumerated() { pictures[sample] = picture }
    samples = try records.enumerated().map { index, record in
      let (end, overflow) = record.offset.addingReportingOverflow(UInt64(record.size))
      guard !overflow, end <= reader.size else { throw Self.damaged(path, "it is cut off") }
      return Sample(
        offset: record.offset, size: Int(record.size), picture: pictures[index],
        isSync: record.isSync, isDroppable: record.dependency.isDependedOn == false)
    }
    reorderDepth = samples.enumerated().reduce(0) { max($0, $1.offset - $1.element.picture) }
    self.entry = entry
    lastDuration = ClockTime(
      order.last.map { records[$0].duration } ?? 0, perSecond: track.timescale)
    self.path = path
    guard let file = OpenedFile(path) else {
      throw Self.damaged(path, String(cString: strerror(errno)))
    }
    self.file = file
  }

  /// Throws if the pictures are not as far apart as in the plan, up to the rounding to the units of
  /// the track.
  private static func check(
    _ shown: [SampleRecord], timescale: UInt32, _ times: ArraySlice<UInt64>, _ path: String
  ) throws {
    guard let first = shown.first, let start = times.first else { return }
    let unit = 1_000_000_000 / Double(max(1, timescale))
    for (record, time) in zip(shown, times) {
      let (units, overflow) = record.presentationTime.subtractingReportingOverflow(
        first.presentationTime)
      let isNear = abs(Double(units) * unit - Double(time - start)) <= 2 * unit + 100_000
      guard !overflow, isNear else {
        throw Self.damaged(path, "a picture has another time than in the plan")
      }
    }
  }

  /// Reads a sample.
  func read(_ sample: Sample) throws -> UniqueBuffer {
    var isComplete = true
    let buffer = UniqueBuffer(size: sample.size) { bytes in
      var count = 0
      while count < bytes.count {
        let part = pread(
          file.descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count,
          off_t(clamping: sample.offset) + off_t(count))
        if part < 0, errno == EINTR { continue }
        guard part > 0 else {
          isComplete = false
          return
        }
        count += part
      }
    }
    guard isComplete, let buffer else { throw Self.damaged(path, "it cannot be read to its end") }
    return buffer
  }

  private static func damaged(_ path: String, _ reason: String) -> PartError {
    PartError(.repeatable, "'\(path)' is not the part of the plan: \(reason)")
  }
}
