// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo

/// Playback of H.265 without a container, such as the output of an encoder or a transport stream
/// demuxer.
final class ElementaryPlayback: Phase, @unchecked Sendable {
  /// Bytes per read request.
  private static let readSize: UInt64 = 64 * 1024

  private var played: [PlayedStream] = []
  private var lastTime: ClockTime = 0
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
  convenience init(reading options: PlayerOptions) {
    self.init(ElementaryStreamSource(), options)
    nextRead = 0
  }

  /// Whether a stream starts with a start code and is therefore H.265.
  static func isByteStream(_ start: ByteSlice) -> Bool {
    start.withBytes { $0.starts(with: [0, 0, 0, 1]) || $0.starts(with: [0, 0, 1]) }
  }

  override var streams: [PlayedStream] { played }

  override var position: ClockTime { lastTime }

  // MARK: The source

  override func append(_ slice: ByteSlice, _ times: ChunkTimes) throws(MoviePlayerError) {
    try input.append(slice, times)
  }

  override func endInput() {
    guard !hasEnded else { return }
    hasEnded = true
    input.finish()
  }

  override func begin(_ segment: PlaybackSegment) {
    self.segment = segment
    needsSegment = true
  }

  override func add(parameterSets: [[UInt8]]) throws(MoviePlayerError) {
    do {
      try eyes?.add(parameterSets: parameterSets)
    } catch {
      throw .configuration("\(error)")
    }
  }

  override func flush() {
    input.reset()
    eyes?.reset()
    needsSegment = true
    hasEnded = false
    for stream in played.indices { played[stream].restart() }
  }

  override func select(_ stream: StreamID, _ isSelected: Bool) {
    guard played.indices.contains(stream.rawValue) else { return }
    played[stream.rawValue].isSelected = isSelected
  }

  // MARK: Output

  /// Outputs the next access unit.
  override func step(_ answer: ReadAnswer?, hasMoved: Bool?) throws(MoviePlayerError) -> Progress {
    if let place = nextRead, let answer, answer.offset == place {
      if let slice = answer.slice, slice.count > 0 {
        nextRead = place + UInt64(slice.count)
        try input.append(slice, ChunkTimes())
      } else {
        endInput()
      }
    }
    if hasPlayed, !played.contains(where: \.isSelected) {
      return .wait(.end(.nothingSelected))
    }
    if let unit = input.next() {
      give(unit)
      return .again
    }
    if hasEnded { return try end() }
    guard let place = nextRead else { return .wait(.awaitBytes) }
    return .wait(.read(ReadRequest(range: place..<place + Self.readSize)))
  }

  private func end() throws(MoviePlayerError) -> Progress {
    guard hasPlayed else { throw .nothingPlayable }
    for stream in played.indices {
      played[stream].drain(&eyes, &outputs)
      guard !played[stream].hasEnded else { continue }
      played[stream].end(SegmentStart(segment: segment ?? PlaybackSegment()), &outputs)
    }
    return .wait(.end(.endOfStream))
  }

  private func give(_ unit: LayeredSample) {
    var unit = unit
    if played.isEmpty {
      guard !unit.flags.contains(.delta) else { return }
      begin(unit)
    }
    if let rate = givenRate ?? description.frameRate, segment == nil || givenRate != nil {
      input.number(&unit, rate: rate)
    }
    if needsSegment { tellSegment(from: unit) }
    lastTime = unit.presentationTime ?? unit.decodeTime ?? lastTime
    for stream in played.indices {
      guard played[stream].isTaken() else { continue }
      switch played[stream].role {
      case .eye(let eye):
        played[stream].give(eye, of: unit, from: &eyes, eyeFormat, &outputs)
      case .samples:
        let sample = Sample(
          data: SampleData(unit.data), presentationTime: unit.presentationTime,
          decodeTime: unit.decodeTime, duration: unit.duration, flags: unit.flags)
        played[stream].give(sample, &outputs)
      }
    }
  }

  /// Announces the source's segment or, for a stream without timestamps, one whose running time
  /// starts with the first frame.
  private func tellSegment(from first: LayeredSample) {
    needsSegment = false
    var own = PlaybackSegment()
    own.start = first.presentationTime ?? 0
    let told = segment ?? own
    for stream in played.indices {
      played[stream].begin(SegmentStart(segment: told), &outputs)
    }
  }

  /// Outputs the streams, as described by the first access unit.
  private func begin(_ first: LayeredSample) {
    hasPlayed = true
    var format = ElementaryFormat(framing: input.framing)
    var found: [(role: PlayerStream.Role, format: StreamFormat, shift: ClockTime)] = []
    switch LayeredContent(
      parameterSets: input.parameterSets, framing: input.framing, first: first.data)
    {
    case .plain:
      description.fillGaps(
        from: LayeredContent.sequenceParameterSet(in: first.data, input.framing)?.vui)
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
    played = found.enumerated().map {
      PlayedStream(
        id: StreamID(rawValue: $0.offset), role: $0.element.role, shift: $0.element.shift)
    }
  }
}
