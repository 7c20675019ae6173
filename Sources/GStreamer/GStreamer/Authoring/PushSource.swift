// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element that produces buffers with timestamps: `GstPushSrc`.
public protocol PushSourceImplementation: ElementImplementation {
  /// Returns the preferred caps among those that downstream accepts. Called in any thread.
  func fixate(_ caps: Caps) -> Caps

  /// Called when the caps of the stream are known.
  func setCaps(_ caps: Caps, _ streaming: inout Streaming) throws

  /// Creates the next buffer; throws `FlowReturn.eos` after the last one.
  func create(_ streaming: inout Streaming) throws -> UniqueBuffer

  /// Whether `seek` is supported.
  var isSeekable: Bool { get }

  /// Moves to the segment's position.
  func seek(to segment: Segment, _ streaming: inout Streaming) throws

  /// Returns start and end of a live source's buffer on the clock; nil not to wait.
  func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)?
}

extension PushSourceImplementation {
  /// Fixates the caps.
  public func fixate(_ caps: Caps) -> Caps { caps.fixated() }
  /// Does nothing.
  public func setCaps(_ caps: Caps, _ streaming: inout Streaming) throws {}
  /// False.
  public var isSeekable: Bool { false }
  /// Does nothing.
  public func seek(to segment: Segment, _ streaming: inout Streaming) throws {}
  /// Does not wait.
  public func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)? { nil }

  /// `GstPushSrc`.
  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.pushSource) { try PushSourceBox<Self>($0) }
  }

  /// Makes the source live, producing data in real time, or not. Takes effect when the source
  /// starts.
  public func setLive(_ isLive: Bool) {
    gst_base_src_set_live(cast(gstElement), isLive ? 1 : 0)
  }

  /// Sends a serialized event after the segment and before the next buffer.
  public func sendBeforeNext(_ event: Event) {
    gst_element_send_event(gstElement, event.retainedPointer())
  }
}

/// Connects the C functions of GstPushSrc with an implementation.
private final class PushSourceBox<Implementation: PushSourceImplementation>: AnyPushSourceBox,
  @unchecked Sendable
{
  private let owned: ElementCore<Implementation>

  init(_ instance: ElementInstance) throws {
    owned = try ElementCore(instance)
    super.init(instance, owned)
    setFormat(.time)
  }

  override func fixate(_ caps: Caps) -> Caps { owned.implementation.fixate(caps) }

  override func setCaps(_ caps: Caps) throws {
    try owned.streaming.call { try owned.implementation.setCaps(caps, &$0) }
  }

  override func create() throws -> UniqueBuffer {
    try owned.streaming.call { try owned.implementation.create(&$0) }
  }

  override var isSeekable: Bool { owned.implementation.isSeekable }

  override func seek(to segment: Segment) throws {
    try owned.streaming.call { try owned.implementation.seek(to: segment, &$0) }
  }

  override func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)? {
    owned.implementation.times(of: buffer)
  }
}

/// An element that produces buffers with timestamps: `GstPushSrc`.
class AnyPushSourceBox: ElementBox, @unchecked Sendable {
  var source: UnsafeMutablePointer<GstBaseSrc> { cast(pointer) }

  /// Returns the preferred caps among those that downstream accepts.
  func fixate(_ caps: Caps) -> Caps { caps.fixated() }

  /// Called when the caps of the stream are known.
  func setCaps(_ caps: Caps) throws {}

  /// Creates the next buffer; throws `FlowReturn.eos` after the last one.
  func create() throws -> UniqueBuffer { throw FlowReturn.eos }

  /// Whether `seek` is supported.
  var isSeekable: Bool { false }

  /// Moves to the segment's position.
  func seek(to segment: Segment) throws {}

  /// Returns start and end of a live source's buffer on the clock; nil not to wait.
  func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)? { nil }

  /// Sets the format of the source's segment. Call it from `init`.
  func setFormat(_ format: Format) { gst_base_src_set_format(source, format.cValue) }

  private static func of(_ pointer: UnsafeMutablePointer<GstBaseSrc>?) -> AnyPushSourceBox? {
    guard let pointer else { return nil }
    return ElementBox.of(cast(pointer)) as? AnyPushSourceBox
  }

  static func fill(_ klass: UnsafeMutableRawPointer) {
    let sourceClass = klass.assumingMemoryBound(to: GstBaseSrcClass.self)
    sourceClass.pointee.start = { AnyPushSourceBox.of($0)?.runStart() == true ? 1 : 0 }
    sourceClass.pointee.stop = { pointer in
      AnyPushSourceBox.of(pointer)?.runStop()
      return 1
    }
    sourceClass.pointee.fixate = { pointer, caps in
      guard let caps else { return nil }
      let owned = Caps(adopting: caps)
      guard let element = AnyPushSourceBox.of(pointer) else { return owned.retainedPointer() }
      return element.fixate(owned).retainedPointer()
    }
    sourceClass.pointee.set_caps = { pointer, caps in
      guard let caps, let element = AnyPushSourceBox.of(pointer) else { return 0 }
      return element.answer {
        try element.setCaps(Caps(retaining: caps))
        return true
      }
    }
    sourceClass.pointee.is_seekable = { AnyPushSourceBox.of($0)?.isSeekable == true ? 1 : 0 }
    sourceClass.pointee.do_seek = { pointer, segment in
      guard let segment, let element = AnyPushSourceBox.of(pointer) else { return 0 }
      return element.answer {
        try element.seek(to: Segment(segment.pointee))
        return true
      }
    }
    sourceClass.pointee.get_times = { pointer, buffer, start, end in
      start?.pointee = .max
      end?.pointee = .max
      guard let buffer, let element = AnyPushSourceBox.of(pointer),
        let times = element.times(of: Buffer(retaining: buffer))
      else { return }
      start?.pointee = times.start.cValue
      end?.pointee = times.end.cValue
    }
    let pushClass = klass.assumingMemoryBound(to: GstPushSrcClass.self)
    pushClass.pointee.create = { pointer, result in
      guard let pointer, let element = ElementBox.of(cast(pointer)) as? AnyPushSourceBox
      else {
        return GST_FLOW_ERROR
      }
      return element.flow { () throws in
        result?.pointee = try element.create().take()
      }
    }
  }
}
