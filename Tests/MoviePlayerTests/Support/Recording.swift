// SPDX-License-Identifier: MPL-2.0

import MoviePlayer
import StereoVideo

/// What a player gave, in forms that can be compared.
struct Recording {
  struct Played {
    let name: String
    /// What it was said to be last.
    var format: StreamFormat?
    var samples: [Sample] = []
    var segments: [PlaybackSegment] = []
    var gaps: [Range<ClockTime>] = []
    var formatCount = 0
    var hasEnded = false
    /// Everything in order.
    var lines: [String] = []
  }

  private(set) var streams: [Played] = []
  private(set) var descriptions: [PlayerStream] = []
  private(set) var warnings: [PlayerWarning] = []
  private(set) var statusChanges = 0
  /// Outputs of a stream before its segment or after its end.
  private(set) var disorder: [String] = []
  var end: PlayerEnd?

  init() {}

  /// Continues another recording, with its streams.
  init(after other: Recording) {
    descriptions = other.descriptions
    streams = other.streams.map { Played(name: $0.name, format: $0.format) }
  }

  subscript(_ name: String) -> Played {
    streams.first { $0.name == name } ?? Played(name: "no \(name)")
  }

  var names: [String] { streams.map(\.name) }

  mutating func add(_ output: PlayerOutput) {
    switch output {
    case .streams(let found):
      descriptions = found
      streams = found.map { Played(name: Self.name($0), format: $0.format) }
    case .format(let id, let format):
      streams[id.rawValue].format = format
      streams[id.rawValue].formatCount += 1
      streams[id.rawValue].lines.append("format")
    case .segment(let id, let start):
      streams[id.rawValue].segments.append(start.segment)
      streams[id.rawValue].lines.append(
        "segment \(start.segment) \(start.followsAnother) \(start.isEmpty)")
    case .sample(let id, let sample):
      check(id, "a sample")
      streams[id.rawValue].samples.append(sample)
      streams[id.rawValue].lines.append(sample.line)
    case .gap(let id, let start, let duration):
      check(id, "a gap")
      streams[id.rawValue].gaps.append(start..<start + duration)
      streams[id.rawValue].lines.append("gap \(start) \(duration)")
    case .endOfStream(let id):
      check(id, "an end")
      streams[id.rawValue].hasEnded = true
      streams[id.rawValue].lines.append("end")
    case .statusChanged: statusChanges += 1
    case .warning(let warning): warnings.append(warning)
    }
  }

  private mutating func check(_ id: StreamID, _ what: String) {
    let stream = streams[id.rawValue]
    if stream.segments.isEmpty { disorder.append("\(what) of \(stream.name) before its segment") }
    if stream.hasEnded { disorder.append("\(what) of \(stream.name) after its end") }
  }

  private static func name(_ stream: PlayerStream) -> String {
    switch (stream.role, stream.kind) {
    case (.eye(let eye), _): eye.rawValue
    case (.samples, .video): "video_\(stream.number)"
    case (.samples, .audio): "audio_\(stream.number)"
    case (.samples, .other): "meta_\(stream.number)"
    }
  }
}

extension Recording.Played {
  /// The times at which samples are shown, on the movie's time line.
  var streamTimes: [ClockTime] {
    guard let segment = segments.last else { return [] }
    return samples.compactMap { $0.presentationTime.map { segment.streamTime(of: $0) } }
  }

  /// The samples that are to be shown.
  var shown: [Sample] { samples.filter { !$0.flags.contains(.decodeOnly) } }

  var contents: [[UInt8]] { samples.map(\.data.bytes) }
}

extension Sample {
  var line: String {
    func text(_ time: ClockTime?) -> String { time.map { "\($0.nanoseconds)" } ?? "none" }
    let bytes = data.bytes
    let hash = bytes.reduce(UInt64(14_695_981_039_346_656_037)) {
      ($0 ^ UInt64($1)) &* 1_099_511_628_211
    }
    return "\(text(presentationTime)) \(text(decodeTime)) \(text(duration)) \(flags.rawValue) "
      + "\(bytes.count) \(hash)"
  }
}
