// SPDX-License-Identifier: MPL-2.0

public import ISOBMFF
public import StereoVideo

extension MediaPresentation {
  /// Media type and properties of a rendition.
  public enum Content: Equatable, Sendable {
    case video(Video)
    case audio(Audio)
    case text(Text)
  }

  /// Properties of a video rendition.
  public struct Video: Equatable, Sendable {
    /// Width of one eye, in pixels.
    public var width: Int
    /// Height of one eye, in pixels.
    public var height: Int
    /// Nil for square pixels.
    public var pixelAspectRatio: PixelAspectRatio?
    /// Nil if unknown or variable.
    public var frameRate: FrameRate?
    /// The number of eyes, and the projection.
    public var layout: RenditionLayout
    /// The dynamic range.
    public var range = VideoRange.standard
    /// Nil if unknown.
    public var colour: ColourInformation?

    /// Creates the properties of a rendition with square pixels, in standard dynamic range.
    public init(width: Int, height: Int, frameRate: FrameRate?, layout: RenditionLayout) {
      (self.width, self.height) = (width, height)
      (self.frameRate, self.layout) = (frameRate, layout)
    }
  }

  /// Properties of an audio rendition.
  public struct Audio: Equatable, Sendable {
    /// In hertz.
    public var sampleRate: UInt32
    /// Number of channels.
    public var channelCount: Int
    /// A BCP 47 tag.
    public var language: String?
    /// The title; nil if there is none.
    public var title: String?
    /// Whether players choose this rendition by default.
    public var isDefault: Bool

    /// Creates the properties of an audio rendition.
    public init(
      sampleRate: UInt32, channelCount: Int, language: String? = nil, title: String? = nil,
      isDefault: Bool
    ) {
      (self.sampleRate, self.channelCount) = (sampleRate, channelCount)
      (self.language, self.title, self.isDefault) = (language, title, isDefault)
    }
  }

  /// Properties of a subtitle rendition.
  public struct Text: Equatable, Sendable {
    /// A BCP 47 tag.
    public var language: String?
    /// The title; nil if there is none.
    public var title: String?
    /// Whether players show this rendition by default.
    public var isDefault: Bool
    /// Whether players show it even if the viewer wants no subtitles.
    public var isForced: Bool

    /// Creates the properties of a subtitle rendition.
    public init(
      language: String? = nil, title: String? = nil, isDefault: Bool = false, isForced: Bool = false
    ) {
      (self.language, self.title) = (language, title)
      (self.isDefault, self.isForced) = (isDefault, isForced)
    }
  }
}
