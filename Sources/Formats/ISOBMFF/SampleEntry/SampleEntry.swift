// SPDX-License-Identifier: MPL-2.0

/// What the samples of a track are: one entry of `stsd` (ISO/IEC 14496-12 8.5.2).
public indirect enum SampleEntry: Equatable, Sendable {
  case video(VisualSampleEntry)
  case audio(AudioSampleEntry)
  /// A track of any other kind, or an entry that could not be read as one of the above.
  case other(OtherSampleEntry)

  /// Whether a track with these samples may have those instead.
  func isOfKind(of other: SampleEntry) -> Bool {
    switch (self, other) {
    case (.video, .video), (.audio, .audio): true
    case (.other(let own), .other(let other)): own.handlerType == other.handlerType
    default: false
    }
  }
}

/// The sample entry of a track that is neither video nor audio, kept as it is.
public struct OtherSampleEntry: Equatable, Sendable {
  /// What the track is for: `meta`, `text`, `tmcd` and so on (`hdlr`).
  public var handlerType: FourCC
  /// The type of the entry.
  public var type: FourCC
  /// Everything behind the data reference index.
  public var payload: [UInt8]

  public init(handlerType: FourCC, type: FourCC, payload: [UInt8]) {
    self.handlerType = handlerType
    self.type = type
    self.payload = payload
  }
}
