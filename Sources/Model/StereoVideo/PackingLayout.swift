// SPDX-License-Identifier: MPL-2.0

/// How two eyes share one frame or one sequence of frames.
public struct PackingLayout: Hashable, Sendable {
  /// The arrangement of the eyes.
  public enum Arrangement: Sendable, CaseIterable {
    /// The eyes side by side in one frame.
    case sideBySide
    /// The eyes one above the other in one frame.
    case topBottom
    /// The eyes in alternate frames.
    case frameByFrame
  }

  /// The arrangement of the eyes.
  public var arrangement: Arrangement
  /// Whether the right eye comes first (left half, upper half, first frame).
  public var rightViewFirst: Bool
  /// Whether each eye was squeezed to half its width (side by side) or height (top-bottom).
  public var halfAspect: Bool

  /// Creates a layout.
  public init(_ arrangement: Arrangement, rightViewFirst: Bool = false, halfAspect: Bool = false) {
    self.arrangement = arrangement
    self.rightViewFirst = rightViewFirst
    self.halfAspect = halfAspect
  }
}

extension PackingLayout: CustomStringConvertible {
  /// Description for the user: `side by side, left eye first`.
  public var description: String {
    let arrangement =
      switch self.arrangement {
      case .sideBySide: "side by side"
      case .topBottom: "top and bottom"
      case .frameByFrame: "frame by frame"
      }
    return arrangement + (rightViewFirst ? ", right eye first" : ", left eye first")
      + (halfAspect ? ", each squeezed to half" : "")
  }
}

/// How the planes of two eyes are packed into one.
public enum PlanePacking: Sendable, Equatable {
  /// Eyes side by side; if `half`, each is scaled to half its width.
  case sideBySide(half: Bool)
  /// Eyes one above the other; if `half`, each is scaled to half its height.
  case topBottom(half: Bool)
  /// Alternating rows of the eyes. If `half`, every other row of each eye is dropped, as displays
  /// with row polarizers require.
  case rowInterleaved(half: Bool)

  /// Returns the size of the packed picture.
  public func size(ofEye width: Int, _ height: Int) -> (width: Int, height: Int) {
    switch self {
    case .sideBySide(half: false): (width * 2, height)
    case .topBottom(half: false), .rowInterleaved(half: false): (width, height * 2)
    case .sideBySide, .topBottom, .rowInterleaved: (width, height)
    }
  }

  /// Packs both eyes into `target`; the first is on the left, at the top or has the first row.
  public func pack(
    _ first: PlaneView, _ second: PlaneView, into target: PlaneView, _ format: SampleFormat
  ) {
    for (place, eye) in [first, second].enumerated() {
      switch self {
      case .sideBySide(let half):
        // If a row has an odd number of pixels, the first eye gets the smaller part.
        let pixels = target.rowBytes / format.bytesPerPixel
        let split = pixels / 2 * format.bytesPerPixel
        let part = target.part(
          x: place * split, y: 0, rowBytes: place == 0 ? split : target.rowBytes - split,
          rows: target.rows)
        if half { part.halveWidth(of: eye, format) } else { part.copy(eye) }
      case .topBottom(let half):
        let split = target.rows / 2
        let part = target.part(
          x: 0, y: place * split, rowBytes: target.rowBytes,
          rows: place == 0 ? split : target.rows - split)
        if half { part.halveHeight(of: eye, format) } else { part.copy(eye) }
      case .rowInterleaved(let half):
        let rows = (target.rows + 1 - place) / 2
        let part = target.part(
          x: 0, y: min(place, max(0, target.rows - 1)), rowBytes: target.rowBytes, rows: rows,
          step: 2)
        part.copy(
          half ? eye.part(x: 0, y: place, rowBytes: eye.rowBytes, rows: rows, step: 2) : eye)
      }
    }
  }
}
