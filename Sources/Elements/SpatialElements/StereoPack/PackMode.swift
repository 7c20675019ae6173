// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// How `stereopack` combines two eyes, as a property.
enum PackMode: Int32, EnumType {
  case sideBySide = 0
  case topBottom = 1
  case rowInterleaved = 2
  case frameByFrame = 3
  case left = 4
  case right = 5
  case anaglyph = 6

  static let typeName = "GstStereoPackMode"

  var names: (nick: String, description: String) {
    switch self {
    case .sideBySide: ("side-by-side", "The eyes side by side")
    case .topBottom: ("top-bottom", "The eyes one above the other")
    case .rowInterleaved: ("row-interleaved", "Alternating rows of the eyes")
    case .frameByFrame: ("frame-by-frame", "Alternating frames of the eyes, at twice the rate")
    case .left: ("left", "Only the left eye")
    case .right: ("right", "Only the right eye")
    case .anaglyph: ("anaglyph", "Both eyes in one picture, for two-colour glasses")
    }
  }

  /// Nil for modes that do not place both eyes' unchanged pixels in one frame.
  func packing(half: Bool) -> PlanePacking? {
    switch self {
    case .sideBySide: .sideBySide(half: half)
    case .topBottom: .topBottom(half: half)
    case .rowInterleaved: .rowInterleaved(half: half)
    case .frameByFrame, .left, .right, .anaglyph: nil
    }
  }

  /// The caps field `multiview-mode` of the output.
  var multiviewMode: MultiviewMode {
    switch self {
    case .sideBySide: .sideBySide
    case .topBottom: .topBottom
    case .rowInterleaved: .rowInterleaved
    case .frameByFrame: .frameByFrame
    case .left, .right, .anaglyph: .mono
    }
  }
}

/// The colours of an anaglyph, as a property.
enum AnaglyphChoice: Int32, EnumType {
  case redCyanDubois = 0
  case greenMagentaDubois = 1
  case amberBlueDubois = 2
  case redCyanColor = 3
  case redCyanHalfColor = 4
  case redCyanGray = 5

  static let typeName = "GstStereoPackAnaglyph"

  var method: Anaglyph.Method {
    switch self {
    case .redCyanDubois: .redCyanDubois
    case .greenMagentaDubois: .greenMagentaDubois
    case .amberBlueDubois: .amberBlueDubois
    case .redCyanColor: .redCyanColor
    case .redCyanHalfColor: .redCyanHalfColor
    case .redCyanGray: .redCyanGray
    }
  }

  var names: (nick: String, description: String) {
    let description =
      switch self {
      case .redCyanDubois: "Red and cyan, least squares (Dubois)"
      case .greenMagentaDubois: "Green and magenta, least squares (Dubois)"
      case .amberBlueDubois: "Amber and blue, least squares (Dubois)"
      case .redCyanColor: "Red from the left eye, green and blue from the right one"
      case .redCyanHalfColor: "The left eye in grey, the right eye in colour"
      case .redCyanGray: "Both eyes in grey"
      }
    return (method.rawValue, description)
  }
}

/// Output state of an element that packs eyes: the packer, and what has been sent downstream.
struct PackedOutput {
  /// One eye's frame and its caps.
  typealias Eye = (buffer: Buffer, caps: Caps)

  /// Tags of the output; change them with `merge`.
  private(set) var tags = TagList()
  private var packer: FramePacker?
  /// Input caps of the current packer.
  private var packedCaps: (left: Caps, right: Caps)?
  private var sentSegment: Segment?

  /// Forces renegotiation: the caps have changed.
  mutating func forgetCaps() { packer = nil }

  /// The same after a flush, which also clears the segment.
  mutating func flush() { (packer, sentSegment) = (nil, nil) }

  /// Merges tags, and pushes them if the output has begun.
  mutating func merge(_ more: TagList, at source: Pad) {
    tags = tags.merging(more)
    if packer != nil { source.push(.tags(tags)) }
  }

  /// Packs a pair and pushes the frames.
  ///
  /// - Parameters:
  ///   - time: timestamp of the pair, in `segment`.
  ///   - isReconfigured: whether downstream has requested renegotiation.
  mutating func push(
    left: Eye, right: Eye, time: ClockTime, in segment: Segment, isReconfigured: Bool,
    settings: StereoPack.Settings, by element: some AggregatorImplementation
  ) throws {
    let packer = try packer(left, right, settings, element)
    if isReconfigured { try packer.askPeer(of: element.sourcePad) }
    // The output keeps the input's timestamps and segments, also after a seek.
    if sentSegment?.covers(segment) != true {
      sentSegment = segment
      element.updateSegment(segment)
    }
    for packed in try packer.frames(left.buffer, right.buffer) {
      packed.buffer.pts = time + packed.delay
      packed.buffer.dts = nil
      packed.buffer.duration = packed.duration
      try element.finish(packed.buffer)
    }
  }

  private mutating func packer(
    _ left: Eye, _ right: Eye, _ settings: StereoPack.Settings,
    _ element: some AggregatorImplementation
  ) throws -> FramePacker {
    if let packer, let caps = packedCaps, caps.left.isEqual(to: left.caps),
      caps.right.isEqual(to: right.caps)
    {
      return packer
    }
    let made = try FramePacker(left: left.caps, right: right.caps, settings: settings)
    element.setSourceCaps(made.caps)
    try made.askPeer(of: element.sourcePad)
    if !tags.isEmpty { element.sourcePad.push(.tags(tags)) }
    (packer, packedCaps) = (made, (left.caps, right.caps))
    return made
  }
}

extension VideoInfo {
  /// Caps for processed frames: those of the original frames, if size and format are unchanged.
  func caps(following other: Caps, _ otherInfo: VideoInfo) -> Caps {
    func plain(_ info: VideoInfo) -> Caps {
      info.caps.with(
        ["framerate": .fraction(otherInfo.frameRate)],
        removing: ["multiview-mode", "multiview-flags", "views"])
    }
    let own = plain(self)
    return own.isEqual(to: plain(otherInfo)) ? other : own
  }
}
