// SPDX-License-Identifier: LGPL-2.1-or-later

import GStreamer
import StereoVideo

/// The source pads `left` and `right` of an element that gives each eye a stream of its own.
struct EyePads: Sendable {
  private let left: Pad
  private let right: Pad

  /// Makes the pads. The element adds them.
  init<Owner: ElementImplementation>(
    _ instance: ElementInstance, _ functions: PadFunctions<Owner>
  ) throws {
    left = try Pad(instance, template: Eye.left.rawValue, functions)
    right = try Pad(instance, template: Eye.right.rawValue, functions)
    for pad in [left, right] { pad.useFixedCaps() }
  }

  subscript(eye: Eye) -> Pad { eye == .left ? left : right }

  /// Begins a stream at each pad, for the one that begins at the sink pad.
  func startStreams(of element: any ElementObject, following start: Event) {
    for eye in Eye.allCases {
      let event = Event.streamStart(id: self[eye].streamID(element, suffix: eye.rawValue))
      self[eye].push(event.takingGroup(of: start).following(start))
    }
  }

  /// Says at each pad what its stream is from now on.
  func sendCaps(following event: Event, _ caps: (Eye) -> Caps) {
    for eye in Eye.allCases { self[eye].push(Event.caps(caps(eye)).following(event)) }
  }
}

/// The two streams of an element that gives each eye one, in the hands of the thread that data flows
/// in: how frames lie in memory, and what the peers said.
struct EyeSource {
  private let pads: EyePads
  private let combiner = FlowCombiner()
  private var left: FrameMemory?
  private var right: FrameMemory?

  init(_ pads: EyePads) {
    self.pads = pads
    for eye in Eye.allCases { combiner.add(pads[eye]) }
  }

  /// Forgets what the peers said, after a flush.
  func reset() { combiner.reset() }

  // MARK: Memory

  /// How an eye's frames lie; nil before `askPeers`.
  private(set) subscript(memory eye: Eye) -> FrameMemory? {
    get { eye == .left ? left : right }
    set { if eye == .left { left = newValue } else { right = newValue } }
  }

  /// Asks both peers how raw frames of these caps may lie.
  mutating func askPeers(_ info: (Eye) throws -> VideoInfo) throws {
    for eye in Eye.allCases { self[memory: eye] = try FrameMemory(pads[eye], info(eye)) }
  }

  /// Asks those peers again that want to negotiate anew.
  mutating func askReconfiguredPeers() throws {
    for eye in Eye.allCases where pads[eye].checkReconfigure() {
      if let info = self[memory: eye]?.info {
        self[memory: eye] = try FrameMemory(pads[eye], info)
      }
    }
  }

  // MARK: Data

  /// Pushes a frame, giving up this reference to it. Returns what both peers together have said: what
  /// they say to one eye's frame holds up neither the other's nor the stream, unless it is an error.
  func push(_ frame: consuming Buffer, to eye: Eye) -> FlowReturn {
    combiner.update(pads[eye], pads[eye].push(frame))
  }
}
