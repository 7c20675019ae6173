// SPDX-License-Identifier: MPL-2.0

import GStreamer

extension ElementImplementation {
  /// Seeks where a task of the sink pad reads the input, in the thread of the application or of a
  /// sink.
  ///
  /// - Parameters:
  ///   - sink: The pad with the task.
  ///   - sources: The pads that a flush is sent to.
  ///   - event: The seek, whose sequence number the flush gets.
  ///   - isFlushing: Whether what is under way is discarded.
  ///   - move: Moves the reading to the new place, while the task is paused.
  /// - Returns: Whether the element is active.
  func seek(
    reading sink: Pad, _ sources: [Pad], _ event: Event, isFlushing: Bool,
    _ move: @escaping (inout Streaming) -> Void
  ) -> Bool {
    func flush(_ flush: Event) {
      let following = flush.following(event)
      sink.push(following)
      for source in sources { source.push(following) }
    }
    if isFlushing { flush(.flushStart) } else { sink.pauseTask() }
    return withStreaming(sink) { streaming in
      sink.pauseTask()
      if isFlushing { flush(.flushStop()) }
      move(&streaming)
      sink.resumeTask()
    }
  }
}
