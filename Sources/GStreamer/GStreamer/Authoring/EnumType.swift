// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
import Synchronization

/// A choice that is a property's type. Its cases are numbers with names.
public protocol EnumType: RawRepresentable, CaseIterable, Sendable where RawValue == Int32 {
  /// The GType's name, such as `GstStereoEye`.
  static var typeName: String { get }
  /// Of each case, the nick for gst-launch and the description for gst-inspect.
  var names: (nick: String, description: String) { get }
}

/// Options of GStreamer's own that are a property's type.
public protocol FlagsType: OptionSet, Sendable where RawValue == UInt32 {}

/// What wraps a GType of GStreamer's own.
protocol RegisteredType {
  static var registeredType: GType { get }
}

extension FlagsType {
  /// The GType; that of GStreamer's flags in general where it is none of GStreamer's own.
  static var type: GType {
    (Self.self as? any RegisteredType.Type)?.registeredType ?? gst_buffer_flags_get_type()
  }
}

extension EnumType {
  /// The GType: GStreamer's own, or one that is registered the first time.
  static var type: GType {
    if let own = Self.self as? any RegisteredType.Type { return own.registeredType }
    return EnumRegistry.lock.withLock { _ in
      let known = g_type_from_name(typeName)
      if known != 0 { return known }
      // GLib keeps the table for as long as the process lives.
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
