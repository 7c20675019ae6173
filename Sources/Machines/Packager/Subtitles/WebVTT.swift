// SPDX-License-Identifier: MPL-2.0

/// WebVTT: texts of cues, and segments of HLS (draft-pantos-hls-rfc8216bis 3.1.4).
public enum WebVTT {
  // MARK: Texts

  /// Returns plain text as the text of a cue: nothing in it is markup.
  public static func escaped(_ text: String) -> String {
    lines(
      text.unicodeScalars.reduce(into: "") { result, scalar in
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        default: result.unicodeScalars.append(scalar)
        }
      })
  }

  /// Returns a text with the tags of Pango's or SubRip's markup as the text of a cue: bold, italic
  /// and underlined text stays so, other tags are left out.
  ///
  /// - Parameter decode: Returns the character of an entity, without `&` and `;`; nil if there is
  ///   none.
  public static func styled(
    _ markup: String, decode: (Substring) -> Character?
  ) -> String {
    var text = ""
    var plain = ""
    var open: [Substring] = []
    func flush() {
      text += escaped(plain)
      plain = ""
    }
    var rest = markup[...]
    while let first = rest.first {
      if first == "<", let end = rest.firstIndex(of: ">") {
        let tag = rest[..<end].dropFirst()
        rest = rest[end...].dropFirst()
        let name = tag.drop { $0 == "/" }.lowercased()
        guard ["b", "i", "u"].contains(name) else { continue }
        flush()
        if !tag.hasPrefix("/") {
          open.append(Substring(name))
          text += "<\(name)>"
        } else if open.last.map({ $0 == name }) ?? false {
          open.removeLast()
          text += "</\(name)>"
        }
      } else if first == "&", let end = rest.prefix(12).firstIndex(of: ";"),
        let character = decode(rest[..<end].dropFirst())
      {
        plain.append(character)
        rest = rest[end...].dropFirst()
      } else {
        plain.append(rest.removeFirst())
      }
    }
    flush()
    return lines(text + open.reversed().map { "</\($0)>" }.joined())
  }

  /// Returns the text of a cue without empty lines, which would end it, and without characters that
  /// WebVTT does not have.
  public static func lines(_ text: String) -> String {
    text.replacing("\0", with: "\u{FFFD}").split { $0.isNewline }
      .filter { line in line.contains { !$0.isWhitespace } }
      .joined(separator: "\n")
  }

  /// Returns the cues in a piece of a WebVTT file, without its header, styles, regions and notes.
  /// Cues that are damaged are left out.
  ///
  /// - Returns: Cues with the times in the file, in nanoseconds.
  public static func cues(in file: String) -> [SubtitleCue] {
    var cues: [SubtitleCue] = []
    let lines = file.split(omittingEmptySubsequences: false) { $0.isNewline }
    for block in lines.split(whereSeparator: \.isEmpty) {
      guard let place = block.prefix(2).firstIndex(where: { $0.contains("-->") }) else { continue }
      let words = block[place].split { $0 == " " || $0 == "\t" }
      guard words.count >= 3, words[1] == "-->", let start = time(words[0]),
        let end = time(words[2])
      else { continue }
      cues.append(
        SubtitleCue(
          start: start, end: end,
          text: block[(place + 1)...].filter { !$0.contains("-->") }.joined(separator: "\n"),
          settings: words[3...].filter { $0.contains(":") }.joined(separator: " ")))
    }
    return cues
  }

  /// Parses a time such as `01:02:03.004` or `02:03.004`, into nanoseconds.
  private static func time(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let rest = parts.last.flatMap({ nanoseconds($0) }) else {
      return nil
    }
    var minutes: Int64 = 0
    for part in parts.dropLast() {
      guard let number = Int64(part), (0..<1_000_000).contains(number) else { return nil }
      minutes = minutes * 60 + number
    }
    return minutes * 60_000_000_000 + Int64(clamping: rest)
  }

  // MARK: Segments

  /// Returns a segment with cues. Those that begin before it or end after it keep their times, and
  /// are in the other segments, too.
  ///
  /// - Parameter start: Start of the segment on the timeline of the other renditions, in
  ///   nanoseconds. Cues are on the same timeline; `X-TIMESTAMP-MAP` says so for this time, as
  ///   players take the difference of clocks of 33 bits, which wrap after 26.5 hours.
  static func segment(_ cues: [SubtitleCue], at start: Int64) -> [UInt8] {
    let milliseconds = max(start, 0) / 1_000_000
    let ticks = (milliseconds &* 90) & (1 << 33 - 1)
    var text = "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:\(time(milliseconds)),MPEGTS:\(ticks)\n\n"
    for cue in cues {
      let first = max(cue.start, 0) / 1_000_000
      // A cue lasts a millisecond at least.
      let end = max(cue.end / 1_000_000, first + 1)
      text += "\(time(first)) --> \(time(end))"
      text += (cue.settings.isEmpty ? "" : " " + cue.settings) + "\n\(cue.text)\n\n"
    }
    return Array(text.utf8)
  }

  /// Returns parts of a segment as one file, with one header.
  static func joined(_ parts: [[UInt8]]) -> [UInt8] {
    parts.enumerated().reduce(into: []) { file, part in
      let bytes = part.element
      let end = zip(bytes.indices, bytes.dropFirst()).first { index, next in
        bytes[index] == 0x0A && next == 0x0A
      }
      file += part.offset == 0 ? bytes[...] : bytes[(end.map { $0.0 + 2 } ?? 0)...]
    }
  }

  private static func time(_ milliseconds: Int64) -> String {
    func padded(_ number: Int64, _ count: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
    let seconds = milliseconds / 1000
    return "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):"
      + "\(padded(seconds % 60, 2)).\(padded(milliseconds % 1000, 3))"
  }
}
