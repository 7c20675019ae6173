// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer

/// Going elsewhere, as threads of applications and sinks ask for it.
extension MVHEVCDemux {
  func handleFromDownstream(_ pad: Pad, _ event: Event) throws -> Bool {
    switch event.kind {
    case .seek: return facts.current.isSoughtUpstream ? pad.forward(event) : seek(event)
    // Which pads are linked is looked at again and again.
    case .reconfigure: return true
    default: return pad.forward(event)
    }
  }

  private func seek(_ event: Event) -> Bool {
    guard let request = event.seek.flatMap({ SeekRequest($0) }) else { return false }
    // A pipeline sends one seek to each of its sinks, and all of them come here.
    guard seeks.current.followed != event.sequenceNumber else { return true }
    // What cannot be done is refused before anything is dropped for it.
    guard let plan = plan(request) else { return false }
    let isDone =
      sink.mode == .pull ? pullSeek(request, plan, event) : pushSeek(plan, event)
    guard isDone else { return false }
    seeks.withLock { $0.followed = event.sequenceNumber }
    return true
  }

  /// What a seek comes to as things are; nil where it makes no sense.
  private func plan(_ request: SeekRequest) -> SeekPlan? {
    let now = facts.current
    var segment = now.segment
    (segment.position, segment.duration) = (now.position, now.duration)
    let taken = now.pads.indices.filter { now.pads[$0].isLinked }.map { StreamID(rawValue: $0) }
    return now.seekMap?.plan(request, from: segment, selected: Set(taken))
  }

  /// - Parameter plan: what the seek came to when it was asked for.
  private func pullSeek(_ request: SeekRequest, _ plan: SeekPlan, _ event: Event) -> Bool {
    let isFlushing = request.flags.contains(.reset)
    if isFlushing {
      sink.push(Event.flushStart.following(event))
      pushToAll(Event.flushStart.following(event))
    } else {
      sink.pauseTask()
    }
    return withStreaming(sink) { [self] streaming in
      sink.pauseTask()
      if isFlushing {
        sink.push(Event.flushStop().following(event))
        pushToAll(Event.flushStop().following(event))
      }
      // Without a flush, the new part follows all that has been played up to here.
      let plan = isFlushing ? plan : self.plan(request) ?? plan
      streaming.begin(plan, event)
      if request.flags.contains(.endsWithSegmentDone) {
        postSegmentStart(at: plan.segment.start, following: event)
      }
      sink.resumeTask()
    }
  }

  private func pushSeek(_ plan: SeekPlan, _ event: Event) -> Bool {
    // Not under the stream lock: the streaming thread may be waiting for this very seek.
    seeks.withLock { $0.pending = (plan, event) }
    let isDone = sink.push(Event.byteSeek(to: plan.offset).following(event))
    if !isDone { seeks.withLock { $0.pending = nil } }
    return isDone
  }

  /// What all streams are told.
  private func pushToAll(_ event: Event) {
    for pad in facts.current.pads { pad.push(event) }
  }
}

extension MVHEVCDemux.Streaming {
  /// Plays what a seek came to from now on.
  mutating func begin(_ plan: SeekPlan, _ event: Event) {
    combiner.reset()
    for output in outputs { output.hasEnded = false }
    cause = event
    player?.begin(plan)
    let position = player?.position ?? 0
    element.facts.withLock {
      $0.segment = plan.segment
      $0.position = position
    }
  }
}
