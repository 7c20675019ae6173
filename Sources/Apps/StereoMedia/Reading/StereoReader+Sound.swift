// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

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
          .map { bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Float>.size, as: Float.self) }
      },
      format, Duration(time))
  }
}
