// SPDX-License-Identifier: MPL-2.0

internal import StereoMedia
internal import Synchronization
internal import Web

/// The pictures of a movie's frames, as picture files.
final class FramePictures: Sendable {
  /// What is wanted of a frame.
  struct Request {
    /// An eye; nil for what `show` says.
    var eye: Eye?
    var show = StereoImageGenerator.Show.both
    var format = ImageFormat.jpeg()
    /// The most that it may be wide, in pixels; nil for the size of the movie.
    var width: Int?

    /// - Parameter name: `left`, `right`, `both` or `anaglyph`.
    /// - Returns: nil for what no frame has.
    init?(_ name: String, _ request: WebRequest) {
      guard let show = StereoImageGenerator.Show(rawValue: name) else { return nil }
      switch show {
      case .left: eye = .left
      case .right: eye = .right
      case .both, .anaglyph: self.show = show
      }
      switch request.parameter("f") {
      case "png": format = .png
      case "jpeg", nil: break
      default: return nil
      }
      if let width = request.parameter("w") {
        guard let number = Int(width), (16...16_384).contains(number) else { return nil }
        self.width = number
      }
    }
  }

  private let pair: StereoImageGenerator
  private let anaglyph: StereoImageGenerator
  private let waiting = Mutex(0)

  /// So many are asked for at a time: an eye each of the frame that is shown, and of the next one.
  private static let limit = 8

  init(_ movie: StereoMovie) {
    pair = StereoImageGenerator(movie)
    anaglyph = StereoImageGenerator(movie, show: .anaglyph)
  }

  /// - Returns: nil where too many are asked for at once.
  /// - Throws: a ``StereoMediaError``; `CancellationError` where the peer leaves.
  func image(_ index: Int, _ request: Request) async throws -> [UInt8]? {
    let isFree = waiting.withLock { waiting in
      guard waiting < Self.limit else { return false }
      waiting += 1
      return true
    }
    guard isFree else { return nil }
    defer { waiting.withLock { $0 -= 1 } }
    let generator = request.show == .anaglyph ? anaglyph : pair
    return try await generator.image(
      index, of: request.eye, as: request.format,
      maximumSize: request.width.map { .fit(width: $0) }
    ).bytes
  }
}
