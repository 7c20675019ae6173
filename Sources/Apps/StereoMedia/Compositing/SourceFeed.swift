// SPDX-License-Identifier: MPL-2.0

/// Reads a source of a composition, whose frames are asked for in the order of their times. The movie
/// is decoded while its part is shown, and at no other time.
struct SourceFeed {
  let source: CompositionSource
  private let options: StereoReader.Options
  private var frames: StereoReader.Iterator?
  private var held: StereoFrame?

  /// - Parameter options: as what the frames are read.
  init(_ source: CompositionSource, _ options: StereoReader.Options) {
    (self.source, self.options) = (source, options)
  }

  /// The frame that is shown at a time of the composition; nil where there is none.
  mutating func frame(at time: Duration) async throws -> StereoFrame? {
    guard time < source.part.end else {
      (frames, held) = (nil, nil)
      return nil
    }
    guard let index = source.part.frame(at: time) else { return nil }
    if frames == nil {
      var options = options
      options.range = source.part.rest(from: index)
      frames = StereoReader(source.movie, options).makeAsyncIterator()
    }
    while held?.index ?? -1 < index, let next = try await frames?.next() { held = next }
    return held?.index == index ? held : nil
  }
}
