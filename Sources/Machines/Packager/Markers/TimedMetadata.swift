// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

/// Metadata for players at a time, in boxes `emsg` of the segments: an ID3 tag
/// (https://aomediacodec.github.io/id3-emsg/).
public struct TimedMetadata: Equatable, Sendable {
  /// How players know ID3 tags.
  static let scheme = "https://aomedia.org/emsg/ID3"

  /// Presentation time in nanoseconds.
  public var time: Int64
  /// An ID3v2 tag.
  public var tag: [UInt8]

  /// Creates metadata.
  public init(time: Int64, tag: [UInt8]) { (self.time, self.tag) = (time, tag) }
}

extension Packager {
  /// Maximum size of the tags that wait for their time, in bytes.
  private static var limit: Int { 1 << 20 }

  /// Adds an ID3 tag. It is written into all video renditions, or into audio if there is no video:
  /// with the samples of its time, or with the next ones if these have been written.
  ///
  /// - Returns: Whether it is; false if too many wait for their time.
  public mutating func append(_ metadata: TimedMetadata) -> Bool {
    let waiting = tracks.map(\.metadata).max { $0.count < $1.count } ?? []
    let size = (waiting + earlyMetadata).reduce(metadata.tag.count) { $0 + $1.tag.count }
    guard size <= Self.limit else { return false }
    earlyMetadata.append(metadata)
    if isAligned { distributeMetadata() }
    return true
  }

  /// Gives tags to the renditions, whose times are known from the first sample on.
  mutating func distributeMetadata() {
    let moved = earlyMetadata.map { TimedMetadata(time: $0.time &+ offset, tag: $0.tag) }
    earlyMetadata = []
    let hasVideo = tracks.contains { $0.rendition.isVideo }
    for index in tracks.indices {
      let rendition = tracks[index].rendition
      guard rendition.isVideo || !hasVideo && rendition.subtitles == nil else { continue }
      tracks[index].metadata += moved
    }
  }
}

extension RenditionTrack {
  /// Returns the messages for samples up to a time, and removes them.
  mutating func takeMessages(before end: Int64) -> [EventMessage] {
    guard !metadata.isEmpty else { return [] }
    let due = metadata.filter { $0.time < end }
    metadata.removeAll { $0.time < end }
    if !due.isEmpty { hasMetadata = true }
    return due.map {
      let time = UInt64(clamping: clock.units($0.time))
      return EventMessage(
        scheme: TimedMetadata.scheme, timescale: rendition.track.timescale, time: time,
        id: eventNumber($0.tag, at: $0.time), data: $0.tag)
    }
  }
}

/// Returns a number by which players tell messages apart: the same in each update of a manifest, in
/// each rendition and after a restart, and another one for another message at the same time
/// (FNV-1a).
///
/// - Parameter time: In nanoseconds on the timeline of the files.
func eventNumber(_ content: [UInt8], at time: Int64) -> UInt32 {
  let bytes = content + stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: time >> $0) }
  return bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
}
