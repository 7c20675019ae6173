// SPDX-License-Identifier: MPL-2.0

/// The layout that a file's name implies, by the habits of media players, headset libraries and
/// release groups: `Film.3D.Half-SBS.mkv`, `concert_180_LR.mp4`, `dive_360_TB.mp4`,
/// `walk_FISHEYE190_SBS.mp4`, `Film.H-TAB.mkv`.
package struct FileNameLayout: Equatable, Sendable {
  /// The eyes in a frame.
  package enum Eyes: Equatable, Sendable {
    case packed(PackingLayout.Arrangement, rightViewFirst: Bool)
    /// One picture for both eyes.
    case single
    /// An arrangement that no element can separate, in words.
    case inseparable(String)

    /// Returns these eyes if they are the other ones with the right eye first.
    fileprivate func rightFirst(in other: Eyes?) -> Eyes? {
      guard case .packed(let arrangement, rightViewFirst: true) = self,
        other == .packed(arrangement, rightViewFirst: false)
      else { return nil }
      return self
    }
  }

  package enum Projection: Equatable, Sendable {
    case kind(ProjectionKind)
    /// Fisheye circles with this field of view in degrees.
    case fisheye(Double)
    case cubemap
    case equiAngularCubemap
  }

  /// The eyes in a frame; nil if the name does not tell.
  package private(set) var eyes: Eyes?
  /// Whether each eye is squeezed to half its width or height; nil if the name does not tell.
  package private(set) var isHalf: Bool?
  /// Whether the word for the eyes is an ordinary word too: `ou` is French for "or".
  package private(set) var hasDoubtfulEyes = false
  /// The projection; nil if the name does not tell.
  package private(set) var projection: Projection?
  /// Whether the projection is only a number, which may mean anything: `Xbox 360`, `F150`.
  package private(set) var hasOnlyNumberForProjection = false

  /// Reads the layout from the last component of `path`. Words that separators divide are joined:
  /// `half-sbs`, `H-TAB`, `Half.Over.Under`, `Side-By-Side`.
  package init(path: String) {
    let name = path.split(separator: "/").last ?? ""
    let stem = name.dropFirst().lastIndex(of: ".").map { name[..<$0] } ?? name
    let words = stem.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    var index = 0
    while index < words.count {
      index += read(words, at: index)
    }
  }

  /// Maximum number of words of a term: half top and bottom.
  private static let longestTerm = 4

  /// Reads the longest term that begins at a word, and returns the number of its words.
  private mutating func read(_ words: [String], at index: Int) -> Int {
    for count in (1...min(Self.longestTerm, words.count - index)).reversed() {
      guard count == 1 || Self.canBeJoined(words[index..<index + count]) else { continue }
      let term = words[index..<index + count].joined()
      if take(term.lowercased(), isCapital: term == term.uppercased(), words, index..<index + count)
      {
        return count
      }
    }
    return 1
  }

  /// Single letters are not joined: "Vitamin A B" is no term. H and F may begin one.
  private static func canBeJoined(_ words: ArraySlice<String>) -> Bool {
    guard let first = words.first else { return false }
    return words.dropFirst().allSatisfy { $0.count > 1 }
      && (first.count > 1 || ["h", "f"].contains(first.lowercased()))
  }

  private mutating func take(
    _ term: String, isCapital: Bool, _ words: [String], _ range: Range<Int>
  ) -> Bool {
    if let found = EyesTerm(term) {
      // "2D to 3D SBS"
      if let order = found.eyes.rightFirst(in: eyes), !found.isOrdinaryWord || isCapital {
        // "SBS_RL", "SBS crosseyed"
        (eyes, hasDoubtfulEyes) = (order, false)
      } else if eyes == nil || eyes == .single {
        eyes = found.eyes
        isHalf = found.isHalf
        hasDoubtfulEyes =
          found.isOrdinaryWord && !isCapital && !Self.areStereoTerms(beside: range, in: words)
      }
      if let projection = found.projection { set(projection, isOnlyNumber: true) }
      return true
    }
    if let (projection, isOnlyNumber) = Self.projection(term) {
      set(projection, isOnlyNumber: isOnlyNumber)
      return true
    }
    return false
  }

  private mutating func set(_ projection: Projection, isOnlyNumber: Bool) {
    // "360x180" tells more than "360", wherever it is.
    guard self.projection == nil || hasOnlyNumberForProjection && !isOnlyNumber else { return }
    (self.projection, hasOnlyNumberForProjection) = (projection, isOnlyNumber)
  }

  /// Returns whether a word next to the range belongs to a stereo movie's name.
  private static func areStereoTerms(beside range: Range<Int>, in words: [String]) -> Bool {
    [range.lowerBound - 1, range.upperBound].contains { index in
      guard words.indices.contains(index) else { return false }
      let word = words[index].lowercased()
      return ["3d", "half", "full", "vr"].contains(word) || projection(word) != nil
    }
  }

  // MARK: Projections

  /// Returns the projection that a term names, and whether it is only a number.
  private static func projection(_ term: String) -> (Projection, isOnlyNumber: Bool)? {
    switch term {
    case "180", "dome": return (.kind(.halfEquirectangular), true)
    case "360": return (.kind(.equirectangular), true)
    case "180x180", "vr180", "180vr", "dome180", "halfequirectangular", "hequirect":
      return (.kind(.halfEquirectangular), false)
    case "360x180", "vr360", "360vr", "equirectangular", "equirect":
      return (.kind(.equirectangular), false)
    case "eac", "eac360", "360eac", "equiangularcubemap": return (.equiAngularCubemap, false)
    case "cubemap", "cubemap360", "360cubemap": return (.cubemap, false)
    case "fisheye": return (.fisheye(180), false)
    // Camera lenses that file names refer to.
    case "rf52": return (.fisheye(190), false)
    case "mkx200": return (.fisheye(200), false)
    case "mkx220", "vrca220": return (.fisheye(220), false)
    default: return fisheye(term)
    }
  }

  /// Reads a field of view: `fisheye190`, `190fisheye`, `F180`.
  private static func fisheye(_ term: String) -> (Projection, isOnlyNumber: Bool)? {
    let number: Substring
    let isOnlyNumber = !term.contains("fisheye")
    if term.hasPrefix("fisheye") {
      number = term.dropFirst(7)
    } else if term.hasSuffix("fisheye") {
      number = term.dropLast(7)
    } else if term.hasPrefix("f"), term.count == 4 {
      number = term.dropFirst()
    } else {
      return nil
    }
    guard number.allSatisfy(\.isNumber), let degrees = Double(number), (90...360).contains(degrees)
    else { return nil }
    return (.fisheye(degrees), isOnlyNumber)
  }
}

/// A term for the eyes in a frame.
private struct EyesTerm {
  let eyes: FileNameLayout.Eyes
  var isHalf: Bool?
  var projection: FileNameLayout.Projection?
  /// Whether the term is an ordinary word in some language.
  var isOrdinaryWord = false

  /// Reads a term in lower case, without separators: `sbs`, `halfsbs`, `htab`, `3dhsbs`, `sbs2l`,
  /// `180sbs`.
  init?(_ term: String) {
    if let whole = Self.whole(term) {
      self = whole
      return
    }
    for (prefix, projection) in Self.degrees where term.hasPrefix(prefix) {
      guard var rest = EyesTerm(String(term.dropFirst(prefix.count))) else { continue }
      rest.projection = projection
      rest.isOrdinaryWord = false
      self = rest
      return
    }
    return nil
  }

  private init(_ eyes: FileNameLayout.Eyes, isHalf: Bool? = nil, isOrdinaryWord: Bool = false) {
    self.eyes = eyes
    self.isHalf = isHalf
    self.isOrdinaryWord = isOrdinaryWord
  }

  private static let degrees: [(String, FileNameLayout.Projection)] = [
    ("180", .kind(.halfEquirectangular)), ("360", .kind(.equirectangular)),
  ]

  private static func whole(_ term: String) -> EyesTerm? {
    let stem = term.hasPrefix("3d") && term.count > 3 ? String(term.dropFirst(2)) : term
    let isOrdinaryWord = ordinaryWords.contains(term)
    if let eyes = eyes[stem] { return EyesTerm(eyes, isOrdinaryWord: isOrdinaryWord) }
    // In FFmpeg's names for 'stereo3d', a 2 stands for half the resolution: sbs2l.
    if let two = stem.firstIndex(of: "2"), two != stem.startIndex,
      two != stem.index(before: stem.endIndex)
    {
      let full = stem[..<two] + stem[stem.index(after: two)...]
      return eyes[String(full)].map { EyesTerm($0, isHalf: true) }
    }
    for (affix, isHalf) in [("half", true), ("full", false), ("h", true), ("f", false)] {
      if stem.hasPrefix(affix), let eyes = eyes[String(stem.dropFirst(affix.count))] {
        return EyesTerm(eyes, isHalf: isHalf, isOrdinaryWord: isOrdinaryWord)
      }
      if stem.hasSuffix(affix), affix != "f", let eyes = eyes[String(stem.dropLast(affix.count))] {
        return EyesTerm(eyes, isHalf: isHalf)
      }
    }
    return nil
  }

  private static let eyes: [String: FileNameLayout.Eyes] = {
    let terms: [(FileNameLayout.Eyes, String)] = [
      // Those that end in l and r are FFmpeg's names for 'stereo3d'.
      (.packed(.sideBySide, rightViewFirst: false), "sbs lr sidebyside leftright 3dh sbsl"),
      (
        .packed(.sideBySide, rightViewFirst: true), "rl rightleft sbsr crosseye crosseyed crossview"
      ),
      (
        .packed(.topBottom, rightViewFirst: false),
        "tb tab ou 3dv topbottom topandbottom overunder overandunder ab abl tbl"
      ),
      (.packed(.topBottom, rightViewFirst: true), "bt ba bottomtop underover abr tbr"),
      (.packed(.frameByFrame, rightViewFirst: false), "framesequential framealternate"),
      (.single, "2d mono monoscopic"),
      (.inseparable("an anaglyph"), "anaglyph redcyan"),
      (.inseparable("interleaved rows of both eyes"), "rowinterleaved linebyline"),
      (.inseparable("interleaved columns of both eyes"), "columninterleaved"),
      (.inseparable("a checkerboard of both eyes"), "checkerboard"),
    ]
    return Dictionary(
      terms.flatMap { eyes, words in words.split(separator: " ").map { (String($0), eyes) } }
    ) { first, _ in first }
  }()

  private static let ordinaryWords: Set = ["ou", "tab", "ab", "ba", "bt", "fou", "fab", "hab"]
}
