// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import Testing

/// Decoders as other machines have them: `avdec_h265` or `avdec_h264` with other pad templates, in
/// another class.
enum OtherDecoder: String, CaseIterable {
  /// Gives memory of a device alone.
  case device = "testdevicedec"
  /// Takes 8 bits alone.
  case eightBit = "testeightbitdec"
  /// Derives from `GstH265Decoder`, as va, nvcodec, d3d11 and v4l2 do.
  case strict = "teststrictdec"
  /// Takes main profile in sizes within limits, as NVIDIA's does.
  case limited = "testlimiteddec"
  /// The same for H.264, high profile.
  case limitedAVC = "testlimitedavcdec"
  /// Does not start.
  case dead = "testdeaddec"

  fileprivate var caps: (sink: String, source: String) {
    let sink = "video/x-h265, stream-format=byte-stream, alignment=au"
    return switch self {
    case .device: (sink, "video/x-raw(memory:TestDevice), format=NV12")
    case .eightBit: (sink + ", profile=main", "video/x-raw")
    case .strict, .dead: (sink, "video/x-raw")
    case .limited:
      (sink + ", profile=main, width=[144,8192], height=[144,8192]", "video/x-raw, format=I420")
    case .limitedAVC:
      (
        "video/x-h264, stream-format=byte-stream, alignment=au, profile={main,high}, "
          + "width=[48,4096], height=[16,4096]", "video/x-raw"
      )
    }
  }
  fileprivate var inner: String { self == .limitedAVC ? "avdec_h264" : "avdec_h265" }

  private static let isRegistered: Bool = {
    initialize()
    // GStreamer's own is in a library that is not everywhere.
    let base = g_type_from_name("GstH265Decoder")
    let strict = base != 0 ? 0 : OtherDecoder.type("GstH265Decoder", on: gst_bin_get_type())
    return allCases.allSatisfy { decoder in
      let parent = decoder == .strict && strict != 0 ? strict : gst_bin_get_type()
      let type = OtherDecoder.type("Test\(decoder.rawValue)", on: parent)
      return gst_element_register(nil, decoder.rawValue, 0, type) != 0
    }
  }()

  private static func type(_ name: String, on parent: GType) -> GType {
    var query = GTypeQuery()
    g_type_query(parent, &query)
    var info = GTypeInfo()
    info.class_size = guint16(query.class_size)
    info.instance_size = guint16(query.instance_size)
    guard allCases.contains(where: { "Test\($0.rawValue)" == name }) else {
      return g_type_register_static(parent, name, &info, cgst_no_type_flags())
    }
    info.class_init = { raw, _ in
      guard let raw, let decoder = OtherDecoder.of(cgst_type_of_class(raw)) else { return }
      let klass = raw.assumingMemoryBound(to: GstElementClass.self)
      gst_element_class_set_metadata(klass, "Test", "Codec/Decoder/Video", "Test", "Test")
      for (name, direction, caps) in [
        ("sink", GST_PAD_SINK, decoder.caps.sink), ("src", GST_PAD_SRC, decoder.caps.source),
      ] {
        gst_element_class_add_pad_template(
          klass,
          gst_pad_template_new(name, direction, GST_PAD_ALWAYS, gst_caps_from_string(caps)))
      }
      if decoder == .dead {
        klass.pointee.change_state = { _, _ in GST_STATE_CHANGE_FAILURE }
      }
    }
    info.instance_init = { raw, klass in
      guard let raw, let klass, let decoder = OtherDecoder.of(cgst_type_of_class(klass)) else {
        return
      }
      let bin = UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstBin.self)
      let element = UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstElement.self)
      let inner = gst_element_factory_make(decoder.inner, nil)
      gst_bin_add(bin, inner)
      let elementClass = klass.assumingMemoryBound(to: GstElementClass.self)
      for name in ["sink", "src"] {
        let target = gst_element_get_static_pad(inner, name)
        let template = gst_element_class_get_pad_template(elementClass, name)
        gst_element_add_pad(element, gst_ghost_pad_new_from_template(name, target, template))
        gst_object_unref(target)
      }
    }
    return g_type_register_static(parent, name, &info, cgst_no_type_flags())
  }

  private static func of(_ type: GType) -> OtherDecoder? {
    let name = String(cString: g_type_name(type))
    return allCases.first { "Test\($0.rawValue)" == name }
  }

  /// Runs `body` with this decoder above all others, which are as they are or, with `alone`, not
  /// there.
  func asHighest<Result>(
    alone: Bool = false, _ body: () async throws -> Result
  ) async throws -> Result {
    try #require(Self.isRegistered)
    return try await Ranks.with([rawValue: 1000], othersOff: alone, body)
  }
}

/// Ranks of elements, for the time of a test.
enum Ranks {
  /// The H.265 decoders of this machine.
  static let decoders = ["avdec_h265", "libde265dec"]

  static func with<Result>(
    _ ranks: [String: guint], othersOff: Bool = false, _ body: () async throws -> Result
  ) async throws -> Result {
    var ranks = ranks
    if othersOff { for name in decoders { ranks[name] = 0 } }
    let features = ranks.compactMap { name, rank in
      gst_registry_lookup_feature(gst_registry_get(), name).map { ($0, rank) }
    }
    let old = features.map { gst_plugin_feature_get_rank($0.0) }
    for (feature, rank) in features { gst_plugin_feature_set_rank(feature, rank) }
    defer {
      for (feature, rank) in zip(features.map(\.0), old) {
        gst_plugin_feature_set_rank(feature, rank)
        gst_object_unref(UnsafeMutableRawPointer(feature))
      }
    }
    return try await body()
  }
}
