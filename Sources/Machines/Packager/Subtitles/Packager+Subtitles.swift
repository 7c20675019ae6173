// SPDX-License-Identifier: MPL-2.0

extension Packager {
  /// Appends the next cue of a subtitle rendition, in the order of their starts. One that comes
  /// after its segment is in the next, if it is still shown then.
  public mutating func append(_ cue: SubtitleCue, to index: Int) throws {
    guard isSubtitles(index) else { return }
    try align()
    var cue = cue
    (cue.start, cue.end) = (cue.start &+ offset, cue.end &+ offset)
    tracks[index].cues.append(cue)
    try advance()
  }

  /// Declares that all cues of a subtitle rendition up to a time, in nanoseconds, have been
  /// appended.
  public mutating func reach(_ time: Int64, of index: Int) throws {
    guard isSubtitles(index) else { return }
    try align()
    tracks[index].cues.reach(time &+ offset)
    try advance()
  }

  /// Changes what players are told of a subtitle rendition.
  public mutating func describe(_ index: Int, as subtitles: Rendition.Subtitles) {
    guard tracks.indices.contains(index) else { return }
    tracks[index].describe(as: subtitles)
  }

  private func isSubtitles(_ index: Int) -> Bool {
    tracks.indices.contains(index) && !tracks[index].hasEnded
      && tracks[index].rendition.subtitles != nil
  }
}
