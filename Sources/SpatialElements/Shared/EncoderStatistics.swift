import GStreamer
import StereoEncoder
import StereoVideo

extension ElementObject {
  /// Says at the end what each eye cost: an element message `stereo-encoder-statistics` an eye,
  /// and a line in the log.
  func postStatistics(_ stereo: StereoInput, log: DebugCategory) {
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
      postMessage(
        "stereo-encoder-statistics",
        [
          "eye": .string(eye.rawValue), "layer": .string(role),
          "frames": .uint64(UInt64(clamping: statistics.frames)),
          "bytes": .uint64(UInt64(clamping: statistics.bytes)),
          "bitrate": .double(statistics.kilobitsPerSecond * 1000),
          "average-qp": .double(qp ?? -1),
        ])
    }
  }
}
