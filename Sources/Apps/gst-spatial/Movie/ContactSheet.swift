// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Several pictures in rows, as one.
struct ContactSheet {
  /// More are no help to anybody, and each takes a few threads.
  static let limit = 400

  private static let cellWidth = 480
  private static let patience = Duration.seconds(60)

  /// The bytes of the sheet.
  ///
  /// - Parameter pictures: the paths of PNG pictures of one size.
  static func make(
    of pictures: [String], format: PictureFormat
  ) async throws -> [UInt8] {
    guard let first = pictures.first, let size = try PictureFile.pngSize(first) else { return [] }
    let width = min(size.width, cellWidth)
    let height = max(2, size.height * width / size.width)
    let columns = max(1, Int(Double(pictures.count).squareRoot().rounded(.up)))
    var line = "compositor name=mix background=black"
    for index in pictures.indices {
      line +=
        " sink_\(index)::xpos=\(index % columns * width)"
        + " sink_\(index)::ypos=\(index / columns * height)"
    }
    line += " ! videoconvert ! \(format.encoder) ! fakesink name=sink"
    for index in pictures.indices {
      line +=
        " filesrc name=source\(index) ! pngdec ! videoconvert ! videoscale "
        + "! video/x-raw,width=\(width),height=\(height),pixel-aspect-ratio=1/1 ! mix.sink_\(index)"
    }
    let pipeline = try Pipeline(parsing: line)
    defer { pipeline.end() }
    for (index, picture) in pictures.enumerated() {
      try pipeline.element(named: "source\(index)")?.set("location", parsing: picture)
    }
    pipeline.setState(.paused)
    try await pipeline.preroll(timeout: patience)
    return pipeline.element(named: "sink")?.lastBuffer?.buffer.bytes ?? []
  }
}
