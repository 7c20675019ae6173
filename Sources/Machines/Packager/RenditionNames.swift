// SPDX-License-Identifier: MPL-2.0

/// The paths of a rendition's files, and their addresses in its playlists.
struct RenditionNames: Sendable {
  private let names: FileNames
  private let rendition: String
  private let isText: Bool

  init(_ names: FileNames, _ rendition: Rendition) {
    (self.names, self.rendition) = (names, rendition.name)
    isText = rendition.subtitles != nil
  }

  var playlist: String { FileNames.fill(names.playlist, rendition: rendition) }

  var iFramePlaylist: String { FileNames.fill(names.iFramePlaylist, rendition: rendition) }

  func initialization(_ number: UInt64) -> String {
    FileNames.fill(names.initialization, rendition: rendition, number: number)
  }

  /// Returns the path of a segment in HLS.
  func segment(_ number: UInt64) -> String {
    isText ? FileNames.text(fragments(number)) : fragments(number)
  }

  /// Returns the path of a segment's movie fragments, which is another one if the segments of HLS
  /// are texts.
  func fragments(_ number: UInt64) -> String {
    FileNames.fill(names.segment, rendition: rendition, number: number)
  }

  /// Returns the path of a part of a segment.
  func part(_ number: Int, of segment: UInt64) -> String {
    FileNames.part(number, of: self.segment(segment))
  }

  /// Returns the relative URI of a file in the playlists.
  func address(_ path: String) -> String { FileNames.address(of: path, from: playlist) }
}

/// Files of segments that have left the playlist. They stay for as long as they were listed, for
/// players that have read an earlier playlist.
struct UnlistedFiles: Sendable {
  private var segments: [(paths: [String], due: Int64)] = []

  /// Adds the files of a segment.
  ///
  /// - Parameter due: Time at which they are removed, in nanoseconds.
  mutating func add(_ paths: [String], due: Int64) { segments.append((paths, due)) }

  /// Returns the files that are to be removed at a time.
  mutating func take(at time: Int64) -> [String] {
    let due = segments.prefix { $0.due <= time }
    segments.removeFirst(due.count)
    return due.flatMap(\.paths)
  }
}
