internal import CGStreamer
internal import GStreamer
internal import Synchronization

/// Takes single frames out of a spatial movie.
struct FrameExtraction {
  let movie: String
  /// A mode of `stereopack`.
  let mode: String
  /// The element that encodes a picture.
  let encoder: String

  private static let patience = ClockTime.second * 20

  /// Writes a frame.
  ///
  /// - Parameters:
  ///   - keyframe: a time within the last frame before, or that frame itself, that decoding can
  ///     start at; in nanoseconds.
  ///   - skipped: how many frames are shown from there until the wanted one.
  func write(skipping skipped: Int, from keyframe: ClockTime, to path: String) async throws {
    let pipeline = try Pipeline(
      parsing: "filesrc name=source ! mvhevcdemux name=demux demux.video_0 ! mvhevcdec name=eyes "
        + "eyes.left ! queue ! videoconvert ! pack.left eyes.right ! queue ! videoconvert ! pack.right "
        + "stereopack name=pack mode=\(mode) ! videoconvert ! \(encoder) snapshot=true "
        + "! filesink name=sink")
    try pipeline.element(named: "source")?.set("location", parsing: movie)
    try pipeline.element(named: "sink")?.set("location", parsing: path)
    defer { pipeline.end() }
    let gate = FrameGate(skipping: skipped)
    gate.watch(pipeline.element(named: "pack")?.staticPad("src"))
    pipeline.setState(GST_STATE_PAUSED)
    guard pipeline.waitForState(timeout: Self.patience) else {
      throw MovieError(movie, try await firstError(pipeline))
    }
    guard
      pipeline.element(named: "demux")?
        .seek(to: keyframe, flags: GST_SEEK_FLAG_KEY_UNIT) == true
    else {
      throw MovieError(movie, "it cannot be searched")
    }
    _ = pipeline.play()
    for await message in pipeline.bus.messages {
      switch message.content {
      case .endOfStream: return
      case .error(let failure): throw MovieError(movie, failure.message)
      default: break
      }
    }
  }

  private func firstError(_ pipeline: Pipeline) async throws -> String {
    let timeout = Task {
      try await Task.sleep(for: .seconds(1))
      return "its frames cannot be decoded"
    }
    let error = Task {
      for await message in pipeline.bus.messages {
        if case .error(let failure) = message.content {
          timeout.cancel()
          return failure.message
        }
      }
      return "its frames cannot be decoded"
    }
    if let reason = try? await timeout.value {
      error.cancel()
      return reason
    }
    return await error.value
  }

  /// One picture of several, in rows.
  static func writeSheet(_ pictures: [String], to path: String, cell: (width: Int, height: Int))
    async throws
  {
    let columns = max(1, Int(Double(pictures.count).squareRoot().rounded(.up)))
    var line = "compositor name=mix background=black"
    for index in pictures.indices {
      line +=
        " sink_\(index)::xpos=\(index % columns * cell.width)"
        + " sink_\(index)::ypos=\(index / columns * cell.height)"
    }
    line += " ! videoconvert ! pngenc snapshot=true ! filesink name=sink"
    for index in pictures.indices {
      line +=
        " filesrc name=source\(index) ! pngdec ! videoconvert ! videoscale "
        + "! video/x-raw,width=\(cell.width),height=\(cell.height),pixel-aspect-ratio=1/1 "
        + "! mix.sink_\(index)"
    }
    let pipeline = try Pipeline(parsing: line)
    for (index, picture) in pictures.enumerated() {
      try pipeline.element(named: "source\(index)")?.set("location", parsing: picture)
    }
    try pipeline.element(named: "sink")?.set("location", parsing: path)
    try await pipeline.run()
  }
}

/// Lets frames pass only from the wanted one on, counted from the flush of a seek.
private final class FrameGate: Sendable {
  private let wanted: Int
  private let left = Atomic(0)

  init(skipping wanted: Int) {
    self.wanted = wanted
  }

  func watch(_ pad: Pad?) {
    guard let pad else { return }
    let what = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue
    let probe: GstPadProbeCallback = { _, info, data in
      guard let info, let data else { return GST_PAD_PROBE_OK }
      let gate = Unmanaged<FrameGate>.fromOpaque(data).takeUnretainedValue()
      let isBuffer = info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0
      return gate.passes(isBuffer: isBuffer) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
    }
    gst_pad_add_probe(
      pad.pointer, GstPadProbeType(what), probe, Unmanaged.passRetained(self).toOpaque()
    ) { data in
      if let data { Unmanaged<FrameGate>.fromOpaque(data).release() }
    }
  }

  private func passes(isBuffer: Bool) -> Bool {
    guard isBuffer else {
      left.store(wanted, ordering: .relaxed)
      return true
    }
    guard left.load(ordering: .relaxed) > 0 else { return true }
    left.subtract(1, ordering: .relaxed)
    return false
  }
}
