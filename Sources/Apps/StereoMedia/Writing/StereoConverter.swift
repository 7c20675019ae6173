// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Makes spatial movies of stereo movies of any layout: side by side, top and bottom, frame by frame,
/// MV-HEVC with other settings; or movies of another layout of them.
///
/// ```swift
/// for try await progress in StereoConverter.convert("sbs.mp4", to: "spatial.mov") {
///   print(progress.fraction)
/// }
/// ```
public enum StereoConverter {
  /// A conversion, which begins when it is looped over, or its report is asked for.
  ///
  /// All sound comes along, and how the pair was shot, as far as it is possible and the settings say
  /// nothing else.
  ///
  /// - Parameters:
  ///   - input: a QuickTime or MP4 movie, or H.265 without a container.
  ///   - output: the movie to write; nil for one beside the input, with its layout in its name:
  ///     `_MVHEVC.mov`, `_SBS.mp4`, `_TB.mp4` or `_2D.mp4`.
  ///   - packing: how the eyes share a frame of an input that does not say so; nil to find out from
  ///     its pictures.
  ///   - settings: how it is written. Fields of ``StereoWriter/Settings/spatial`` that are nil, and
  ///     ``StereoWriter/Settings/sound`` where it is nil, are the input's.
  public static func convert(
    _ input: String, to output: String? = nil, packing: PackingLayout? = nil,
    _ settings: StereoWriter.Settings = StereoWriter.Settings()
  ) -> Conversion {
    let output = output ?? name(beside: input, settings.layout)
    return Conversion(output: output) {
      try await begin(input, output, packing, settings)
    }
  }

  /// `movie.mp4` becomes `movie_MVHEVC.mov`.
  static func name(
    beside input: String, _ layout: StereoWriter.Settings.Layout
  ) -> String {
    let start = input.lastIndex(of: "/").map { input.index(after: $0) } ?? input.startIndex
    let end = input[start...].dropFirst().lastIndex(of: ".") ?? input.endIndex
    let ending =
      switch layout {
      case .multiview: "_MVHEVC.mov"
      case .packed(let packing): packing.arrangement == .topBottom ? "_TB.mp4" : "_SBS.mp4"
      case .mono: "_2D.mp4"
      }
    return input[..<end] + ending
  }

  private static func begin(
    _ input: String, _ output: String, _ packing: PackingLayout?, _ settings: StereoWriter.Settings
  ) async throws -> Conversion.Work {
    let movie = try await StereoMovie(input)
    guard let video = movie.video, let last = video.frames.last else {
      throw StereoMediaError(.missingVideo, "'\(input)' has no video")
    }
    var packing = packing
    if video.layout == .mono, packing == nil { packing = try await seenPacking(input) }
    var settings = settings
    settings.spatial = settings.spatial.fillingGaps(from: video.spatial.writable)
    settings.sound = settings.sound ?? movie
    settings.frameRate = settings.frameRate ?? video.frameRate
    var options = StereoReader.Options()
    options.packing = packing
    return Conversion.Work(
      try StereoWriter(output, settings), StereoReader(movie, options).makeAsyncIterator(),
      span: .zero..<last.time + last.duration)
  }

  /// How two eyes share each frame, as the pictures show.
  private static func seenPacking(_ input: String) async throws -> PackingLayout {
    try await Engine.start()
    guard case .packed(let arrangement)? = try? await PackingProbe.look(at: input) else {
      throw StereoMediaError(
        .missingVideo, "'\(input)' shows one eye only, as far as it says and can be seen",
        hint: "where it has two in each frame, 'packing' says how")
    }
    return PackingLayout(arrangement)
  }
}
