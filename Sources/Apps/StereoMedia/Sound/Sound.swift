// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// How sound is sampled.
public struct SoundFormat: Equatable, Sendable, CustomStringConvertible {
  /// In hertz: 8000 to 192,000.
  public let sampleRate: Int
  /// 1, 2 for left and right, or 6 for 5.1: front left, front right, front centre, low frequencies,
  /// rear left, rear right.
  public let channelCount: Int

  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/outOfRange``.
  public init(sampleRate: Int = 48_000, channelCount: Int = 2) throws {
    guard (8000...192_000).contains(sampleRate) else {
      throw StereoMediaError(
        .outOfRange, "a sample rate is from 8000 to 192000 hertz, not \(sampleRate)")
    }
    guard [1, 2, 6].contains(channelCount) else {
      throw StereoMediaError(.outOfRange, "sound has 1, 2 or 6 channels, not \(channelCount)")
    }
    (self.sampleRate, self.channelCount) = (sampleRate, channelCount)
  }

  /// Such as `2 channels of 48000 Hz`.
  public var description: String {
    "\(channelCount) channel\(channelCount == 1 ? "" : "s") of \(sampleRate) Hz"
  }

  /// As gst-launch writes it, of 32-bit floats one channel after the other.
  var caps: String {
    let mask = channelCount == 6 ? ",channel-mask=(bitmask)0x3f" : ""
    return "audio/x-raw,format=F32LE,layout=interleaved,rate=\(sampleRate),"
      + "channels=\(channelCount)" + mask
  }

  /// How long so many samples of each channel last.
  func duration(of count: Int) -> Duration {
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: sampleRate)
    return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / sampleRate)
  }
}

/// A part of a movie's sound, as samples.
public struct Sound: Sendable {
  public let format: SoundFormat
  /// When the first sample is heard, on the movie's time line.
  public let time: Duration
  /// Those of one moment one channel after the other, and so on: from -1 to 1.
  public let samples: [Float]

  /// - Parameters:
  ///   - samples: a multiple of the format's channels.
  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/invalidInput`` where some
  ///   channels have a sample more than others.
  public init(_ samples: [Float], format: SoundFormat, at time: Duration) throws {
    guard samples.count.isMultiple(of: format.channelCount) else {
      throw StereoMediaError(
        .invalidInput,
        "\(samples.count) samples are not as many of each of \(format.channelCount) channels")
    }
    self.init(whole: samples, format, time)
  }

  /// The same of as many samples of each channel.
  init(whole samples: [Float], _ format: SoundFormat, _ time: Duration) {
    (self.samples, self.format, self.time) = (samples, format, time)
  }

  /// How many samples each channel has.
  public var count: Int { samples.count / format.channelCount }
  /// How long it is heard.
  public var duration: Duration { format.duration(of: count) }

  /// Samples of each channel, by their positions: what lies outside of those that there are is left out.
  subscript(positions: Range<Int>) -> Sound {
    let range = positions.clamped(to: 0..<count)
    let channels = format.channelCount
    return Sound(
      whole: Array(samples[range.lowerBound * channels..<range.upperBound * channels]), format,
      time + format.duration(of: range.lowerBound))
  }
}

/// A track of sound that a ``StereoWriter`` is given as samples, and codes as AAC.
public struct SoundInput: Equatable, Identifiable, Sendable {
  /// What the track is called where sound is given, and in messages.
  public let id: String
  /// How its samples come.
  public let format: SoundFormat
  /// How many bits a second of it takes: 8000 to 1,000,000.
  public let bitsPerSecond: Int

  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/outOfRange``.
  public init(_ id: String, _ format: SoundFormat, bitsPerSecond: Int = 192_000) throws {
    guard (8000...1_000_000).contains(bitsPerSecond) else {
      throw StereoMediaError(
        .outOfRange, "sound takes 8000 to 1000000 bits a second, not \(bitsPerSecond)")
    }
    (self.id, self.format, self.bitsPerSecond) = (id, format, bitsPerSecond)
  }
}

extension StereoReader {
  /// The first track of the movie's sound as samples: nothing where it has none. It is decoded for itself,
  /// beside the frames that another loop takes. Of ``Options``, ``Options/range`` counts.
  public func sound(as format: SoundFormat) -> SoundParts {
    SoundParts(reader: self, format: format)
  }

  /// Frames and sound, in the order of their times.
  ///
  /// ```swift
  /// for try await sample in StereoReader(movie).samples(sound: try SoundFormat()) {
  ///   switch sample {
  ///   case .frame(let frame): draw(frame)
  ///   case .sound(let sound): hear(sound)
  ///   }
  /// }
  /// ```
  public func samples(sound format: SoundFormat) -> Samples {
    Samples(reader: self, format: format)
  }

  /// A frame, or a part of the sound.
  public enum Sample: Sendable {
    case frame(StereoFrame)
    case sound(Sound)

    fileprivate var time: Duration {
      switch self {
      case .frame(let frame): frame.time
      case .sound(let sound): sound.time
      }
    }
  }

  /// A movie's sound, part by part.
  public struct SoundParts: AsyncSequence, Sendable {
    public typealias Element = Sound

    let reader: StereoReader
    let format: SoundFormat

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, format: format) }

    /// Decodes as it is asked.
    public struct Iterator: AsyncIteratorProtocol {
      let reader: StereoReader
      let format: SoundFormat
      private var decoding = Decoding()

      fileprivate init(reader: StereoReader, format: SoundFormat) {
        (self.reader, self.format) = (reader, format)
      }

      /// The next part, at most about a tenth of a second of it; nil behind the last one, and behind an
      /// error.
      ///
      /// - Throws: a ``StereoMediaError``; `CancellationError` where the task is cancelled.
      public mutating func next() async throws -> Sound? {
        let (movie, range, format) = (reader.movie, reader.options.range, format)
        return try await decoding.next {
          guard movie.tracks.contains(where: { $0.kind == .sound }), range?.isEmpty != true
          else { return nil }
          let decode = try await Decode.start(
            movie.source, .sound(format), DecodeGraph.Conversion(), depth: 4)
          if let range {
            try await decode.seek(
              to: range.lowerBound.clockTime, end: range.upperBound.clockTime)
          }
          return decode
        } _: { decode in
          while let sample = try await decode.nextSamples()?.first {
            if let sound = Sound(sample, format) { return sound }
          }
          return nil
        }
      }
    }
  }

  /// A movie's frames and sound.
  public struct Samples: AsyncSequence, Sendable {
    public typealias Element = Sample

    let reader: StereoReader
    let format: SoundFormat

    public func makeAsyncIterator() -> Iterator {
      Iterator(
        frames: reader.makeAsyncIterator(),
        parts: reader.sound(as: format).makeAsyncIterator())
    }

    /// Decodes as it is asked.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate var frames: StereoReader.Iterator
      fileprivate var parts: SoundParts.Iterator
      private var frame: Sample?
      private var part: Sample?

      fileprivate init(frames: StereoReader.Iterator, parts: SoundParts.Iterator) {
        (self.frames, self.parts) = (frames, parts)
      }

      /// What is next; nil behind all frames and sound, and behind an error.
      ///
      /// - Throws: a ``StereoMediaError``; `CancellationError` where the task is cancelled.
      public mutating func next() async throws -> Sample? {
        if frame == nil { frame = try await frames.next().map { .frame($0) } }
        if part == nil { part = try await parts.next().map { .sound($0) } }
        guard let frame, part.map({ frame.time <= $0.time }) ?? true else { return part.take() }
        return self.frame.take()
      }
    }
  }
}

extension Sound {
  /// What a decoder gave; nil where none of it is in the part that is played.
  fileprivate init?(_ sample: AppSink.Sample, _ format: SoundFormat) {
    guard let segment = sample.segment, let pts = sample.buffer.pts,
      let time = segment.unclippedStreamTime(Swift.max(pts, segment.start))
    else { return nil }
    let bytes = sample.buffer.bytes
    let size = MemoryLayout<Float>.size * format.channelCount
    let count = bytes.count / size
    // The position of the first sample that is not before a timestamp.
    func position(of timestamp: ClockTime) -> Int {
      guard timestamp > pts else { return 0 }
      let position = Double(timestamp - pts) / 1e9 * Double(format.sampleRate)
      return Int(Swift.min(position.rounded(), Double(count)))
    }
    // Decoders give what comes before, too.
    let (first, last) = (position(of: segment.start), segment.stop.map(position) ?? count)
    guard first < last else { return nil }
    self.init(
      whole: bytes.withUnsafeBytes { bytes in
        (first * format.channelCount..<last * format.channelCount)
          .map {
            bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Float>.size, as: Float.self)
          }
      },
      format, Duration(time))
  }
}
