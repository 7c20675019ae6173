// SPDX-License-Identifier: MPL-2.0

public import ISOBMFF

/// One stream of a presentation.
public struct Rendition: Sendable {
  /// The media type with its properties.
  public enum Content: Sendable {
    case video(Video)
    case audio(Audio)
    case subtitles(Subtitles)
  }

  /// Properties of a video rendition.
  public struct Video: Sendable {
    /// The number of eyes, and the projection.
    public var layout: RenditionLayout
    /// The dynamic range.
    public var range = VideoRange.standard
    /// Frames per second; nil if unknown or variable.
    public var frameRate: FrameRate?
    /// Whether the rendition gets an I-frame playlist.
    public var hasIFramePlaylist = false

    /// Creates the properties of a rendition in standard dynamic range, without a frame rate.
    public init(layout: RenditionLayout) { self.layout = layout }
  }

  /// Properties of an audio rendition.
  public struct Audio: Sendable {
    /// Shown to users.
    public var name: String
    /// A BCP 47 tag.
    public var language: String?
    /// Whether players choose this rendition by default.
    public var isDefault: Bool

    /// Creates the properties of an audio rendition.
    public init(name: String, language: String? = nil, isDefault: Bool) {
      (self.name, self.language, self.isDefault) = (name, language, isDefault)
    }
  }

  /// Properties of a subtitle rendition. It has cues instead of samples: see
  /// ``Packager/append(_:to:)-(SubtitleCue,_)``.
  public struct Subtitles: Sendable {
    /// Shown to users.
    public var name: String
    /// A BCP 47 tag.
    public var language: String?
    /// Whether players show this rendition by default.
    public var isDefault = false
    /// Whether players show it even if the viewer wants no subtitles, as it translates what the
    /// viewer cannot understand.
    public var isForced = false
    /// Whether cues come when they are to be shown, so that no segment waits for them.
    public var isLive = false

    /// Creates the properties of a rendition that viewers have to choose.
    public init(name: String, language: String? = nil) {
      (self.name, self.language) = (name, language)
    }
  }

  /// A unique name for file paths, such as `video_0`.
  public var name: String
  /// Sample entry and timescale of the CMAF track.
  public var track: TrackDescription
  /// RFC 6381, such as `hvc1.1.6.L123.B0`.
  public var codecs: String
  /// The media type with its properties.
  public var content: Content
  /// How the samples are encrypted, which the track says as well; nil if they are not.
  var key: ContentKey? {
    didSet { track.protection = key?.protection }
  }

  /// Creates a rendition.
  public init(_ name: String, _ track: TrackDescription, codecs: String, _ content: Content) {
    (self.name, self.track, self.codecs, self.content) = (name, track, codecs, content)
  }

  /// Creates a rendition of subtitles.
  public init(_ name: String, subtitles: Subtitles) {
    self.init(
      name, TrackDescription(.other(WebVTTTrack.entry), timescale: 90_000), codecs: "wvtt",
      .subtitles(subtitles))
  }

  /// Returns the same rendition under another name.
  public func renamed(_ name: String) -> Rendition {
    var other = self
    other.name = name
    return other
  }

  var isVideo: Bool { if case .video = content { true } else { false } }

  /// The properties of subtitles; nil for any other content.
  var subtitles: Subtitles? {
    if case .subtitles(let subtitles) = content { subtitles } else { nil }
  }

  var hasIFramePlaylist: Bool {
    if case .video(let video) = content { video.hasIFramePlaylist } else { false }
  }

  /// Frame duration in nanoseconds; nil if unknown or variable.
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

/// A sample with its bytes and its times, in nanoseconds on the presentation's timeline.
public struct PackagedSample<Payload: Sendable>: Sendable {
  /// The bytes, or a reference to them that is passed to ``PackagerOutput/Block/payload(_:)``.
  public var payload: Payload
  /// The size of the payload in bytes.
  public var size: UInt32
  /// Presentation time in nanoseconds.
  public var presentationTime: Int64
  /// Decode time in nanoseconds.
  public var decodeTime: Int64
  /// Duration in nanoseconds.
  public var duration: UInt64
  /// Whether decoding can start here.
  public var isSync: Bool
  /// Dependencies between samples (`sdtp`).
  public var dependency = SampleDependency()

  /// Creates a sample with unknown dependencies.
  public init(
    _ payload: Payload, size: UInt32, presentationTime: Int64, decodeTime: Int64, duration: UInt64,
    isSync: Bool
  ) {
    (self.payload, self.size, self.isSync) = (payload, size, isSync)
    (self.presentationTime, self.decodeTime) = (presentationTime, decodeTime)
    self.duration = duration
  }
}

/// An action for a presentation; actions must be carried out in order.
public enum PackagerOutput<Payload: Sendable>: Sendable {
  /// A piece of a file's content.
  public enum Block: Sendable {
    case bytes([UInt8])
    case payload(Payload)
  }

  /// The kind of a file.
  public enum FileKind: CaseIterable, Sendable {
    case initializationSegment
    /// A segment or a part of one.
    case segment
    /// A media or I-frame playlist.
    case mediaPlaylist
    /// A multivariant playlist or a DASH manifest.
    case presentation
  }

  /// Write a file atomically: players may request it at any moment.
  case file(FileKind, path: String, [Block])
  /// Remove a file that no playlist lists any more.
  case removal(path: String)
  /// A segment is complete and listed.
  case segment(PackagedSegment)
  /// A video rendition has a gap until a keyframe of its own comes after the others' segments: it
  /// had none where these begin, or came too late.
  case loss(rendition: String)
  /// Headers of a picture are encrypted, which not every player can decode: see
  /// ``EncryptedSample/problem``.
  case encryptedHeaders(rendition: String, String)
  /// Every video rendition should have a keyframe at this time, in nanoseconds.
  case keyframe(at: Int64)
}

/// A complete segment.
public struct PackagedSegment: Equatable, Sendable {
  /// Name of the rendition.
  public let rendition: String
  /// Nil for a gap.
  public let path: String?
  /// Start in nanoseconds on the presentation's timeline.
  public internal(set) var start: Int64
  /// In nanoseconds.
  public let duration: UInt64
  /// Size in bytes; 0 for a gap.
  public let size: UInt64
}
