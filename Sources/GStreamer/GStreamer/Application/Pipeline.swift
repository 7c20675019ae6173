// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A graph of elements that runs: what an application holds.
public final class Pipeline: Element, @unchecked Sendable {
  public let bus: Bus

  /// An empty pipeline.
  public init(name: String? = nil) {
    initialize()
    let pointer = gst_pipeline_new(name)
    bus = Bus(of: pointer!)
    super.init(retaining: pointer!)
  }

  /// A pipeline as gst-launch writes it. Throws where that cannot be built.
  public init(parsing description: String) throws {
    initialize()
    var error: UnsafeMutablePointer<GError>?
    let parsed = gst_parse_launch_full(description, nil, GST_PARSE_FLAG_FATAL_ERRORS, &error)
    defer { g_clear_error(&error) }
    guard let parsed else {
      let message = error.map { String(cString: $0.pointee.message) }
      throw ElementError(.failed, message ?? "No such pipeline.")
    }
    let pointer: UnsafeMutablePointer<GstElement>
    if cgst_is_a(parsed, gst_pipeline_get_type()) != 0 {
      pointer = parsed
    } else {
      // A lone element is given without a pipeline around it.
      pointer = gst_pipeline_new(nil)
      gst_bin_add(cast(pointer), parsed)
    }
    bus = Bus(of: pointer)
    super.init(retaining: pointer)
  }

  /// Starts a change of state; in NULL, messages that nobody has taken are gone.
  @discardableResult
  public override func setState(_ state: State) -> Bool {
    let isChanging = super.setState(state)
    if state == .null { bus.flush() }
    return isChanging
  }

  deinit {
    gst_element_set_state(pointer, GST_STATE_NULL)
  }

  public func element(named name: String) -> Element? {
    guard let found = gst_bin_get_by_name(cast(pointer), name) else { return nil }
    defer { gst_object_unref(found) }
    return Element(retaining: found)
  }

  /// Plays to the end of the stream and stops. Throws the first error message.
  ///
  /// - Parameter onMessage: sees every message on the way.
  public func run(_ onMessage: (Message) -> Void = { _ in }) async throws {
    setState(.playing)
    defer { setState(.null) }
    for await message in bus.messages {
      onMessage(message)
      switch message.content {
      case .error(let failure): throw failure
      case .endOfStream: return
      default: break
      }
    }
  }
}
