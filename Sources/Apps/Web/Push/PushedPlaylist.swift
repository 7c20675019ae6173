// SPDX-License-Identifier: MPL-2.0

/// A playlist or manifest on its way to a server.
struct PushedPlaylist {
  let path: [String]
  let text: String

  /// The order in which lists are written: each after those that it leads to.
  var rank: Int {
    if path.last?.hasSuffix(".mpd") == true { return 2 }
    return text.contains("#EXT-X-STREAM-INF:") ? 1 : 0
  }

  /// Whether this is a list of segments to which no more are added.
  var hasEnded: Bool { rank == 0 && text.contains("\n#EXT-X-ENDLIST") }

  /// Whether it has parts, which players request before they are there.
  var hasParts: Bool { text.contains("\n#EXT-X-PART:") }

  /// Returns the text in which segments and parts that the server does not have are gaps
  /// (draft-pantos-hls-rfc8216bis 4.4.4.7, 4.4.4.9).
  ///
  /// - Parameter isThere: Whether the server has a file.
  func marked(_ isThere: ([String]) -> Bool) -> String {
    guard rank == 0 else { return text }
    func isMissing(_ address: some StringProtocol) -> Bool {
      // Other servers' files are none of ours.
      guard !address.contains("://"),
        let file = PlaylistCache.resolve(String(address), from: path)
      else { return false }
      return !isThere(file)
    }
    var lines: [Substring] = []
    /// Where the next segment has its duration.
    var start: Int?
    var isGap = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("#EXT-X-PART:"), !line.contains("GAP=YES"),
        let uri = line.firstMatch(of: /[:,]URI="([^"]*)"/)?.output.1, isMissing(uri)
      {
        lines.append(line + ",GAP=YES")
        continue
      }
      if line.hasPrefix("#EXT-X-GAP") { isGap = true }
      if line.hasPrefix("#EXTINF:") { start = lines.count }
      let isAddress = !line.isEmpty && !line.hasPrefix("#")
      if isAddress, let start, !isGap, isMissing(line) { lines.insert("#EXT-X-GAP", at: start) }
      if isAddress { (start, isGap) = (nil, false) }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }
}
