// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

/// The format and the key of a rendition's open segment: how samples become fragments.
struct RenditionFormat<Payload: Sendable>: Sendable {
  /// The rendition, with its key.
  var rendition: Rendition
  let clock: TrackClock
  let id: TrackID
  var writer: FragmentWriter
  /// Nil until it is written.
  var initialization: InitializationSection?
  let key: SegmentKey<Payload>
  private var encryptor: (any SampleEncrypting<Payload>)?

  /// Creates a format that has no fragment yet.
  ///
  /// - Parameters:
  ///   - key: The key of all samples but those of subtitles, which stay clear.
  ///   - firstNumber: The number of the first fragment.
  init(_ rendition: Rendition, _ key: SegmentKey<Payload>, firstNumber: UInt32) throws {
    (self.rendition, self.key) = (rendition, key)
    encryptor = rendition.subtitles == nil ? try key.encryption?.encryptor(of: rendition) : nil
    self.rendition.key = encryptor?.key
    clock = TrackClock(timescale: rendition.track.timescale)
    writer = FragmentWriter(
      format: .cmaf, firstSequenceNumber: firstNumber, hasRandomAccessIndex: false)
    writer.protectionSystems = self.rendition.key?.boxes ?? []
    id = try writer.addTrack(self.rendition.track)
  }

  /// Appends a sample to the open fragment.
  ///
  /// - Returns: its bytes as files have them, and what is wrong with it, if anything.
  mutating func append(
    _ sample: PackagedSample<Payload>
  ) throws -> (payload: Payload, problem: String?) {
    var description = sample.description(clock)
    guard let encrypted = try encryptor?.encrypt(sample.payload) else {
      try writer.append(description, to: id)
      return (sample.payload, nil)
    }
    description.subsamples = encrypted.subsamples
    try writer.append(description, to: id)
    return (encrypted.payload, encrypted.problem)
  }
}

/// The key of a segment.
struct SegmentKey<Payload: Sendable>: Sendable {
  /// Counts the keys of a run.
  let number: Int
  /// Nil if the segment is not encrypted.
  let encryption: (any ContentEncrypting<Payload>)?
}
