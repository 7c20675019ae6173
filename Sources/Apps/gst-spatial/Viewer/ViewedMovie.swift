// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia

/// What the viewer's page is told of a movie.
struct ViewedMovie {
  private let movie: StereoMovie
  private let packing: PackingLayout.Arrangement?

  /// - Parameter packing: how the pictures of a movie that does not say so are seen to hold two eyes.
  init(_ movie: StereoMovie, packing: PackingLayout.Arrangement?) {
    (self.movie, self.packing) = (movie, packing)
  }

  var json: JSON {
    let facts = movie.facts
    let name = movie.path.split(separator: "/").last.map(String.init) ?? movie.path
    return [
      "name": .string(name),
      "retag": facts.stereo == .layered
        ? .string("gst-spatial run retag input=" + ShellWord.quoted(movie.path)) : .null,
      "facts": .string(facts.text(times: false, prediction: nil)),
      "spatial": .bool(movie.isSpatial),
      "eyes": facts.stereo == .no ? 1 : 2,
      // The page cuts such pictures itself.
      "cut": JSON(facts.stereo == .no ? packing.map(name(of:)) : nil),
      "width": JSON(movie.video?.eyeWidth), "height": JSON(movie.video?.eyeHeight),
      "pixel-shape": JSON(pixelShape),
      "projection": JSON(facts.metadata.projection?.rawValue),
      "field-of-view": JSON(facts.metadata.horizontalFieldOfView?.degrees),
      "disparity": JSON(facts.metadata.disparityAdjustment?.pictureWidths),
      "sound": .bool(ViewedSound.track(of: movie) != nil),
      "anaglyph": anaglyph,
      // Microseconds.
      "times": .array(facts.frames.map { JSON(Int64(($0.time / .microseconds(1)).rounded())) }),
      "bytes": .array(facts.frames.map { JSON($0.byteCount) }),
      "keyframes": .array(facts.frames.indices.filter { facts.frames[$0].isSync }.map { JSON($0) }),
    ]
  }

  private func name(of arrangement: PackingLayout.Arrangement) -> String {
    arrangement == .topBottom ? "top-bottom" : "side-by-side"
  }

  /// How many times as wide as high the pixels of an eye are shown.
  private var pixelShape: Double {
    var shape = 1.0
    if let pixel = movie.facts.entry?.pixelAspectRatio, pixel.horizontalSpacing > 0,
      pixel.verticalSpacing > 0
    {
      shape = Double(pixel.horizontalSpacing) / Double(pixel.verticalSpacing)
    }
    guard case .packed(let layout) = movie.facts.stereo, layout.halfAspect else { return shape }
    return layout.arrangement == .topBottom ? shape / 2 : shape * 2
  }

  /// The rows of the matrices that give red, green and blue.
  private var anaglyph: JSON {
    let matrices = Anaglyph.Method.redCyanDubois.matrices
    func rows(_ matrix: [[Double]]) -> JSON { .array(matrix.map { .array($0.map { JSON($0) }) }) }
    return ["left": rows(matrices.left), "right": rows(matrices.right)]
  }
}
