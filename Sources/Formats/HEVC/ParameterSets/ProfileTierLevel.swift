// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// `profile_tier_level()`, H.265 (7.3.3).
public struct ProfileTierLevel: Hashable, Sendable {
  /// The profile part: all fields before the level.
  public struct Profile: Hashable, Sendable {
    /// `general_profile_space`, 0 to 3.
    public var profileSpace = 0
    /// `general_tier_flag`: High tier.
    public var tierFlag = false
    /// `general_profile_idc`, 0 to 31: 1 Main, 2 Main 10, 6 Multiview Main, 13 Multiview
    /// Extended 10.
    public var profileIDC = 0
    /// `general_profile_compatibility_flag`, index 0 in the highest bit.
    public var compatibilityFlags: UInt32 = 0
    /// The 48 constraint bits after the compatibility flags, with `general_progressive_source_flag`
    /// in bit 47.
    public var constraintFlags: UInt64 = 0

    /// Creates a profile from its fields.
    public init(
      profileSpace: Int = 0, tierFlag: Bool = false, profileIDC: Int = 0,
      compatibilityFlags: UInt32 = 0, constraintFlags: UInt64 = 0
    ) {
      self.profileSpace = profileSpace
      self.tierFlag = tierFlag
      self.profileIDC = profileIDC
      self.compatibilityFlags = compatibilityFlags
      self.constraintFlags = constraintFlags
    }

    init(_ reader: inout BitReader) throws(SyntaxError) {
      profileSpace = try reader.u(2, "general_profile_space")
      tierFlag = try reader.flag("general_tier_flag")
      profileIDC = try reader.u(5, "general_profile_idc")
      compatibilityFlags = UInt32(
        truncatingIfNeeded: try reader.u(32, "general_profile_compatibility_flag"))
      let high = try reader.u(16, "general_progressive_source_flag")
      let low = try reader.u(32, "general_reserved_zero_34bits")
      constraintFlags = UInt64(high) << 32 | UInt64(low)
    }

    func write(to writer: inout BitWriter) {
      writer.u(profileSpace, 2)
      writer.flag(tierFlag)
      writer.u(profileIDC, 5)
      writer.u(Int(compatibilityFlags), 32)
      writer.u(Int(truncatingIfNeeded: constraintFlags >> 32), 16)
      writer.u(Int(truncatingIfNeeded: constraintFlags & 0xFFFF_FFFF), 32)
    }
  }

  /// Profile and level of a temporal sub-layer below the highest.
  public struct SubLayer: Hashable, Sendable {
    /// `sub_layer_profile_idc` and the syntax elements after it; nil if not sent.
    public var profile: Profile?
    /// `sub_layer_level_idc`; nil if not sent.
    public var levelIDC: Int?
  }

  /// The general profile; nil if `profilePresentFlag` is 0.
  public var profile: Profile?
  /// `general_level_idc`: 30 times the level number.
  public var levelIDC: Int
  /// The sub-layers below the highest, lowest first.
  public var subLayers: [SubLayer]

  /// Creates the structure from its fields.
  public init(profile: Profile?, levelIDC: Int, subLayers: [SubLayer] = []) {
    self.profile = profile
    self.levelIDC = levelIDC
    self.subLayers = subLayers
  }

  /// Reads the structure with `maxSubLayersMinus1` sub-layers below the highest.
  init(
    _ reader: inout BitReader, profilePresent: Bool, maxSubLayersMinus1: Int
  ) throws(SyntaxError) {
    profile = profilePresent ? try Profile(&reader) : nil
    levelIDC = try reader.u(8, "general_level_idc")
    subLayers = []
    guard maxSubLayersMinus1 > 0 else { return }
    var present: [(profile: Bool, level: Bool)] = []
    for _ in 0..<maxSubLayersMinus1 {
      let profile = try reader.flag("sub_layer_profile_present_flag")
      present.append((profile, try reader.flag("sub_layer_level_present_flag")))
    }
    for _ in maxSubLayersMinus1..<8 { _ = try reader.u(2, "reserved_zero_2bits") }
    for entry in present {
      let profile = entry.profile ? try Profile(&reader) : nil
      let level = entry.level ? try reader.u(8, "sub_layer_level_idc") : nil
      subLayers.append(SubLayer(profile: profile, levelIDC: level))
    }
  }

  /// Writes the structure, without the profile if it is nil.
  func write(to writer: inout BitWriter) {
    profile?.write(to: &writer)
    writer.u(levelIDC, 8)
    guard !subLayers.isEmpty else { return }
    for layer in subLayers {
      writer.flag(layer.profile != nil)
      writer.flag(layer.levelIDC != nil)
    }
    for _ in subLayers.count..<8 { writer.u(0, 2) }
    for layer in subLayers {
      layer.profile?.write(to: &writer)
      if let level = layer.levelIDC { writer.u(level, 8) }
    }
  }
}
