import StereoVideo

/// Puts the pictures of both eyes together again, in the order they are shown in.
///
/// The base eye's pictures come in decoding order, those of the dependent eye in the order they are
/// shown in: so a pair leaves when its second picture comes, and a picture of an earlier time that
/// is still waiting then has lost its partner and goes alone.
struct PairQueue<Content> {
  typealias Output = [(eye: Eye, content: Content)]

  private struct Waiting {
    let accessUnit: UInt64
    let eye: Eye
    let time: UInt64
    let content: Content
  }

  private var waiting: [Waiting] = []

  /// How many pictures may wait: more than a decoder's buffer holds.
  private let limit = 32

  /// Adds a picture; returns what is to be sent now, the left eye first.
  ///
  /// - Parameter time: when the picture is shown.
  mutating func add(_ content: Content, accessUnit: UInt64, eye: Eye, time: UInt64) -> Output {
    let partner = waiting.firstIndex { $0.accessUnit == accessUnit && $0.eye != eye }
    guard let partner else {
      waiting.append(Waiting(accessUnit: accessUnit, eye: eye, time: time, content: content))
      return waiting.count > limit ? takeFirst(waiting.count - limit) : []
    }
    let other = waiting.remove(at: partner)
    let alone = takeFirst(waiting.count { $0.time < time })
    return alone
      + (eye == .left
        ? [(.left, content), (.right, other.content)]
        : [(.left, other.content), (.right, content)])
  }

  /// What still waits, at the end of the stream.
  mutating func drain() -> Output { takeFirst(waiting.count) }

  /// The `count` earliest pictures.
  private mutating func takeFirst(_ count: Int) -> Output {
    guard count > 0 else { return [] }
    waiting.sort { $0.time < $1.time }
    defer { waiting.removeFirst(count) }
    return waiting.prefix(count).map { ($0.eye, $0.content) }
  }
}
