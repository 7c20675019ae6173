// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
import Synchronization

/// An enumeration that can be the type of a property.
public protocol EnumType: RawRepresentable, CaseIterable, Sendable where RawValue == Int32 {
  /// The name of the GType, such as `GstStereoEye`.
  static var typeName: String { get }
  /// The nick of each case, for use in pipelines, and its description for `gst-inspect-1.0`.
  var names: (nick: String, description: String) { get }
}

/// Flags predefined by GStreamer that can be the type of a property.
public protocol FlagsType: OptionSet, Sendable where RawValue == UInt32 {}

/// A Swift type for a GType predefined by GStreamer.
protocol RegisteredType {
  static var registeredType: GType { get }
}

extension FlagsType {
  /// The GType; `GstBufferFlags` if it is not predefined by GStreamer.
  static var type: GType {
    (Self.self as? any RegisteredType.Type)?.registeredType ?? gst_buffer_flags_get_type()
  }
}

extension EnumType {
  /// The GType: predefined by GStreamer, or registered at first use.
  static var type: GType {
    if let own = Self.self as? any RegisteredType.Type { return own.registeredType }
    return EnumRegistry.lock.withLock { _ in
      let known = g_type_from_name(typeName)
      if known != 0 { return known }
      // GLib keeps a pointer to the table forever.
      let values = UnsafeMutablePointer<GEnumValue>.allocate(capacity: allCases.count + 1)
      for (index, choice) in allCases.enumerated() {
        values[index] = GEnumValue(
          value: choice.rawValue, value_name: permanent(choice.names.description),
          value_nick: permanent(choice.names.nick))
      }
      values[allCases.count] = GEnumValue()
      let type = g_enum_register_static(typeName, values)
      gst_type_mark_as_plugin_api(type, GstPluginAPIFlags(0))
      return type
    }
  }
}

private enum EnumRegistry {
  static let lock = Mutex(())
}
