// SPDX-License-Identifier: MPL-2.0

/// Where one sample of a track lies, when it plays and what it is.
public struct SampleRecord: Equatable, Sendable {
  /// In bytes from the file's start. It may lie beyond the file's end: check before reading.
  public var offset: UInt64
  /// In bytes.
  public var size: UInt32
  /// In units of the track's timescale, on the media's own time line (before edit lists).
  public var decodeTime: Int64
  /// In units of the track's timescale, on the media's own time line (before edit lists).
  public var presentationTime: Int64
  /// In units of the track's timescale.
  public var duration: UInt32
  /// Decoding can start here.
  public var isSync: Bool
  /// What the sample needs and who needs it, as far as the file says so.
  public var dependency: SampleDependency
  /// Into the track's sample entries, from 0 on; it may lie beyond them in a broken file.
  public var sampleEntryIndex: Int

  public init(
    offset: UInt64, size: UInt32, decodeTime: Int64, presentationTime: Int64, duration: UInt32,
    isSync: Bool, dependency: SampleDependency = SampleDependency(), sampleEntryIndex: Int = 0
  ) {
    self.offset = offset
    self.size = size
    self.decodeTime = decodeTime
    self.presentationTime = presentationTime
    self.duration = duration
    self.isSync = isSync
    self.dependency = dependency
    self.sampleEntryIndex = sampleEntryIndex
  }
}

/// Equal samples one behind the other in the file, such as the frames of PCM audio.
public struct SampleRun: Equatable, Sendable {
  public var first: SampleRecord
  /// How many samples there are, the first included.
  public var count: Int
}
