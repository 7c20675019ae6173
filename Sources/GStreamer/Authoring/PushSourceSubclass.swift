public import CGStreamer

/// An element that makes raw video, frame by frame: `GstPushSrc`.
open class PushSourceSubclass: ElementSubclass, @unchecked Sendable {
  var source: UnsafeMutablePointer<GstBaseSrc> { cast(pointer) }
  private var parent: UnsafeMutablePointer<GstBaseSrcClass> {
    parentClass.assumingMemoryBound(to: GstBaseSrcClass.self)
  }

  /// The caps to prefer among those that downstream takes.
  open func fixate(_ caps: Caps) -> Caps { caps.fixated() }

  /// The caps of the stream are known.
  open func setCaps(_ caps: Caps) throws {}

  /// Makes the next buffer; throws `FlowReturn.eos` behind the last one.
  open func create() throws -> Buffer { throw FlowReturn.eos }

  /// Whether `seek` can do something.
  open var isSeekable: Bool { false }

  /// Goes to where the segment's position is.
  open func seek(to segment: Segment) throws {}

  /// The times at which a live source's buffer starts and ends, by the clock; nil not to wait.
  open func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)? { nil }

  /// A query at the source pad. Returns whether it was answered.
  open func query(_ query: borrowing Query) -> Bool { forwardQuery(query) }

  /// Answers a query as the base class does.
  public func forwardQuery(_ query: borrowing Query) -> Bool {
    parent.pointee.query(source, query.pointer) != 0
  }

  /// Makes the source produce by the clock, or as fast as it is asked.
  public var isLive: Bool {
    get { gst_base_src_is_live(source) != 0 }
    set { gst_base_src_set_live(source, newValue ? 1 : 0) }
  }

  /// Sets the format that the source counts in. Call it at creation.
  public func setFormat(_ format: GstFormat) { gst_base_src_set_format(source, format) }

  /// The source pad.
  public var sourcePad: Pad { Pad(retaining: source.pointee.srcpad) }

  private static func of(_ pointer: UnsafeMutablePointer<GstBaseSrc>?) -> PushSourceSubclass? {
    guard let pointer else { return nil }
    return ElementSubclass.of(cast(pointer)) as? PushSourceSubclass
  }

  static func fill(_ klass: UnsafeMutableRawPointer) {
    let sourceClass = klass.assumingMemoryBound(to: GstBaseSrcClass.self)
    sourceClass.pointee.start = { PushSourceSubclass.of($0)?.runStart() == true ? 1 : 0 }
    sourceClass.pointee.stop = { pointer in
      PushSourceSubclass.of(pointer)?.runStop()
      return 1
    }
    sourceClass.pointee.fixate = { pointer, caps in
      guard let caps else { return nil }
      let owned = Caps(adopting: caps)
      guard let element = PushSourceSubclass.of(pointer) else { return owned.retainedPointer() }
      return element.fixate(owned).retainedPointer()
    }
    sourceClass.pointee.set_caps = { pointer, caps in
      guard let caps, let element = PushSourceSubclass.of(pointer) else { return 0 }
      return element.answer {
        try element.setCaps(Caps(retaining: caps))
        return true
      }
    }
    sourceClass.pointee.is_seekable = { PushSourceSubclass.of($0)?.isSeekable == true ? 1 : 0 }
    sourceClass.pointee.do_seek = { pointer, segment in
      guard let segment, let element = PushSourceSubclass.of(pointer) else { return 0 }
      return element.answer {
        try element.seek(to: Segment(segment.pointee))
        return true
      }
    }
    sourceClass.pointee.get_times = { pointer, buffer, start, end in
      start?.pointee = .max
      end?.pointee = .max
      guard let buffer, let element = PushSourceSubclass.of(pointer),
        let times = element.times(of: Buffer(retaining: buffer))
      else { return }
      start?.pointee = GstClockTime(times.start)
      end?.pointee = GstClockTime(times.end)
    }
    sourceClass.pointee.query = { pointer, query in
      guard let query, let element = PushSourceSubclass.of(pointer) else { return 0 }
      return element.query(Query(borrowing: query)) ? 1 : 0
    }
    let pushClass = klass.assumingMemoryBound(to: GstPushSrcClass.self)
    pushClass.pointee.create = { pointer, result in
      guard let pointer, let element = ElementSubclass.of(cast(pointer)) as? PushSourceSubclass
      else {
        return GST_FLOW_ERROR
      }
      return element.flow { () throws in
        result?.pointee = cast(MiniObject.handOver(try element.create()))
      }
    }
  }
}
