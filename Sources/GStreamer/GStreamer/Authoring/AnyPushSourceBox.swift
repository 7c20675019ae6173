// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element that makes raw video, frame by frame: `GstPushSrc`.
class AnyPushSourceBox: ElementBox, @unchecked Sendable {
  var source: UnsafeMutablePointer<GstBaseSrc> { cast(pointer) }

  /// The caps to prefer among those that downstream takes.
  func fixate(_ caps: Caps) -> Caps { caps.fixated() }

  /// The caps of the stream are known.
  func setCaps(_ caps: Caps) throws {}

  /// Makes the next buffer; throws `FlowReturn.eos` behind the last one.
  func create() throws -> UniqueBuffer { throw FlowReturn.eos }

  /// Whether `seek` can do something.
  var isSeekable: Bool { false }

  /// Goes to where the segment's position is.
  func seek(to segment: Segment) throws {}

  /// The times at which a live source's buffer starts and ends, by the clock; nil not to wait.
  func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)? { nil }

  /// Sets the format that the source counts in. Call it at creation.
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
      start?.pointee = GstClockTime(times.start)
      end?.pointee = GstClockTime(times.end)
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
