// SPDX-License-Identifier: MPL-2.0

import StereoVideo

/// What is shown at one moment: the pictures of both eyes, or the one that is there.
struct StereoPicture<Content> {
  var left: Content?
  var right: Content?

  init(_ eye: Eye, _ content: Content) { self[eye] = content }

  subscript(eye: Eye) -> Content? {
    get { eye == .left ? left : right }
    set { if eye == .left { left = newValue } else { right = newValue } }
  }
}

/// Puts the pictures of both eyes together again, in the order they are shown in.
///
/// The base eye's pictures come in decoding order, those of the dependent eye in the order they are
/// shown in: so a pair leaves when its second picture comes, and a picture of an earlier place that
/// is still waiting then has lost its partner and goes alone.
struct PairQueue<Content> {
  private struct Waiting {
    let accessUnit: UInt64
    let eye: Eye
    let order: UInt64
    let content: Content
  }

  private var waiting: [Waiting] = []

  /// How many pictures may wait: more than a decoder's buffer holds.
  private let limit = 32

  /// Adds a picture; returns what is to be shown now.
  ///
  /// - Parameter order: the picture's place among those that are shown.
  mutating func add(
    _ content: Content, accessUnit: UInt64, eye: Eye, order: UInt64
  ) -> [StereoPicture<Content>] {
    let partner = waiting.firstIndex { $0.accessUnit == accessUnit && $0.eye != eye }
    guard let partner else {
      waiting.append(Waiting(accessUnit: accessUnit, eye: eye, order: order, content: content))
      return waiting.count > limit ? takeFirst(waiting.count - limit) : []
    }
    var pair = StereoPicture(eye, content)
    pair[eye.other] = waiting.remove(at: partner).content
    return takeFirst(waiting.count { $0.order < order }) + [pair]
  }

  /// What still waits, at the end of the stream.
  mutating func drain() -> [StereoPicture<Content>] { takeFirst(waiting.count) }

  /// The `count` earliest pictures.
  private mutating func takeFirst(_ count: Int) -> [StereoPicture<Content>] {
    guard count > 0 else { return [] }
    waiting.sort { $0.order < $1.order }
    defer { waiting.removeFirst(count) }
    return waiting.prefix(count).map { StereoPicture($0.eye, $0.content) }
  }
}
