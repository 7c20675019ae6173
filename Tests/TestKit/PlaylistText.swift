// SPDX-License-Identifier: MPL-2.0

import Foundation

/// A media playlist as a client reads it, for ``StreamRules``. It shares no code with the packager.
struct PlaylistText {
  struct Part: Equatable {
    var uri: String
    var duration: Double
    var isIndependent: Bool
    var isGap: Bool
  }

  struct Segment {
    var number: Int
    var uri = ""
    var duration = 0.0
    var map: String?
    /// Sequence number of the discontinuity that it belongs to.
    var discontinuity = 0
    var startsDiscontinuity = false
    var isGap = false
    var date: Date?
    var range: Range<Int>?
    var parts: [Part] = []
  }

  var version = 1
  var targetDuration = 0
  var type: String?
  var isIFramesOnly = false
  var hasEnded = false
  var partTarget: Double?
  var control: [String: String] = [:]
  var segments: [Segment] = []
  /// The segment whose parts are listed, and which is not complete.
  private(set) var open: Segment
  private(set) var first = 0
  /// Lines that are no playlist's.
  private(set) var mistakes: [String] = []

  init(_ text: String) {
    open = Segment(number: 0)
    if !text.hasPrefix("#EXTM3U\n") { mistakes.append("no #EXTM3U") }
    if !text.hasSuffix("\n") { mistakes.append("torn: it does not end with a newline") }
    for line in text.split(separator: "\n").dropFirst() { read(line) }
  }

  static func attributes(_ list: some StringProtocol) -> [String: String] {
    Dictionary(
      String(list).matches(of: /([A-Z0-9-]+)=("[^"]*"|[^,]*)/).map {
        (String($0.output.1), $0.output.2.trimmingCharacters(in: ["\""]))
      }, uniquingKeysWith: { first, _ in first })
  }

  private mutating func read(_ line: Substring) {
    guard line.hasPrefix("#") else { return end(line) }
    let name = line.prefix { $0 != ":" }
    let value = line.dropFirst(name.count + 1)
    switch name {
    case "#EXT-X-VERSION": version = number(value)
    case "#EXT-X-TARGETDURATION": targetDuration = number(value)
    case "#EXT-X-MEDIA-SEQUENCE":
      first = number(value)
      open.number = first
    case "#EXT-X-DISCONTINUITY-SEQUENCE": open.discontinuity = number(value)
    case "#EXT-X-PLAYLIST-TYPE": type = String(value)
    case "#EXT-X-I-FRAMES-ONLY": isIFramesOnly = true
    case "#EXT-X-ENDLIST": hasEnded = true
    case "#EXT-X-MAP": open.map = Self.attributes(value)["URI"]
    case "#EXT-X-DISCONTINUITY":
      open.startsDiscontinuity = true
      open.discontinuity += 1
    case "#EXT-X-GAP": open.isGap = true
    case "#EXT-X-PROGRAM-DATE-TIME":
      open.date = try? Date(
        String(value),
        strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
      if open.date == nil { mistakes.append("no date: \(line)") }
    case "#EXT-X-PART-INF": partTarget = Self.attributes(value)["PART-TARGET"].flatMap(Double.init)
    case "#EXT-X-SERVER-CONTROL": control = Self.attributes(value)
    case "#EXT-X-PART":
      let part = Self.attributes(value)
      open.parts.append(
        Part(
          uri: part["URI"] ?? "", duration: part["DURATION"].flatMap(Double.init) ?? -1,
          isIndependent: part["INDEPENDENT"] == "YES", isGap: part["GAP"] == "YES"))
    case "#EXTINF": open.duration = Double(value.prefix { $0 != "," }) ?? -1
    case "#EXT-X-BYTERANGE":
      let numbers = value.split(separator: "@").compactMap { Int($0) }
      if numbers.count == 2 { open.range = numbers[1]..<numbers[1] + numbers[0] }
    default: break
    }
  }

  private mutating func end(_ uri: Substring) {
    open.uri = String(uri)
    segments.append(open)
    let last = open
    open = Segment(number: last.number + 1, map: last.map, discontinuity: last.discontinuity)
  }

  private mutating func number(_ text: Substring) -> Int {
    if let number = Int(text) { return number }
    mistakes.append("no number: \(text)")
    return 0
  }
}
