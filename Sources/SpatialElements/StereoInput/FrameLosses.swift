import GStreamer

/// How many frames could not be used.
struct FrameLosses: Equatable {
  /// Of one eye, without a partner of the same time.
  var left = 0
  var right = 0
  /// Pairs whose timestamp does not come after that of the pair before.
  var late = 0

  var total: Int { left + right + late }

  /// Tells the application what is missing.
  var warning: ElementError {
    var sentences: [String] = []
    if left + right > 0 {
      sentences.append(
        "Frames of one eye without a partner of the same time were dropped: \(left) of the left, "
          + "\(right) of the right eye so far.")
    }
    if late > 0 {
      sentences.append(
        "Pairs of frames whose timestamps do not come after those of the pair before were dropped: "
          + "\(late) so far.")
    }
    return ElementError(.failedStream, sentences.joined(separator: " "))
  }
}
