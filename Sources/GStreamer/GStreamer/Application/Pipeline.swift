// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A pipeline, as an application runs it: `GstPipeline`.
public final class Pipeline: Element, @unchecked Sendable {
  /// The messages of the pipeline.
  public let bus: Bus

  /// Creates an empty pipeline.
  public init(name: String? = nil) {
    initialize()
    let pointer = gst_pipeline_new(name)
    bus = Bus(of: pointer!)
    super.init(retaining: pointer!)
  }

  /// Creates a pipeline from `gst-launch-1.0` syntax. Throws if it cannot be built.
  public init(parsing description: String) throws {
    initialize()
    var error: UnsafeMutablePointer<GError>?
    let parsed = gst_parse_launch_full(description, nil, GST_PARSE_FLAG_FATAL_ERRORS, &error)
    defer { g_clear_error(&error) }
    guard let parsed else {
      let message = error.map { String(cString: $0.pointee.message) }
      throw ElementError(.failed, message ?? "The pipeline cannot be parsed.")
    }
    let pointer: UnsafeMutablePointer<GstElement>
    if cgst_is_a(parsed, gst_pipeline_get_type()) != 0 {
      pointer = parsed
    } else {
      // The parser returns a single element without a pipeline.
      pointer = gst_pipeline_new(nil)
      gst_bin_add(cast(pointer), parsed)
    }
    bus = Bus(of: pointer)
    super.init(retaining: pointer)
  }

  /// Starts a state change; in NULL, queued messages are discarded.
  @discardableResult
  public override func setState(_ state: State) -> Bool {
    let isChanging = super.setState(state)
    if state == .null { bus.flush() }
    return isChanging
  }

  deinit {
    gst_element_set_state(pointer, GST_STATE_NULL)
  }

  /// Returns an element by name, also from bins inside the pipeline; nil if there is none.
  public func element(named name: String) -> Element? {
    guard let found = gst_bin_get_by_name(cast(pointer), name) else { return nil }
    defer { gst_object_unref(found) }
    return Element(retaining: found)
  }

  /// Plays to the end of the stream and stops. Throws the first error message.
  ///
  /// - Parameter onMessage: Called with every message.
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

extension Pipeline {
  /// Adds an element to the pipeline; throws if it already has one of that name.
  public func add(_ element: Element) throws {
    guard gst_bin_add(cast(pointer), element.pointer) != 0 else {
      throw ElementError(
        .failed, "The pipeline already has an element '\(element.name)'.")
    }
  }

  /// Starts the change to PLAYING; returns false if it fails immediately.
  public func play() -> Bool { setState(.playing) }

  /// Stops the pipeline, waiting for its streaming threads.
  public func end() { setState(.null) }

  /// Handles messages to which every application must react: recalculates the latency after a
  /// change, and selects another clock if the current one is lost.
  public func answer(_ message: Message) {
    switch message.type {
    case GST_MESSAGE_LATENCY: gst_bin_recalculate_latency(cast(pointer))
    case GST_MESSAGE_CLOCK_LOST:
      setState(.paused)
      setState(.playing)
    default: break
    }
  }

  /// The current graph in Graphviz format, with negotiated caps.
  public var dot: String {
    adopt(gst_debug_bin_to_dot_data(cast(pointer), GST_DEBUG_GRAPH_SHOW_ALL)) ?? ""
  }

  /// Returns the name of the pipeline's direct child that has sent a message, or contains its
  /// sender.
  public func child(sending message: Message) -> String? {
    let top = UnsafeMutableRawPointer(pointer)
    guard let source = message.pointer.pointee.src else { return nil }
    gst_object_ref(source)
    var object = source
    while true {
      let current = object
      defer { gst_object_unref(current) }
      guard let parent = gst_object_get_parent(current) else { return nil }
      guard UnsafeMutableRawPointer(parent) != top else {
        gst_object_unref(parent)
        return adopt(gst_object_get_name(current))
      }
      object = parent
    }
  }
}

extension Element {
  /// Brings an element that was added to a running pipeline to the state of its parent.
  @discardableResult
  public func followParentState() -> Bool { gst_element_sync_state_with_parent(pointer) != 0 }

  /// The current pads.
  public var pads: [Pad] {
    var pads: [Pad] = []
    let collect: GstElementForeachPadFunc = { _, pad, data in
      if let pad, let data {
        data.assumingMemoryBound(to: [Pad].self).pointee.append(Pad(retaining: pad))
      }
      return 1
    }
    withUnsafeMutablePointer(to: &pads) { _ = gst_element_foreach_pad(pointer, collect, $0) }
    return pads
  }
}

extension Pipeline {
  /// Waits in PAUSED until each sink has a buffer, after the start or a seek.
  ///
  /// - Parameter kind: the beginning of the media types whose missing decoders matter, such as
  ///   `video/`; by default all.
  /// - Throws: The first error message as a ``PipelineFailure``, which names a missing decoder; an
  ///   ``ElementError`` after `timeout`.
  public func preroll(timeout: Duration, needing kind: String = "") async throws {
    let waiting = Task { [self] in
      var missing: String?
      for await message in bus.messages {
        if message.missingMediaType?.hasPrefix(kind) ?? true {
          missing = message.missingPlugin ?? missing
        }
        if case .error(let failure) = message.content {
          guard let missing else { throw failure }
          throw PipelineFailure(
            element: failure.element, message: "There is no \(missing). \(failure.message)",
            debug: failure.debug)
        }
        if message.type == GST_MESSAGE_ASYNC_DONE { return }
      }
      throw ElementError(
        .stateChange,
        missing.map { "There is no \($0)." } ?? "No frame arrived within \(timeout).")
    }
    let timer = Task {
      try await Task.sleep(for: timeout)
      waiting.cancel()
    }
    defer { timer.cancel() }
    try await waiting.value
  }
}
