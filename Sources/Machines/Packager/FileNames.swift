// SPDX-License-Identifier: MPL-2.0

/// Templates for the paths of a presentation's files: `%s` stands for the name of the rendition,
/// `%d`, or `%05d` with leading zeros, for a number.
public struct FileNames: Equatable, Sendable {
  /// Media segments; `%d` is the media sequence number.
  public var segment = "%s/segment%05d.m4s"
  /// Initialization segments; `%d` counts them from 0.
  public var initialization = "%s/init%05d.mp4"
  /// Media playlists.
  public var playlist = "%s/index.m3u8"
  /// I-frame playlists.
  public var iFramePlaylist = "%s/iframe.m3u8"
  /// The multivariant playlist; nil for none.
  public var multivariantPlaylist: String? = "main.m3u8"
  /// The DASH manifest; nil for none.
  public var manifest: String?

  /// Creates the default templates, without a DASH manifest.
  public init() {}

  /// Returns a template that gives several files one name, and the placeholder that it lacks; nil
  /// if there is none.
  ///
  /// - Parameter hasSeveral: Whether there are several renditions.
  func clash(hasSeveral: Bool) -> (template: String, placeholder: String)? {
    func isSame(_ template: String, _ other: String, _ number: UInt64) -> Bool {
      Self.fill(template, rendition: "a", number: 1)
        == Self.fill(template, rendition: other, number: number)
    }
    if isSame(segment, "a", 2) { return (segment, "%05d") }
    guard hasSeveral else { return nil }
    return [segment, initialization, playlist].first { isSame($0, "b", 1) }.map { ($0, "%s") }
  }

  /// Returns a template with its placeholders replaced.
  static func fill(_ template: String, rendition: String, number: UInt64? = nil) -> String {
    var result = ""
    var rest = template[...]
    while let percent = rest.firstIndex(of: "%") {
      result += rest[..<percent]
      let place = rest[rest.index(after: percent)...]
      let digits = place.prefix { $0.isASCII && $0.isNumber }
      let kind = place.dropFirst(digits.count).first
      switch kind {
      case "s" where digits.isEmpty: result += rendition
      case "d":
        let width = min(Int(digits) ?? 0, 20)
        let text = number.map { String($0) } ?? ""
        result += String(repeating: "0", count: max(0, width - text.count)) + text
      case "%" where digits.isEmpty: result += "%"
      default:
        result.append("%")
        rest = place
        continue
      }
      rest = place.dropFirst(digits.count + 1)
    }
    return result + rest
  }

  /// Returns the path of a part of a segment, such as `segment00122.1.m4s`.
  static func part(_ number: Int, of segment: String) -> String {
    let name = segment.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
      return "\(segment).\(number)"
    }
    return "\(segment.dropLast(name[dot...].count)).\(number)\(name[dot...])"
  }

  /// Returns the path of the text of a segment, such as `segment00122.vtt`.
  static func text(_ segment: String) -> String {
    let name = segment.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return segment + ".vtt" }
    return segment.dropLast(name[dot...].count) + ".vtt"
  }

  /// Returns the relative URI of a file, as seen from another one, such as `../audio_0/index.m3u8`.
  static func address(of file: String, from other: String) -> String {
    let target = components(file)
    let folder = components(other).dropLast()
    let common = zip(target.dropLast(), folder).prefix { $0 == $1 }.count
    let up = Array(repeating: "..", count: folder.count - common)
    return (up + target[common...].map(escaped)).joined(separator: "/")
  }

  private static func components(_ path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.map(String.init)
  }

  /// Percent-encodes all but unreserved characters (RFC 3986).
  private static func escaped(_ component: String) -> String {
    component.utf8.reduce(into: "") { result, byte in
      let scalar = Unicode.Scalar(byte)
      if scalar.isASCII,
        scalar.properties.isAlphabetic || (0x30...0x39).contains(byte)
          || "-._~$".unicodeScalars.contains(scalar)
      {
        result.unicodeScalars.append(scalar)
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
  }
}
