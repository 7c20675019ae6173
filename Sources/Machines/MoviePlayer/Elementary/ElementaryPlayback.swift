// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo

/// Playback of H.265 without a container, such as the output of an encoder or a transport stream
/// demuxer.
struct ElementaryPlayback: ~Copyable, Sendable {
  /// Bytes per read request.
  private static let readSize: UInt64 = 64 * 1024

  private(set) var streams: [PlayedStream] = []
  /// Presentation time of the last frame.
  private(set) var position: ClockTime = 0
  private var input: ElementaryInput
  private var description: VideoDescription
  /// Frame rate from the options, which overrides the stream's.
  private let givenRate: Ratio?
  private let offersLayers: Bool
  /// Extracts each eye's samples; nil before the first access unit, and if there are no eyes.
  private var eyes: EyeSamples?
  private var eyeFormat: EyeFormat?
  /// The source's segment; nil if it has none.
  private var segment: PlaybackSegment?
  /// Whether the segment still has to be announced.
  private var needsSegment = true
  /// Offset of the next read from a random-access source; nil for a stream.
  private var nextRead: UInt64?
  private var hasEnded = false
  private var hasPlayed = false

  /// Creates the playback of a stream whose chunks are appended.
  init(_ source: ElementaryStreamSource, _ options: PlayerOptions) {
    input = ElementaryInput(source)
    description = VideoDescription(frameRate: options.frameRate ?? source.frameRate)
    givenRate = options.frameRate
    offersLayers = options.offersLayers
  }

  /// Creates the playback of a byte stream in a random-access file.
  init(reading options: PlayerOptions) {
    self.init(ElementaryStreamSource(), options)
    nextRead = 0
  }

  /// Whether a stream starts with a start code and is therefore H.265.
  static func isByteStream(_ start: ByteSlice) -> Bool {
    start.withBytes { $0.starts(with: [0, 0, 0, 1]) || $0.starts(with: [0, 0, 1]) }
  }

  // MARK: The source

  mutating func append(_ slice: ByteSlice, _ times: ChunkTimes) throws(MoviePlayerError) {
    try input.append(slice, times)
  }

  mutating func endInput() {
    guard !hasEnded else { return }
    hasEnded = true
    input.finish()
  }

  /// Sets the segment that the times of the next chunks refer to.
  mutating func begin(_ segment: PlaybackSegment) {
    self.segment = segment
    needsSegment = true
  }

  /// Adds out-of-band parameter sets, valid from now on.
  mutating func add(parameterSets: [[UInt8]]) throws(MoviePlayerError) {
    do {
      try eyes?.add(parameterSets: parameterSets)
    } catch {
      throw .configuration("\(error)")
    }
  }

  /// Drops everything in progress, as after a flush.
  mutating func flush() {
    input.reset()
    eyes?.reset()
    needsSegment = true
    hasEnded = false
    for stream in streams.indices { streams[stream].restart() }
  }

  mutating func select(_ stream: StreamID, _ isSelected: Bool) {
    guard streams.indices.contains(stream.rawValue) else { return }
    streams[stream.rawValue].isSelected = isSelected
  }

  // MARK: Output

  /// Outputs the next access unit.
  ///
  /// - Parameter answer: The source's answer to the last request; nil if it has not answered.
  mutating func step(
    _ answer: ReadAnswer?, _ outputs: inout OutputQueue
  ) throws(MoviePlayerError) -> Progress {
    if let place = nextRead, let answer, answer.offset == place {
      if let slice = answer.slice, slice.count > 0 {
        nextRead = place + UInt64(slice.count)
        try input.append(slice, ChunkTimes())
      } else {
        endInput()
      }
    }
    if hasPlayed, !streams.contains(where: \.isSelected) {
      return .wait(.end(.nothingSelected))
    }
    if let unit = input.next() {
      give(unit, &outputs)
      return .again
    }
    if hasEnded { return try end(&outputs) }
    guard let place = nextRead else { return .wait(.awaitBytes) }
    return .wait(.read(ReadRequest(range: place..<place + Self.readSize)))
  }

  private mutating func end(_ outputs: inout OutputQueue) throws(MoviePlayerError) -> Progress {
    guard hasPlayed else { throw .nothingPlayable }
    for stream in streams.indices {
      streams[stream].drain(&eyes, &outputs)
      guard !streams[stream].hasEnded else { continue }
      streams[stream].end(SegmentStart(segment: segment ?? PlaybackSegment()), &outputs)
    }
    return .wait(.end(.endOfStream))
  }

  private mutating func give(_ unit: LayeredSample, _ outputs: inout OutputQueue) {
    var unit = unit
    if streams.isEmpty {
      guard !unit.flags.contains(.delta) else { return }
      begin(unit, &outputs)
    }
    if let rate = givenRate ?? description.frameRate, segment == nil || givenRate != nil {
      input.number(&unit, rate: rate)
    }
    if needsSegment { tellSegment(from: unit, &outputs) }
    position = unit.presentationTime ?? unit.decodeTime ?? position
    for stream in streams.indices {
      guard streams[stream].isTaken() else { continue }
      switch streams[stream].role {
      case .eye(let eye):
        streams[stream].give(eye, of: unit, from: &eyes, eyeFormat, &outputs)
      case .samples:
        let sample = Sample(
          data: SampleData(unit.data), presentationTime: unit.presentationTime,
          decodeTime: unit.decodeTime, duration: unit.duration, flags: unit.flags)
        streams[stream].give(sample, &outputs)
      }
    }
  }

  /// Announces the source's segment or, for a stream without timestamps, one whose running time
  /// starts with the first frame.
  private mutating func tellSegment(
    from first: LayeredSample, _ outputs: inout OutputQueue
  ) {
    needsSegment = false
    var own = PlaybackSegment()
    own.start = first.presentationTime ?? 0
    let told = segment ?? own
    for stream in streams.indices {
      streams[stream].begin(SegmentStart(segment: told), &outputs)
    }
  }

  /// Outputs the streams, as described by the first access unit.
  private mutating func begin(_ first: LayeredSample, _ outputs: inout OutputQueue) {
    hasPlayed = true
    var format = ElementaryFormat(framing: input.framing)
    var found: [(role: PlayerStream.Role, format: StreamFormat, shift: ClockTime)] = []
    switch LayeredContent(
      parameterSets: input.parameterSets, framing: input.framing, first: first.data)
    {
    case .plain: break
    case .unreadable(let warning): outputs.warn(warning)
    case .layers(let layers):
      if let warning = layers.warning { outputs.warn(warning) }
      eyes = layers.eyes
      format.viewCount = layers.viewCount
      for eye in Eye.allCases {
        guard let sets = layers.parameterSets[eye] else { continue }
        let eyeFormat = EyeFormat(
          parameterSets: sets, description: description, spatial: nil,
          isMono: layers.viewCount == 1
        ).with(sets)
        description.frameRate = eyeFormat.description.frameRate
        format.bitDepth = (try? HEVCDecoderConfigurationRecord(sets))?.bitDepthLuma
        self.eyeFormat = eyeFormat
        let rate = givenRate ?? description.frameRate
        let shift = layers.shift(
          of: eye, frameDuration: first.frameDuration ?? rate?.time(of: 1))
        found.append((.eye(eye), .eye(eyeFormat), shift))
      }
      eyeFormat?.description = description
    }
    format.frameRate = description.frameRate
    if offersLayers || found.isEmpty { found.append((.samples, .elementary(format), 0)) }
    outputs.append(
      .streams(
        found.enumerated().map { number, stream in
          PlayerStream(
            id: StreamID(rawValue: number), role: stream.role, kind: .video, number: 0, track: nil,
            format: stream.format, isUnselected: false)
        }))
    streams = found.enumerated().map {
      PlayedStream(
        id: StreamID(rawValue: $0.offset), role: $0.element.role, shift: $0.element.shift)
    }
  }
}
