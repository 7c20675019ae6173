// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// The format of audio samples.
public struct AudioSampleFormat: Equatable, Sendable, CustomStringConvertible {
  /// Sample rate in hertz: 8000 to 192,000.
  public let sampleRate: Int
  /// Number of channels: 1, 2 (left, right) or 6 (5.1: front left, front right, front centre, LFE,
  /// rear left, rear right).
  public let channelCount: Int

  /// Creates a format.
  ///
  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/outOfRange``.
  public init(sampleRate: Int = 48_000, channelCount: Int = 2) throws {
    guard (8000...192_000).contains(sampleRate) else {
      throw StereoMediaError(
        .outOfRange, "a sample rate is from 8000 to 192000 Hz, not \(sampleRate)")
    }
    guard [1, 2, 6].contains(channelCount) else {
      throw StereoMediaError(.outOfRange, "audio has 1, 2 or 6 channels, not \(channelCount)")
    }
    (self.sampleRate, self.channelCount) = (sampleRate, channelCount)
  }

  /// A description such as `2 channels of 48000 Hz`.
  public var description: String {
    "\(channelCount) channel\(channelCount == 1 ? "" : "s") of \(sampleRate) Hz"
  }

  /// The caps in gst-launch syntax: interleaved 32-bit floats.
  var caps: String {
    let mask = channelCount == 6 ? ",channel-mask=(bitmask)0x3f" : ""
    return "audio/x-raw,format=F32LE,layout=interleaved,rate=\(sampleRate),"
      + "channels=\(channelCount)" + mask
  }

  /// Returns the duration of `count` samples per channel.
  func duration(of count: Int) -> Duration {
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: sampleRate)
    return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / sampleRate)
  }
}

/// A section of a movie's audio, as samples.
public struct AudioSamples: Sendable {
  /// The format of the samples.
  public let format: AudioSampleFormat
  /// Time of the first sample, on the movie's timeline.
  public let time: Duration
  /// Interleaved samples, nominally from -1 to 1.
  public let samples: [Float]

  /// Creates a section of audio.
  ///
  /// - Parameters:
  ///   - samples: interleaved samples, the same number for each channel.
  ///   - format: their format.
  ///   - time: the time of the first sample, on the movie's timeline.
  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/invalidInput`` if the
  ///   number of samples is not a multiple of the number of channels.
  public init(_ samples: [Float], format: AudioSampleFormat, at time: Duration) throws {
    guard samples.count.isMultiple(of: format.channelCount) else {
      throw StereoMediaError(
        .invalidInput,
        "\(samples.count) samples cannot be divided among \(format.channelCount) channels")
    }
    self.init(whole: samples, format, time)
  }

  /// Creates a section from a whole number of samples per channel.
  init(whole samples: [Float], _ format: AudioSampleFormat, _ time: Duration) {
    (self.samples, self.format, self.time) = (samples, format, time)
  }

  /// Number of samples per channel.
  public var count: Int { samples.count / format.channelCount }
  /// Duration of the section.
  public var duration: Duration { format.duration(of: count) }

  /// The section from one sample position to another, limited to the existing samples.
  subscript(positions: Range<Int>) -> AudioSamples {
    let range = positions.clamped(to: 0..<count)
    let channels = format.channelCount
    return AudioSamples(
      whole: Array(samples[range.lowerBound * channels..<range.upperBound * channels]), format,
      time + format.duration(of: range.lowerBound))
  }
}

/// An audio track of a ``StereoWriter`` that the program supplies as samples and the writer encodes
/// as AAC.
public struct AudioInput: Equatable, Identifiable, Sendable {
  /// The name of the track, for ``StereoWriter/append(_:to:)`` and messages.
  public let id: String
  /// The format of its samples.
  public let format: AudioSampleFormat
  /// Bit rate in bits per second: 8000 to 1,000,000.
  public let bitsPerSecond: Int

  /// Creates a track.
  ///
  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/outOfRange``.
  public init(_ id: String, _ format: AudioSampleFormat, bitsPerSecond: Int = 192_000) throws {
    guard (8000...1_000_000).contains(bitsPerSecond) else {
      throw StereoMediaError(
        .outOfRange, "a bit rate of audio is from 8000 to 1000000 bit/s, not \(bitsPerSecond)")
    }
    (self.id, self.format, self.bitsPerSecond) = (id, format, bitsPerSecond)
  }
}

extension StereoReader {
  /// Returns the movie's first audio track as samples; empty if there is none. It is decoded
  /// separately from the frames. Of ``Options``, only ``Options/range`` applies.
  public func audio(as format: AudioSampleFormat) -> AudioSections {
    AudioSections(reader: self, format: format)
  }

  /// Returns the frames and audio in the order of their times.
  ///
  /// ```swift
  /// for try await sample in StereoReader(movie).samples(audio: try AudioSampleFormat()) {
  ///   switch sample {
  ///   case .frame(let frame): draw(frame)
  ///   case .audio(let audio): hear(audio)
  ///   }
  /// }
  /// ```
  public func samples(audio format: AudioSampleFormat) -> Samples {
    Samples(reader: self, format: format)
  }

  /// A frame or a section of audio.
  public enum Sample: Sendable {
    /// A frame with a picture for each eye.
    case frame(StereoFrame)
    /// A section of audio.
    case audio(AudioSamples)

    fileprivate var time: Duration {
      switch self {
      case .frame(let frame): frame.time
      case .audio(let audio): audio.time
      }
    }
  }

  /// A sequence of sections of a movie's audio.
  public struct AudioSections: AsyncSequence, Sendable {
    /// A section of audio.
    public typealias Element = AudioSamples

    let reader: StereoReader
    let format: AudioSampleFormat

    /// Starts a new iteration, which decodes nothing until its first section is requested.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader, format: format) }

    /// Decodes on demand.
    public struct Iterator: AsyncIteratorProtocol {
      let reader: StereoReader
      let format: AudioSampleFormat
      private var decoding = Decoding()

      fileprivate init(reader: StereoReader, format: AudioSampleFormat) {
        (self.reader, self.format) = (reader, format)
      }

      /// Returns the next section, of at most about a tenth of a second; nil after the last one and
      /// after an error.
      ///
      /// - Throws: a ``StereoMediaError``; `CancellationError` if the task is cancelled.
      public mutating func next() async throws -> AudioSamples? {
        let (movie, range, format) = (reader.movie, reader.options.range, format)
        return try await decoding.next {
          guard movie.tracks.contains(where: { $0.kind == .audio }), range?.isEmpty != true
          else { return nil }
          let decode = try await Decode.start(
            movie.source, .audio(format), DecodeGraph.Conversion(), depth: 4)
          if let range {
            try await decode.seek(
              to: range.lowerBound.clockTime, end: range.upperBound.clockTime)
          }
          return decode
        } _: { decode in
          while let sample = try await decode.nextSamples()?.first {
            if let audio = AudioSamples(sample, format) { return audio }
          }
          return nil
        }
      }
    }
  }

  /// A sequence of a movie's frames and audio.
  public struct Samples: AsyncSequence, Sendable {
    /// A frame or a section of audio.
    public typealias Element = Sample

    let reader: StereoReader
    let format: AudioSampleFormat

    /// Starts a new iteration, which decodes nothing until its first element is requested.
    public func makeAsyncIterator() -> Iterator {
      Iterator(
        frames: reader.makeAsyncIterator(),
        parts: reader.audio(as: format).makeAsyncIterator())
    }

    /// Decodes on demand.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate var frames: StereoReader.Iterator
      fileprivate var parts: AudioSections.Iterator
      private var frame: Sample?
      private var part: Sample?

      fileprivate init(frames: StereoReader.Iterator, parts: AudioSections.Iterator) {
        (self.frames, self.parts) = (frames, parts)
      }

      /// Returns the next frame or section of audio; nil after the last one and after an error.
      ///
      /// - Throws: a ``StereoMediaError``; `CancellationError` if the task is cancelled.
      public mutating func next() async throws -> Sample? {
        if frame == nil { frame = try await frames.next().map { .frame($0) } }
        if part == nil { part = try await parts.next().map { .audio($0) } }
        guard let frame, part.map({ frame.time <= $0.time }) ?? true else { return part.take() }
        return self.frame.take()
      }
    }
  }
}

extension AudioSamples {
  /// Creates a section from a decoder's output; nil if it lies outside the segment.
  fileprivate init?(_ sample: AppSink.Sample, _ format: AudioSampleFormat) {
    guard let segment = sample.segment, let pts = sample.buffer.pts,
      let time = segment.unclippedStreamTime(Swift.max(pts, segment.start))
    else { return nil }
    let bytes = sample.buffer.bytes
    let size = MemoryLayout<Float>.size * format.channelCount
    let count = bytes.count / size
    // The position of the first sample at or after a timestamp.
    func position(of timestamp: ClockTime) -> Int {
      guard timestamp > pts else { return 0 }
      let position = (timestamp - pts).seconds * Double(format.sampleRate)
      return Int(Swift.min(position.rounded(), Double(count)))
    }
    // Decoders also output samples from before the segment's start.
    let (first, last) = (position(of: segment.start), segment.stop.map(position) ?? count)
    guard first < last else { return nil }
    self.init(
      whole: bytes.withUnsafeBytes { bytes in
        (first * format.channelCount..<last * format.channelCount)
          .map {
            bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Float>.size, as: Float.self)
          }
      },
      format, time.duration)
  }
}
