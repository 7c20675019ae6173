// SPDX-License-Identifier: MPL-2.0

/// What an earlier run has left of a rendition, for another one to go on from: after a restart, players
/// find all that was listed, then a discontinuity.
public struct EarlierRun: Sendable {
  public var playlist: MediaPlaylist
  /// Nil for none.
  public var iFrames: MediaPlaylist?
  /// What is in the parts of the segment that was open, in their order; none where they cannot be read.
  public var openParts: [[UInt8]]

  public init(_ playlist: MediaPlaylist, iFrames: MediaPlaylist? = nil, openParts: [[UInt8]] = []) {
    (self.playlist, self.iFrames, self.openParts) = (playlist, iFrames, openParts)
  }
}

extension FileNames {
  /// Where the playlist of a rendition is.
  public func playlistPath(of rendition: Rendition) -> String {
    Self.fill(playlist, rendition: rendition.name)
  }

  /// Where the playlist of its keyframes is.
  public func iFramePlaylistPath(of rendition: Rendition) -> String {
    Self.fill(iFramePlaylist, rendition: rendition.name)
  }

  /// Where the parts of the segment are that is open in a playlist of the rendition.
  public func openPartPaths(of rendition: Rendition, in playlist: MediaPlaylist) -> [String] {
    let segment = Self.fill(segment, rendition: rendition.name, number: playlist.nextSequence)
    return playlist.openParts.indices.map { Self.part($0, of: segment) }
  }
}

extension RenditionTrack {
  /// How far behind the other renditions one may have been stopped, in segments.
  private static var maximumGap: UInt64 { 100 }

  /// Lists what an earlier run did in front of what comes. The segment that was open ends with the parts
  /// that it had.
  mutating func resume(_ earlier: EarlierRun, to outputs: inout [Output]) {
    var playlist = earlier.playlist.reopened(
      as: playlist.kind, targetDuration: settings.targetDuration)
    if var segment = earlier.playlist.openSegment {
      let path = segmentPath(playlist.nextSequence)
      segment.uri = address(path)
      segment.duration = max(segment.parts.reduce(0) { $0 &+ $1.duration }, 1_000_000)
      segment.isGap = segment.map == nil || earlier.openParts.count != segment.parts.count
      if !segment.isGap {
        outputs.append(.file(.segment, path: path, earlier.openParts.map { .bytes($0) }))
      }
      playlist.append(segment)
    }
    resume(
      playlist, iFrames: earlier.iFrames, longestPart: earlier.playlist.lowLatency?.partTarget ?? 0)
  }

  /// Begins with a number that other renditions have reached, with gaps up to there.
  ///
  /// - Parameter time: when the first segment may begin, in nanoseconds.
  /// - Throws: ``PackagerError/apart(rendition:sequence:other:)`` where it is far away.
  mutating func begin(with number: UInt64, at time: Int64) throws(PackagerError) {
    try skip(to: number)
    beginPeriods(at: time)
  }

  private mutating func skip(to number: UInt64) throws(PackagerError) {
    guard sequence < number else { return }
    guard !playlist.segments.isEmpty else { return resume(at: number) }
    guard number - sequence <= Self.maximumGap else {
      throw .apart(rendition: rendition.name, sequence: sequence, other: number)
    }
    var playlist = playlist
    while playlist.nextSequence < number {
      var gap = MediaSegment(
        address(segmentPath(playlist.nextSequence)),
        duration: UInt64(settings.target), map: playlist.segments.last?.map)
      gap.isGap = true
      playlist.append(gap)
    }
    resume(playlist, iFrames: iFrames, longestPart: 0)
  }
}
