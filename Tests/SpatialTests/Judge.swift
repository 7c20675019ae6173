// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoVideo
import TestKit
import Testing

/// FFmpeg's MV-HEVC decoder, as an independent witness.
enum Judge {
  private static let program = """
    import sys, numpy as np, av
    sys.path.insert(0, sys.argv[1])
    import decode_views, av.logging
    av.logging.set_level(av.logging.ERROR)
    path, width, height, depth = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
    kind = np.uint8 if depth == 8 else np.uint16
    def load(path):
        # GStreamer's rows are multiples of four bytes, its planes of an even number of rows.
        data, frames, scale = np.fromfile(path, kind), [], kind().itemsize
        sizes = [(width, height)] + 2 * [((width + 1) // 2, (height + 1) // 2)]
        strides = [-(-w * scale // 4) * 4 // scale for w, h in sizes]
        heights = [(height + 1) // 2 * 2] + 2 * [(height + 1) // 2]
        while len(data):
            planes = []
            for (w, h), stride, rows in zip(sizes, strides, heights):
                planes.append(data[: stride * rows].reshape(rows, stride)[:h, :w].ravel())
                data = data[stride * rows :]
            frames.append(np.concatenate(planes).astype(float))
        return np.stack(frames)
    eyes = [load(p) for p in sys.argv[6:8]]
    seen = {}
    with av.open(path) as movie:
        stream = movie.streams.video[0]
        stream.codec_context.thread_count = 1
        stream.codec_context.options = {"view_ids": "-1"}
        for frame in movie.decode(stream):
            view = decode_views.view_id(frame)
            picture = np.frombuffer(decode_views.planes(frame), kind).astype(float)
            seen.setdefault(view, []).append(picture)
    for view in sorted(seen):
        pictures = np.stack(seen[view])
        rates = []
        for eye in eyes:
            error = ((pictures - eye[:len(pictures)]) ** 2).mean()
            rates.append(99 if error == 0 else 10 * np.log10((2 ** depth - 1) ** 2 / error))
        print(view, len(pictures), *("%.1f" % rate for rate in rates))
    """

  /// What an independent decoder says of a view: how many pictures, and their PSNR against each of
  /// the eyes as they were drawn.
  private struct Judgement {
    let view: String
    let count: Int
    let left: Double
    let right: Double
  }

  private static func judge(
    _ path: String, _ folder: TemporaryFolder, count: Int, width: Int, height: Int,
    format: String = "I420"
  ) async throws -> [Judgement] {
    var files: [String] = []
    for eye in ["left", "right"] {
      files.append(folder.path(eye + ".yuv"))
      try await play(
        "stereotestsrc num-buffers=\(count) ! "
          + "video/x-raw,format=\(format),width=\(width),height=\(height),multiview-mode=\(eye) ! "
          + "filesink location=\(files[files.count - 1])")
    }
    let tools = Repository.url.appending(path: "Tests/Tools").path
    let lines = try Python.lines(
      ["-c", program, tools, path, "\(width)", "\(height)", format == "I420" ? "8" : "10"] + files)
    return try lines.map { line in
      let words = line.words
      return Judgement(
        view: words[0], count: try #require(Int(words[1])), left: try #require(Double(words[2])),
        right: try #require(Double(words[3])))
    }
  }

  /// Both eyes are there, and each is its own. Needs PyAV.
  static func expectEyes(
    _ path: String, _ folder: TemporaryFolder, count: Int, width: Int, height: Int,
    format: String = "I420", base: Eye = .left, above least: Double = 34
  ) async throws {
    let views = try await judge(
      path, folder, count: count, width: width, height: height, format: format)
    try #require(views.count == 2, "\(views)")
    for (view, eye) in zip(views, [base, base.other]) {
      let (own, other) = eye == .left ? (view.left, view.right) : (view.right, view.left)
      #expect(view.count == count)
      #expect(own > least, "\(views)")
      #expect(own > other + 6, "\(views)")
    }
  }

  static let isThere: ConditionTrait = .enabled(
    if: Python.hasAVAndNumPy, "no Python with PyAV and NumPy; see GST_SPATIAL_PYTHON")
}
