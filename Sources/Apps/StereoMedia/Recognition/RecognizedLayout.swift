// SPDX-License-Identifier: MPL-2.0

package import StereoVideo

/// The layout of a movie's pictures: which eyes a frame holds, and which projection they have.
///
/// The user's options are final. After them, the file's own metadata, its name, the shape of its
/// frames and the pictures themselves decide, in this order.
package struct RecognizedLayout: Equatable, Sendable {
  package enum Eyes: Equatable, Sendable {
    case packed(PackingLayout)
    /// A view of H.264 MVC for each eye.
    case twoViews
    case one
  }

  package enum Projection: Equatable, Sendable {
    case flat
    /// A projection other than rectilinear.
    case kind(ProjectionKind)
    /// Circles with this field of view in degrees; nil if it is unknown.
    case fisheye(Double?)

    package init(_ kind: ProjectionKind) {
      switch kind {
      case .rectilinear: self = .flat
      case .fisheye: self = .fisheye(nil)
      default: self = .kind(kind)
      }
    }

    package var isFisheye: Bool { if case .fisheye = self { true } else { false } }
  }

  /// The reason that a movie is not converted.
  package enum Refusal: Error, Equatable {
    /// The file cannot be decoded, for the given reason, and nothing else tells the layout.
    case unreadable(String)
    /// The file has no pictures.
    case noVideo
    /// Each frame has one picture.
    case onePicture
    /// Neither the file nor its name, shape or pictures tell how the eyes share a frame.
    case unclear
    /// Both eyes share each frame in a way that no element can separate, in words.
    case inseparable(String)
    /// The projection cannot be converted, in words.
    case unsupportedProjection(String)
    /// The file has this number of video tracks with frames of the same size, which may be eyes.
    case severalTracks(Int)
  }

  /// The next step of recognition.
  package enum Step: Equatable {
    case recognized(RecognizedLayout)
    /// The pictures have to be examined; recognition needs ``LayoutEvidence/pictures``.
    case needsPictures
    case refused(Refusal)
  }

  package let eyes: Eyes
  package let projection: Projection
  /// The guesses and their sources, as parts of a sentence: "its name means ...". Empty if the user
  /// or the file specifies everything.
  package let notes: [String]

  /// Decides from the evidence.
  package static func recognize(_ evidence: LayoutEvidence) -> Step {
    do throws(Obstacle) {
      var recognition = Recognition(evidence)
      return .recognized(try recognition.run())
    } catch {
      switch error {
      case .needsPictures: return .needsPictures
      case .refused(let refusal): return .refused(refusal)
      }
    }
  }
}

private enum Obstacle: Error {
  case needsPictures
  case refused(RecognizedLayout.Refusal)
}

/// One recognition.
private struct Recognition {
  /// The arrangement of two eyes, or one picture.
  private enum Eyes {
    case packed(PackingLayout.Arrangement, rightViewFirst: Bool)
    case twoViews
    case one
  }

  private let evidence: LayoutEvidence
  /// The meaning of the name, in words.
  private var named: [String] = []
  private var notes: [String] = []

  init(_ evidence: LayoutEvidence) {
    self.evidence = evidence
  }

  mutating func run() throws(Obstacle) -> RecognizedLayout {
    let specified = try specifiedEyes()
    let projection = try projection(specified)
    let eyes = if let specified { specified } else { try recognizedEyes(projection) }
    switch eyes {
    case .one:
      guard evidence.isOneEye || projection != .flat else { throw .refused(.onePicture) }
      return RecognizedLayout(eyes: .one, projection: projection, notes: allNotes)
    case .twoViews: return RecognizedLayout(eyes: .twoViews, projection: projection, notes: [])
    case .packed(let arrangement, let rightViewFirst):
      let isHalf = isHalf(arrangement, projection)
      return RecognizedLayout(
        eyes: .packed(
          PackingLayout(arrangement, rightViewFirst: rightViewFirst, halfAspect: isHalf)),
        projection: projection, notes: allNotes)
    }
  }

  private var allNotes: [String] {
    (named.isEmpty ? [] : ["its name means \(named.joined(separator: ", "))"]) + notes
  }

  // MARK: Eyes

  /// Returns the eyes according to the user, the file or its name; nil if none of them tells.
  private mutating func specifiedEyes() throws(Obstacle) -> Eyes? {
    if evidence.isOneEye { return .one }
    if let given = evidence.givenPacking {
      return .packed(given.arrangement, rightViewFirst: given.rightViewFirst)
    }
    switch evidence.declaredEyes {
    case .packed(let arrangement, let rightViewFirst):
      return .packed(arrangement, rightViewFirst: rightViewFirst)
    case .one: return .one
    case .twoViews: return .twoViews
    case .inseparable(let words): throw .refused(.inseparable(words))
    case .severalTracks(let count): throw .refused(.severalTracks(count))
    case nil: break
    }
    switch evidence.name.eyes {
    case .packed(let arrangement, let rightViewFirst) where !evidence.name.hasDoubtfulEyes:
      named.append("\(PackingLayout(arrangement, rightViewFirst: rightViewFirst))")
      return .packed(arrangement, rightViewFirst: rightViewFirst)
    case .single: return .one
    case .inseparable(let words): throw .refused(.inseparable(words))
    case .packed, nil: return nil
    }
  }

  /// Returns the eyes according to the shape of frames that surround the viewer, or else according
  /// to the pictures.
  private mutating func recognizedEyes(
    _ projection: RecognizedLayout.Projection
  ) throws(Obstacle) -> Eyes {
    if let shapes = projection.shapes, let ratio = evidence.frame?.ratio {
      for (eyes, expected) in [
        (Eyes.one, shapes.one),
        (.packed(.sideBySide, rightViewFirst: false), shapes.sideBySide),
        (.packed(.topBottom, rightViewFirst: false), shapes.topBottom),
      ] where ratio.isNear(expected) {
        switch eyes {
        case .one, .twoViews: notes.append("by its shape, a frame holds one eye")
        case .packed(let arrangement, _):
          notes.append("by its shape, a frame holds two eyes \(arrangement.words)")
        }
        return eyes
      }
    }
    switch evidence.pictures {
    case nil: throw .needsPictures
    case .unclear: throw .refused(.unclear)
    case .onePicture: return .one
    case .packed(let arrangement):
      notes.append("its pictures show two eyes \(arrangement.words)")
      if case .packed(arrangement, let rightViewFirst) = evidence.name.eyes {
        return .packed(arrangement, rightViewFirst: rightViewFirst)
      }
      return .packed(arrangement, rightViewFirst: false)
    }
  }

  /// Returns whether each eye is squeezed to half its width or height.
  private mutating func isHalf(
    _ arrangement: PackingLayout.Arrangement, _ projection: RecognizedLayout.Projection
  ) -> Bool {
    if let given = evidence.givenPacking?.isHalf { return given }
    // Pictures that surround the viewer have no pixel shape.
    guard projection == .flat, arrangement != .frameByFrame else { return false }
    if let named = evidence.name.isHalf {
      // FFmpeg's filters, for example, turn half the width into pixels of 2:1.
      let isUndone = evidence.frame?.hasPixels(undoing: arrangement) ?? false
      self.named.append(named ? "each eye squeezed to half" : "each eye in full size")
      if named, isUndone { notes.append("its pixels are so wide or high that players undo that") }
      return named && !isUndone
    }
    guard let ratio = evidence.frame?.displayedRatio, !ratio.isOfFullEyes(arrangement) else {
      return false
    }
    notes.append("by the shape of its frames, each eye is squeezed to half")
    return true
  }

  // MARK: Projection

  private mutating func projection(
    _ eyes: Eyes?
  ) throws(Obstacle) -> RecognizedLayout.Projection {
    if let given = evidence.givenProjection { return given }
    switch evidence.declaredProjection {
    case .kind(.rectilinear): return .flat
    case .kind(let kind): return .kind(kind)
    case .unsupported(let words): throw .refused(.unsupportedProjection(words))
    case nil: break
    }
    let named: RecognizedLayout.Projection
    switch evidence.name.projection {
    case .kind(let kind): named = .kind(kind)
    case .fisheye(let degrees): named = .fisheye(degrees)
    case .cubemap: throw .refused(.unsupportedProjection("a cubemap"))
    case .equiAngularCubemap: throw .refused(.unsupportedProjection("an equi-angular cubemap"))
    case nil: return .flat
    }
    guard !evidence.name.hasOnlyNumberForProjection || fits(named, eyes) else {
      notes.append("the number of degrees in its name does not fit the shape of its frames")
      return .flat
    }
    self.named.append(named.words)
    return named
  }

  /// Returns whether the frames have the shape that such pictures have.
  private func fits(_ projection: RecognizedLayout.Projection, _ eyes: Eyes?) -> Bool {
    guard let shapes = projection.shapes, let ratio = evidence.frame?.ratio else { return false }
    return switch eyes {
    case .one, .twoViews: ratio.isNear(shapes.one)
    // Two eyes of 360 degrees are often squeezed into a frame of 2:1.
    case .packed(.sideBySide, _): ratio.isNear(shapes.sideBySide) || ratio.isNear(shapes.one)
    case .packed(.topBottom, _): ratio.isNear(shapes.topBottom) || ratio.isNear(shapes.one)
    case .packed(.frameByFrame, _): ratio.isNear(shapes.one)
    case nil: [shapes.one, shapes.sideBySide, shapes.topBottom].contains(where: ratio.isNear)
    }
  }
}

extension RecognizedLayout.Projection {
  /// The ratio of width to height of frames with one eye and with two; nil for flat pictures, which
  /// may have any.
  fileprivate var shapes: (one: Double, sideBySide: Double, topBottom: Double)? {
    switch self {
    case .flat, .kind(.rectilinear), .kind(.parametric): nil
    case .kind(.equirectangular): (2, 4, 1)
    case .kind(.halfEquirectangular), .kind(.fisheye), .fisheye: (1, 2, 0.5)
    }
  }

  /// A description for the user.
  package var words: String {
    switch self {
    case .flat: "flat pictures"
    case .kind(.equirectangular): "360 degrees"
    case .kind(.halfEquirectangular): "180 degrees"
    case .kind(let kind): "\(kind.rawValue) pictures"
    case .fisheye(let degrees?):
      "fisheye pictures of \(degrees.isFinite ? Int(clamping: Int64(degrees)) : 0) degrees"
    case .fisheye(nil): "fisheye pictures"
    }
  }
}

extension PackingLayout.Arrangement {
  fileprivate var words: String {
    switch self {
    case .sideBySide: "side by side"
    case .topBottom: "one above the other"
    case .frameByFrame: "frame by frame"
    }
  }
}

extension Double {
  /// Whether a ratio differs by at most 4 %, which cropping to whole blocks may cause. 16:9 is not
  /// near 2:1, nor is the 1.9:1 of digital cinema.
  fileprivate func isNear(_ other: Double) -> Bool { abs(self - other) <= other * 0.04 }

  /// Whether frames with this ratio of width to height, as displayed, hold flat pictures of full
  /// size rather than ones that were squeezed to half.
  fileprivate func isOfFullEyes(_ arrangement: PackingLayout.Arrangement) -> Bool {
    switch arrangement {
    // Wider than films of one picture are, or two phones' pictures, 9:16 or 9:20 each.
    case .sideBySide: self >= 2.6 || isNear(2 * 9 / 16) || isNear(2 * 9 / 20)
    // Two squeezed pictures have the shape of one, down to the 9:16 of a phone.
    case .topBottom: self <= 1.25 && !isNear(9.0 / 16)
    case .frameByFrame: true
    }
  }
}
