// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// A message of an element to the application: `GstMessage`.
public final class Message: MiniObject, @unchecked Sendable {
  package var pointer: UnsafeMutablePointer<GstMessage> { cast(raw) }

  /// Takes over the caller's reference.
  package init(adopting pointer: UnsafeMutablePointer<GstMessage>) {
    super.init(adopting: cast(pointer))
  }

  /// The type of a message, with its contents.
  public enum Content {
    case endOfStream
    case error(PipelineFailure)
    case warning(PipelineFailure)
    /// An element-specific message, with its structure.
    case element(StructureView)
    case tags(TagList)
    case stateChanged(old: State, new: State)
    /// Any other type, by name, such as `latency`.
    case other(name: String)
  }

  /// The C counterpart of ``content``.
  package var type: GstMessageType { pointer.pointee.type }

  /// The sequence number, which is that of the event that caused the message, if there is one.
  public var sequenceNumber: UInt32 { gst_message_get_seqnum(pointer) }

  /// The name of the object that sent the message.
  public var sourceName: String {
    guard let source = pointer.pointee.src else { return "" }
    return adopt(gst_object_get_name(source)) ?? ""
  }

  /// The type of the message, with its contents.
  public var content: Content {
    switch type {
    case GST_MESSAGE_EOS: return .endOfStream
    case GST_MESSAGE_ERROR: return .error(failure(gst_message_parse_error))
    case GST_MESSAGE_WARNING: return .warning(failure(gst_message_parse_warning))
    case GST_MESSAGE_ELEMENT:
      guard let structure = gst_message_get_structure(pointer) else { return other }
      return .element(StructureView(structure, in: self))
    case GST_MESSAGE_TAG:
      var tags: UnsafeMutablePointer<GstTagList>?
      gst_message_parse_tag(pointer, &tags)
      return tags.map { .tags(TagList(adopting: $0)) } ?? other
    case GST_MESSAGE_STATE_CHANGED:
      var old = GST_STATE_NULL
      var new = GST_STATE_NULL
      gst_message_parse_state_changed(pointer, &old, &new, nil)
      return .stateChanged(old: State(old), new: State(new))
    default: return other
    }
  }

  private var other: Content { .other(name: String(cString: gst_message_type_get_name(type))) }

  private func failure(
    _ parse: (
      UnsafeMutablePointer<GstMessage>?, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?,
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Void
  ) -> PipelineFailure {
    var error: UnsafeMutablePointer<GError>?
    var debug: UnsafeMutablePointer<CChar>?
    parse(pointer, &error, &debug)
    defer { g_clear_error(&error) }
    func isOne(of codes: GstStreamError...) -> Bool {
      codes.contains { g_error_matches(error, gst_stream_error_quark(), gint($0.rawValue)) != 0 }
    }
    let isOfWrongType = isOne(of: GST_STREAM_ERROR_WRONG_TYPE, GST_STREAM_ERROR_TYPE_NOT_FOUND)
    return PipelineFailure(
      element: sourceName, message: error.map { String(cString: $0.pointee.message) } ?? "",
      debug: adopt(debug) ?? "",
      isUnreadableStream: isOfWrongType
        || isOne(of: GST_STREAM_ERROR_DEMUX, GST_STREAM_ERROR_DECODE),
      isOfWrongType: isOfWrongType,
      isPermanent: error.map { Self.isPermanent($0.pointee) } ?? false)
  }
}

extension Message {
  /// Whether an error comes again whenever the same is tried: settings that cannot be used, or a
  /// source that cannot be sought in.
  fileprivate static func isPermanent(_ error: GError) -> Bool {
    [ElementError.Code.settings, .seek].contains { code in
      let (domain, number) = code.domainAndCode
      return error.domain == domain && error.code == number
    }
  }
}

/// An error or a warning that an element posted.
public struct PipelineFailure: Error, Sendable, CustomStringConvertible {
  /// The name of the element.
  public let element: String
  /// The message for users.
  public let message: String
  /// Details for developers; may be empty.
  public let debug: String
  /// Whether the element could not make sense of its input: `GST_STREAM_ERROR_DEMUX`, `_DECODE`,
  /// `_WRONG_TYPE` or `_TYPE_NOT_FOUND`.
  public var isUnreadableStream = false
  /// Whether the input is of a type that the element does not know: the latter two.
  package var isOfWrongType = false
  /// Whether it comes again whenever the same is tried.
  package var isPermanent = false

  /// The element's name, the message and its details.
  public var description: String {
    debug.isEmpty ? "\(element): \(message)" : "\(element): \(message) (\(debug))"
  }
}

extension Message {
  /// Describes a missing decoder or other plugin; nil for other messages.
  ///
  /// Nil also for decoders of timed metadata (`meta/*`), such as a camera's time code: GStreamer
  /// has none, and reports each such stream in a movie that it reads.
  public var missingPlugin: String? {
    guard gst_is_missing_plugin_message(pointer) != 0,
      missingMediaType?.hasPrefix("meta/") != true
    else { return nil }
    return adopt(gst_missing_plugin_message_get_description(pointer))
  }

  /// The media type that a missing decoder or encoder would have to handle; nil for other messages
  /// and other plugins.
  var missingMediaType: String? {
    guard gst_is_missing_plugin_message(pointer) != 0,
      let value = gst_structure_get_value(gst_message_get_structure(pointer), "detail"),
      value.pointee.g_type == gst_caps_get_type(), let caps = gst_value_get_caps(value),
      gst_caps_get_size(caps) > 0, let first = gst_caps_get_structure(caps, 0)
    else { return nil }
    return String(cString: gst_structure_get_name(first))
  }
}

extension Message {
  /// The X11 name of a key pressed in the window of a video sink that no element has handled; nil
  /// for any other message.
  public var pressedKey: String? {
    guard gst_navigation_message_get_type(pointer) == GST_NAVIGATION_MESSAGE_EVENT else {
      return nil
    }
    var event: UnsafeMutablePointer<GstEvent>?
    guard gst_navigation_message_parse_event(pointer, &event) != 0, let event else { return nil }
    defer { gst_event_unref(event) }
    var key: UnsafePointer<CChar>?
    guard gst_navigation_event_get_type(event) == GST_NAVIGATION_EVENT_KEY_PRESS,
      gst_navigation_event_parse_key_event(event, &key) != 0
    else { return nil }
    return key.map { String(cString: $0) }
  }
}
