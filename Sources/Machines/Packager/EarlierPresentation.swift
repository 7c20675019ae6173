// SPDX-License-Identifier: MPL-2.0

/// The files that earlier runs have left of a presentation with the same names: whether they may be
/// replaced without asking, and which of them are to be removed then.
public struct EarlierPresentation: Sendable {
  private let names: FileNames
  /// The media playlists that can be read, by rendition.
  private var playlists: [String: MediaPlaylist] = [:]
  /// Names of the renditions, in order.
  public let renditions: [String]

  /// Reads the playlists of a presentation.
  ///
  /// - Parameters:
  ///   - renditions: Names of the renditions that are to be written. Those that the multivariant
  ///     playlist lists are found by themselves.
  ///   - read: Returns the content of a file; nil if it cannot be read.
  public init(_ names: FileNames, with renditions: [String], read: (_ path: String) -> [UInt8]?) {
    self.names = names
    let listed = names.multivariantPlaylist.flatMap(read).map {
      names.renditions(in: String(decoding: $0, as: UTF8.self))
    }
    self.renditions = Set(renditions + (listed ?? [])).sorted()
    for name in self.renditions {
      guard let bytes = read(names.playlistPath(ofRendition: name)) else { continue }
      playlists[name] = try? MediaPlaylist(parsing: String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Whether a run with these settings would lose something that is meant to stay. Only the window
  /// of a live stream is not, as the window of another one.
  public func isToBeKept(from settings: PackagerSettings) -> Bool {
    let hasWindow = settings.kind == .live && settings.playlistLength > 0
    return playlists.values.contains { $0.kind != .live || !hasWindow }
  }

  /// Whether one of the playlists is marked as ended.
  public var hasEnded: Bool { playlists.values.contains(where: \.hasEnded) }

  /// The files by which players find the others, which are removed first.
  public var lists: [String] {
    let all = [
      names.multivariantPlaylist, names.multivariantPlaylist.map(FileNames.flat), names.manifest,
    ]
    return all.compactMap { $0 }
      + renditions.flatMap { name in
        [names.playlist, names.iFramePlaylist].map { FileNames.fill($0, rendition: name) }
      }
  }

  /// The folders with files of a rendition, and whether they are named after it; an empty path is
  /// the current folder.
  public func folders(of rendition: String) -> [(path: String, isOwn: Bool)] {
    let files = [names.segment, names.initialization, names.playlist, names.iFramePlaylist]
    let folders = files.map { template -> String in
      let path = FileNames.fill(template, rendition: rendition)
      return String(path.lastIndex(of: "/").map { path[..<$0] } ?? "")
    }
    return Set(folders).sorted().map { path in
      (path, path.split(separator: "/").last.map { $0 == rendition } ?? false)
    }
  }

  /// Whether a path is that of a segment, a part, an initialization section or a playlist of a
  /// rendition, complete or not.
  public func holds(_ path: String, of rendition: String) -> Bool {
    var path = path[...]
    if path.hasSuffix(".tmp") { path = path.dropLast(4) }
    func isOne(of template: String, _ path: some StringProtocol) -> Bool {
      FileNames.number(of: path, in: template, rendition: rendition) != nil
    }
    let segments = [names.segment, FileNames.text(names.segment)]
    if (segments + [names.initialization]).contains(where: { isOne(of: $0, path) }) { return true }
    if let segment = FileNames.segment(ofPart: path) {
      return segments.contains { isOne(of: $0, segment) }
    }
    return [names.playlist, names.iFramePlaylist].contains {
      FileNames.fill($0, rendition: rendition) == path
    }
  }
}

extension FileNames {
  /// Returns the names of the renditions that a multivariant playlist lists. Other playlists than
  /// those that the template for names gives are ignored.
  fileprivate func renditions(in text: String) -> [String] {
    guard let path = multivariantPlaylist else { return [] }
    let addresses = text.split(whereSeparator: \.isNewline).compactMap { line -> String? in
      guard line.hasPrefix("#") else { return String(line) }
      guard line.hasPrefix("#EXT-X-MEDIA:") else { return nil }
      return AttributeList.parse(line.dropFirst("#EXT-X-MEDIA:".count))["URI"]
    }
    return addresses.compactMap { rendition(ofPlaylistAt: $0, in: path) }
  }

  /// Returns the name of the rendition whose playlist has an address in a multivariant playlist;
  /// nil if it is none of this template. Names are those of pads: letters, digits and `_`.
  private func rendition(ofPlaylistAt address: String, in multivariant: String) -> String? {
    func isPart(_ character: Character) -> Bool {
      character.isASCII && (character.isLetter || character.isNumber || character == "_")
    }
    func place(of name: String) -> String {
      Self.address(of: Self.fill(playlist, rendition: name), from: multivariant)
    }
    // Comparing the addresses of two names shows where the name is.
    let start = zip(place(of: "a"), place(of: "b")).prefix { $0 == $1 }.count
    var name = address.dropFirst(start).prefix(100).prefix(while: isPart)
    while !name.isEmpty, place(of: String(name)) != address { name.removeLast() }
    return name.isEmpty ? nil : String(name)
  }

  /// Returns the number in a path that a template gives; nil if it does not give it.
  static func number(
    of path: some StringProtocol, in template: String, rendition: String
  ) -> UInt64? {
    // Comparing the paths for two numbers shows where the number is.
    let (one, two) = (
      fill(template, rendition: rendition, number: 1),
      fill(template, rendition: rendition, number: 2)
    )
    let start = zip(one, two).prefix { $0 == $1 }.reversed().drop { $0.0 == "0" }.count
    let digits = path.dropFirst(start).prefix { $0.isASCII && $0.isNumber }
    guard let number = UInt64(digits), fill(template, rendition: rendition, number: number) == path
    else { return nil }
    return number
  }

  /// Returns the path of the segment that a path such as `segment00122.1.m4s` is a part of; nil if
  /// it is none of a part.
  fileprivate static func segment(ofPart path: some StringProtocol) -> String? {
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    var pieces = name.split(separator: ".", omittingEmptySubsequences: false)
    // A name without an ending has the number at its end.
    let place = pieces.count > 2 ? pieces.count - 2 : pieces.count - 1
    guard place > 0, !pieces[place].isEmpty,
      pieces[place].allSatisfy({ $0.isASCII && $0.isNumber })
    else { return nil }
    pieces.remove(at: place)
    return path.dropLast(name.count) + pieces.joined(separator: ".")
  }
}
