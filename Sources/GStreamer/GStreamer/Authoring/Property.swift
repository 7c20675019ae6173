// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import StereoVideo
import Synchronization

/// An element whose properties are stored in one struct, guarded by one lock.
public protocol HasSettings: AnyObject {
  associatedtype Settings: Sendable
  var settings: Locked<Settings> { get }
}

/// The highest state in which a property may be changed.
public enum Mutability: Sendable {
  /// NULL or READY.
  case ready
  /// Up to PAUSED.
  case paused
  /// Any state; changes take effect immediately.
  case playing

  var flags: guint {
    switch self {
    case .ready: cgst_param_mutable_ready
    case .paused: cgst_param_mutable_paused
    case .playing: cgst_param_mutable_playing
    }
  }
}

/// A GObject property of an element.
public struct Property<Owner: AnyObject>: @unchecked Sendable {
  let makeSpec: () -> UnsafeMutablePointer<GParamSpec>?
  let get: (Owner, UnsafeMutablePointer<GValue>) -> Void
  /// Nil for a read-only property.
  let set: ((Owner, UnsafePointer<GValue>) -> Void)?
}

private func paramFlags(_ mutability: Mutability?, isControllable: Bool = false) -> GParamFlags {
  var flags = cgst_param_readable | cgst_param_static_strings
  if let mutability { flags |= cgst_param_writable | mutability.flags }
  if isControllable { flags |= cgst_param_controllable }
  return cgst_param_flags(flags)
}

/// Where in the settings a property lives. A setting of optional type is nil until it is set.
private func setting<Owner: HasSettings, Content: Sendable>(
  _ path: WritableKeyPath<Owner.Settings, Content?>, default defaultContent: Content
) -> (get: (Owner) -> Content, set: (Owner, Content) -> Void) {
  (
    { owner in owner.settings.withLock { $0[keyPath: path] } ?? defaultContent },
    { owner, content in owner.settings.withLock { $0[keyPath: path] = content } }
  )
}

private func setting<Owner: HasSettings, Content: Sendable>(
  _ path: WritableKeyPath<Owner.Settings, Content>
) -> (get: (Owner) -> Content, set: (Owner, Content) -> Void) {
  (
    { owner in owner.settings.withLock { $0[keyPath: path] } },
    { owner, content in owner.settings.withLock { $0[keyPath: path] = content } }
  )
}

extension Property {
  /// A read-only counter.
  public static func count(
    _ name: String, nick: String, blurb: String, read: @escaping (Owner) -> UInt64
  ) -> Self {
    Property(
      makeSpec: {
        g_param_spec_uint64(
          permanent(name), permanent(nick), permanent(blurb), 0, .max, 0, paramFlags(nil))
      }, get: { g_value_set_uint64($1, guint64(read($0))) }, set: nil)
  }

  /// A read-only structure.
  ///
  /// - Parameter read: Returns its name and its fields; called from any thread.
  public static func structure(
    _ name: String, nick: String, blurb: String,
    read: @escaping (Owner) -> (name: String, fields: [(key: String, value: Value)])
  ) -> Self {
    Property(
      makeSpec: {
        g_param_spec_boxed(
          permanent(name), permanent(nick), permanent(blurb), gst_structure_get_type(),
          paramFlags(nil))
      },
      get: { owner, value in
        let (name, fields) = read(owner)
        g_value_take_boxed(value, makeStructure(name, fields))
      }, set: nil)
  }
}

extension Property where Owner: HasSettings {
  /// A Boolean property.
  public static func bool(
    _ name: String, nick: String, blurb: String, default defaultValue: Bool,
    mutable: Mutability = .ready, at path: WritableKeyPath<Owner.Settings, Bool>
  ) -> Self {
    let (get, set) = setting(path) as ((Owner) -> Bool, (Owner, Bool) -> Void)
    return Property {
      g_param_spec_boolean(
        permanent(name), permanent(nick), permanent(blurb), defaultValue ? 1 : 0,
        paramFlags(mutable))
    } get: {
      g_value_set_boolean($1, get($0) ? 1 : 0)
    } set: {
      set($0, g_value_get_boolean($1) != 0)
    }
  }

  /// An `int` property.
  public static func int(
    _ name: String, nick: String, blurb: String, in range: ClosedRange<Int32>,
    default defaultValue: Int32, mutable: Mutability = .ready,
    at path: WritableKeyPath<Owner.Settings, Int32>
  ) -> Self {
    let (get, set) = setting(path) as ((Owner) -> Int32, (Owner, Int32) -> Void)
    return Property {
      g_param_spec_int(
        permanent(name), permanent(nick), permanent(blurb), range.lowerBound, range.upperBound,
        defaultValue, paramFlags(mutable))
    } get: {
      g_value_set_int($1, get($0))
    } set: {
      set($0, g_value_get_int($1))
    }
  }

  /// An `int64` property whose setting is nil until it is set.
  public static func int64(
    _ name: String, nick: String, blurb: String, in range: ClosedRange<Int64>,
    default defaultValue: Int64, mutable: Mutability = .ready,
    at path: WritableKeyPath<Owner.Settings, Int64?>
  ) -> Self {
    let (get, set) =
      setting(path, default: defaultValue) as ((Owner) -> Int64, (Owner, Int64) -> Void)
    return Property {
      g_param_spec_int64(
        permanent(name), permanent(nick), permanent(blurb), gint64(range.lowerBound),
        gint64(range.upperBound), gint64(defaultValue), paramFlags(mutable))
    } get: {
      g_value_set_int64($1, gint64(get($0)))
    } set: {
      set($0, Int64(g_value_get_int64($1)))
    }
  }

  /// A `uint` property.
  public static func uint(
    _ name: String, nick: String, blurb: String, in range: ClosedRange<UInt32>,
    default defaultValue: UInt32, mutable: Mutability = .ready,
    at path: WritableKeyPath<Owner.Settings, UInt32>
  ) -> Self {
    let (get, set) = setting(path) as ((Owner) -> UInt32, (Owner, UInt32) -> Void)
    return Property {
      g_param_spec_uint(
        permanent(name), permanent(nick), permanent(blurb), range.lowerBound, range.upperBound,
        defaultValue, paramFlags(mutable))
    } get: {
      g_value_set_uint($1, get($0))
    } set: {
      set($0, g_value_get_uint($1))
    }
  }

  /// A `double` property. If controllable, it can have a control source; see
  /// ``ElementObject/followControlSources(at:)``.
  public static func double(
    _ name: String, nick: String, blurb: String, in range: ClosedRange<Double>,
    default defaultValue: Double, mutable: Mutability = .ready, isControllable: Bool = false,
    at path: WritableKeyPath<Owner.Settings, Double>
  ) -> Self {
    double(name, nick, blurb, range, defaultValue, mutable, isControllable, setting(path))
  }

  /// A `double` property whose setting is nil until it is set.
  public static func double(
    _ name: String, nick: String, blurb: String, in range: ClosedRange<Double>,
    default defaultValue: Double, mutable: Mutability = .ready,
    at path: WritableKeyPath<Owner.Settings, Double?>
  ) -> Self {
    double(
      name, nick, blurb, range, defaultValue, mutable, false,
      setting(path, default: defaultValue))
  }

  private static func double(
    _ name: String, _ nick: String, _ blurb: String, _ range: ClosedRange<Double>,
    _ defaultValue: Double, _ mutable: Mutability, _ isControllable: Bool,
    _ access: (get: (Owner) -> Double, set: (Owner, Double) -> Void)
  ) -> Self {
    Property {
      g_param_spec_double(
        permanent(name), permanent(nick), permanent(blurb), range.lowerBound, range.upperBound,
        defaultValue, paramFlags(mutable, isControllable: isControllable))
    } get: {
      g_value_set_double($1, access.get($0))
    } set: {
      access.set($0, g_value_get_double($1))
    }
  }

  /// A time, which GObject has in nanoseconds, up to the greatest valid one.
  public static func time(
    _ name: String, nick: String, blurb: String, default defaultValue: ClockTime = 0,
    mutable: Mutability = .ready, at path: WritableKeyPath<Owner.Settings, ClockTime>
  ) -> Self {
    let (get, set) = setting(path) as ((Owner) -> ClockTime, (Owner, ClockTime) -> Void)
    return Property {
      g_param_spec_uint64(
        permanent(name), permanent(nick), permanent(blurb), 0, .max - 1, defaultValue.cValue,
        paramFlags(mutable))
    } get: {
      g_value_set_uint64($1, get($0).cValue)
    } set: {
      set($0, ClockTime(nanoseconds: g_value_get_uint64($1)))
    }
  }

  /// A difference of two times, which GObject has in nanoseconds.
  public static func timeOffset(
    _ name: String, nick: String, blurb: String, mutable: Mutability = .ready,
    at path: WritableKeyPath<Owner.Settings, RunningTime>
  ) -> Self {
    let (get, set) = setting(path) as ((Owner) -> RunningTime, (Owner, RunningTime) -> Void)
    return Property {
      g_param_spec_int64(
        permanent(name), permanent(nick), permanent(blurb), .min, .max, 0, paramFlags(mutable))
    } get: {
      g_value_set_int64($1, gint64(get($0).nanoseconds))
    } set: {
      set($0, RunningTime(nanoseconds: g_value_get_int64($1)))
    }
  }

  /// A string property whose setting is nil until it is set.
  public static func string(
    _ name: String, nick: String, blurb: String, default defaultValue: String? = nil,
    mutable: Mutability = .ready, at path: WritableKeyPath<Owner.Settings, String?>
  ) -> Self {
    let (get, set) = setting(path) as ((Owner) -> String?, (Owner, String?) -> Void)
    return Property {
      g_param_spec_string(
        permanent(name), permanent(nick), permanent(blurb), defaultValue.map(permanent),
        paramFlags(mutable))
    } get: {
      g_value_set_string($1, get($0) ?? defaultValue)
    } set: {
      set($0, g_value_get_string($1).map { String(cString: $0) })
    }
  }

  /// An enumeration property.
  public static func choice<Choice: EnumType>(
    _ name: String, nick: String, blurb: String, default defaultValue: Choice,
    mutable: Mutability = .ready, at path: WritableKeyPath<Owner.Settings, Choice>
  ) -> Self {
    let (get, set) = setting(path) as ((Owner) -> Choice, (Owner, Choice) -> Void)
    return Property {
      g_param_spec_enum(
        permanent(name), permanent(nick), permanent(blurb), Choice.type, defaultValue.rawValue,
        paramFlags(mutable))
    } get: {
      g_value_set_enum($1, get($0).rawValue)
    } set: { owner, value in
      if let choice = Choice(rawValue: g_value_get_enum(value)) { set(owner, choice) }
    }
  }

  /// A flags property.
  public static func flags<Flags: FlagsType>(
    _ name: String, nick: String, blurb: String, default defaultValue: Flags = [],
    mutable: Mutability = .ready, at path: WritableKeyPath<Owner.Settings, Flags>
  ) -> Self {
    let (get, set) = setting(path) as ((Owner) -> Flags, (Owner, Flags) -> Void)
    return Property {
      g_param_spec_flags(
        permanent(name), permanent(nick), permanent(blurb), Flags.type, defaultValue.rawValue,
        paramFlags(mutable))
    } get: {
      g_value_set_flags($1, get($0).rawValue)
    } set: {
      set($0, Flags(rawValue: g_value_get_flags($1)))
    }
  }
}

extension Property where Owner: HasSettings {
  /// A fraction property of 0 or more. Until it is set, the setting is nil and the property reads
  /// as 0/1.
  public static func fraction(
    _ name: String, nick: String, blurb: String, mutable: Mutability = .ready,
    at path: WritableKeyPath<Owner.Settings, Fraction?>
  ) -> Self {
    let (get, set) =
      setting(path, default: Fraction(0, 1))
      as ((Owner) -> Fraction, (Owner, Fraction) -> Void)
    return Property {
      gst_param_spec_fraction(
        permanent(name), permanent(nick), permanent(blurb), 0, 1, .max, 1, 0, 1,
        paramFlags(mutable))
    } get: {
      let fraction = get($0)
      gst_value_set_fraction($1, fraction.numerator, fraction.denominator)
    } set: {
      set(
        $0, Fraction(gst_value_get_fraction_numerator($1), gst_value_get_fraction_denominator($1)))
    }
  }
}

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
