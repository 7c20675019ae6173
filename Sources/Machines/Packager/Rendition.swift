// SPDX-License-Identifier: MPL-2.0

public import ISOBMFF

/// One of the streams of a presentation.
public struct Rendition: Sendable {
  public enum Content: Sendable {
    case video(Video)
    case audio(Audio)
  }

  public struct Video: Sendable {
    public var layout: RenditionLayout
    public var range = VideoRange.standard
    /// Nil where it is not known, or varies.
    public var frameRate: FrameRate?
    /// There is a playlist of its keyframes.
    public var hasIFramePlaylist = false

    public init(layout: RenditionLayout) { self.layout = layout }
  }

  public struct Audio: Sendable {
    /// For people.
    public var name: String
    /// A BCP 47 tag.
    public var language: String?
    public var isDefault: Bool

    public init(name: String, language: String? = nil, isDefault: Bool) {
      (self.name, self.language, self.isDefault) = (name, language, isDefault)
    }
  }

  /// Unlike that of any other: `video_0`.
  public var name: String
  public var track: TrackDescription
  /// RFC 6381: `hvc1.1.6.L123.B0`.
  public var codecs: String
  public var content: Content

  public init(_ name: String, _ track: TrackDescription, codecs: String, _ content: Content) {
    (self.name, self.track, self.codecs, self.content) = (name, track, codecs, content)
  }

  /// The same under another name.
  public func renamed(_ name: String) -> Rendition {
    var other = self
    other.name = name
    return other
  }

  var isVideo: Bool { if case .video = content { true } else { false } }

  var hasIFramePlaylist: Bool {
    if case .video(let video) = content { video.hasIFramePlaylist } else { false }
  }

  /// How long a frame lasts, in nanoseconds; nil where that is not known, or varies.
  var frameDuration: UInt64? {
    switch (content, track.sampleEntry) {
    case (.video(let video), _):
      guard let rate = video.frameRate, rate.numerator > 0 else { return nil }
      return 1_000_000_000 &* rate.denominator / rate.numerator
    case (.audio, .audio(let entry)) where entry.framesPerSample > 0 && entry.sampleRate > 0:
      return 1_000_000_000 * UInt64(entry.framesPerSample) / UInt64(entry.sampleRate)
    default:
      return nil
    }
  }
}

/// A sample with its bytes, and times in nanoseconds on the presentation's time line.
public struct PackagedSample<Payload: Sendable>: Sendable {
  public var payload: Payload
  /// The size of the payload in bytes.
  public var size: UInt32
  public var presentationTime: Int64
  public var decodeTime: Int64
  public var duration: UInt64
  /// Decoding can start here.
  public var isSync: Bool
  public var dependency = SampleDependency()

  public init(
    _ payload: Payload, size: UInt32, presentationTime: Int64, decodeTime: Int64, duration: UInt64,
    isSync: Bool
  ) {
    (self.payload, self.size, self.isSync) = (payload, size, isSync)
    (self.presentationTime, self.decodeTime) = (presentationTime, decodeTime)
    self.duration = duration
  }
}

/// What is to be done for a presentation, in this order.
public enum PackagerOutput<Payload: Sendable>: Sendable {
  public enum Block: Sendable {
    case bytes([UInt8])
    case payload(Payload)
  }

  /// What a file is.
  public enum FileKind: CaseIterable, Sendable {
    case initializationSegment
    /// A segment or a part of one.
    case segment
    /// A playlist of one rendition.
    case mediaPlaylist
    /// What lists the renditions: a multivariant playlist, or a manifest of DASH.
    case presentation
  }

  /// Writes a file, at once or not at all: players may ask for it at any moment.
  case file(FileKind, path: String, [Block])
  /// Removes a file that nobody asks for any more.
  case removal(path: String)
  /// A segment is complete, and listed.
  case segment(PackagedSegment)
  /// A keyframe is wanted at this time, in nanoseconds, in every video rendition.
  case keyframe(at: Int64)
}

/// A segment that is complete.
public struct PackagedSegment: Equatable, Sendable {
  public let rendition: String
  /// Nil for one that never came.
  public let path: String?
  /// On the presentation's time line, in nanoseconds.
  public internal(set) var start: Int64
  /// In nanoseconds.
  public let duration: UInt64
}
