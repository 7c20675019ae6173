// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Packager
import StereoVideo

/// The numbers of a channel, as the property `stats` shows them.
struct HLSStatistics: Sendable {
  private struct Rendition {
    var segments: UInt64 = 0
    var gaps: UInt64 = 0
    var bytes: UInt64 = 0
    /// Of the segments without gaps, in nanoseconds.
    var duration: UInt64 = 0
    /// Of the last segment, in bits per second.
    var bitRate: UInt64 = 0
  }

  private var renditions: [String: Rendition] = [:]
  /// The end of the last segment, in running time.
  private var end: RunningTime?
  private var mended: [String: TimestampMender.Counts] = [:]

  /// Notes that a segment is complete.
  mutating func add(_ segment: PackagedSegment) {
    var rendition = renditions[segment.rendition, default: Rendition()]
    if segment.path == nil {
      rendition.gaps += 1
    } else {
      rendition.segments += 1
      rendition.bytes &+= segment.size
      rendition.duration &+= segment.duration
      rendition.bitRate = Self.rate(segment.size, segment.duration)
    }
    renditions[segment.rendition] = rendition
    let end = RunningTime(nanoseconds: segment.start &+ Int64(clamping: segment.duration))
    self.end = max(self.end ?? end, end)
  }

  /// Notes how many timestamps of a pad have been mended so far.
  mutating func setMended(_ counts: TimestampMender.Counts, of pad: String) {
    if counts.total > 0 { mended[pad] = counts }
  }

  /// Returns bits per second.
  private static func rate(_ bytes: UInt64, _ nanoseconds: UInt64) -> UInt64 {
    UInt64(exactly: (Double(bytes) * 8e9 / Double(max(nanoseconds, 1))).rounded()) ?? 0
  }

  /// Returns the fields of the structure.
  ///
  /// - Parameters:
  ///   - now: the current running time; nil without a clock.
  ///   - silentCount: the number of pads that give nothing.
  func fields(now: RunningTime?, silentCount: Int) -> [(key: String, value: Value)] {
    let all = renditions.values
    func sum(_ path: KeyPath<TimestampMender.Counts, UInt64>) -> Value {
      .uint64(mended.values.reduce(0) { $0 &+ $1[keyPath: path] })
    }
    let rows = renditions.sorted { $0.key < $1.key }.map { name, rendition in
      Value.structure(
        name,
        [
          ("segments", .uint64(rendition.segments)), ("gaps", .uint64(rendition.gaps)),
          ("bytes", .uint64(rendition.bytes)), ("bitrate", .uint64(rendition.bitRate)),
          ("average-bitrate", .uint64(Self.rate(rendition.bytes, rendition.duration))),
        ])
    }
    let lag = end.flatMap { end in now.map { ClockTime(clamping: $0 - end) } }
    return [
      ("lag", .uint64(lag?.nanoseconds ?? 0)),
      ("segments", .uint64(all.reduce(0) { $0 &+ $1.segments })),
      ("gaps", .uint64(all.reduce(0) { $0 &+ $1.gaps })),
      ("bytes", .uint64(all.reduce(0) { $0 &+ $1.bytes })),
      ("silent-pads", .uint(UInt32(clamping: silentCount))),
      ("derived-timestamps", sum(\.derived)), ("hurried-pictures", sum(\.hurried)),
      ("dropped-buffers", sum(\.dropped)), ("timestamp-jumps", sum(\.jumps)),
      ("renditions", .array(rows)),
    ]
  }
}

extension MVHEVCHLSSink {
  static let statistics = Property<MVHEVCHLSSink>.structure(
    "stats", nick: "Statistics",
    blurb: "Segments, gaps, bit rates, mended timestamps, and how late the last segment is"
  ) { sink in
    ("application/x-mvhevchlssink-stats", sink.statisticsFields)
  }

  private var statisticsFields: [(key: String, value: Value)] {
    let now = isPlaying ? currentRunningTime.map(RunningTime.init(clamping:)) : nil
    return numbers.current.fields(now: now, silentCount: silence.silentCount)
  }
}
