// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoEncoder
import StereoVideo

/// Reports the progress of long work once per second in an element message with `running-time`
/// (ns), `frames`, `bytes` and `frames-per-second` (of the work, not the video).
struct ProgressReport {
  private let messageName: String
  private var started: ClockTime?
  private var lastPost: ClockTime = 0

  init(_ messageName: String) {
    self.messageName = messageName
  }

  /// Posts a message if a second has passed since the last one, or if `isFinal`.
  mutating func post(
    from element: any ElementObject, runningTime: RunningTime, frames: Int, bytes: UInt64,
    isFinal: Bool = false
  ) {
    let now = monotonicTime()
    let started = self.started ?? now
    self.started = started
    guard isFinal || now - lastPost >= .second else { return }
    lastPost = now
    let seconds = (now - started).seconds
    element.postMessage(
      messageName,
      [
        "running-time": .int64(runningTime.nanoseconds),
        "frames": .uint64(UInt64(clamping: frames)),
        "bytes": .uint64(bytes),
        "frames-per-second": .double(seconds > 0 ? Double(frames) / seconds : 0),
      ])
  }
}

extension ElementObject {
  /// Reports at the end what each eye cost: one element message `stereo-encoder-statistics` per
  /// eye, and a line in the log.
  func postStatistics(_ stereo: StereoInput) {
    let baseBytes = stereo.statistics(of: stereo.baseEye)?.bytes ?? 0
    for eye in Eye.allCases {
      guard let statistics = stereo.statistics(of: eye) else { continue }
      let role = eye == stereo.baseEye ? "base" : "dependent"
      let qp = statistics.averageQP
      let quality = qp.map { ", average QP \(($0 * 100).rounded() / 100)" } ?? ""
      let rate = statistics.kilobitsPerSecond.rounded()
      log.info(
        self,
        "\(eye) eye (\(role)): \(statistics.frames) frames, \(statistics.bytes) bytes, "
          + "\(rate) kbit/s\(quality)")
      let keyframes = statistics.keyframes
      if let keyframes {
        log.info(
          self,
          "\(eye) eye: \(keyframes.predicted) keyframes predicted, \(keyframes.plain) not; "
            + "\(keyframes.savedBytes) bytes saved")
      }
      postMessage(
        "stereo-encoder-statistics",
        [
          "eye": .string(eye.rawValue), "layer": .string(role),
          "frames": .uint64(UInt64(clamping: statistics.frames)),
          "bytes": .uint64(UInt64(clamping: statistics.bytes)),
          "bitrate": .double(statistics.kilobitsPerSecond * 1000),
          "average-qp": .double(qp ?? -1),
          "share-of-base": .double(
            baseBytes > 0 ? Double(statistics.bytes) / Double(baseBytes) : -1),
          "predicted-keyframes": .uint64(UInt64(clamping: keyframes?.predicted ?? 0)),
          "plain-keyframes": .uint64(UInt64(clamping: keyframes?.plain ?? 0)),
          "saved-bytes": .uint64(UInt64(clamping: keyframes?.savedBytes ?? 0)),
        ])
    }
  }
}
