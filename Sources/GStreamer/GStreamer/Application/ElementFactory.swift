// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What the registry knows of an element before one is made.
public final class ElementFactory: @unchecked Sendable {
  let pointer: OpaquePointer

  init(retaining pointer: OpaquePointer) {
    self.pointer = pointer
    gst_object_ref(UnsafeMutableRawPointer(pointer))
  }

  deinit {
    gst_object_unref(UnsafeMutableRawPointer(pointer))
  }

  /// As gst-launch writes it.
  public var name: String { adopt(gst_object_get_name(UnsafeMutablePointer(pointer))) ?? "" }

  /// Video decoders whose sink takes `caps`, the highest rank first, with a rank above NONE.
  public static func videoDecoders(for caps: Caps) -> [ElementFactory] {
    let all = gst_element_factory_list_get_elements(
      cgst_factory_type_video_decoder(), GST_RANK_MARGINAL)
    let matching = gst_element_factory_list_filter(all, caps.pointer, GST_PAD_SINK, 0)
    defer {
      gst_plugin_feature_list_free(all)
      gst_plugin_feature_list_free(matching)
    }
    var factories: [ElementFactory] = []
    var item = matching
    while let current = item {
      if let data = current.pointee.data {
        factories.append(
          ElementFactory(retaining: OpaquePointer(data)))
      }
      item = current.pointee.next
    }
    return factories
  }

  /// An element, or nil where it cannot be made.
  public func make() -> Element? {
    gst_element_factory_create(pointer, nil).map { Element(retaining: $0) }
  }
}
