// SPDX-License-Identifier: MPL-2.0

extension HEVCDecoderConfigurationRecord {
  /// The codecs parameter of RFC 6381 for an `hvc1` track of this record: `hvc1.1.6.L123.B0`
  /// (ISO/IEC 14496-15 annex E.3). Of a layered stream it is that of the base layer, which is what
  /// players know.
  public var codecParameter: String {
    let profile = profileTierLevel.profile ?? ProfileTierLevel.Profile()
    let space = ["", "A", "B", "C"][min(max(profile.profileSpace, 0), 3)]
    // Flag 0 is the lowest bit here.
    var flags: UInt32 = 0
    for bit in 0..<32 {
      flags = flags << 1 | (profile.compatibilityFlags >> UInt32(bit)) & 1
    }
    var parts = [
      "hvc1", "\(space)\(profile.profileIDC)", String(flags, radix: 16, uppercase: true),
      "\(profile.tierFlag ? "H" : "L")\(profileTierLevel.levelIDC)",
    ]
    var constraints = (0..<6).map {
      UInt8(truncatingIfNeeded: profile.constraintFlags >> UInt64(40 - 8 * $0))
    }
    while constraints.last == 0 { constraints.removeLast() }
    parts += constraints.map { String($0, radix: 16, uppercase: true) }
    return parts.joined(separator: ".")
  }
}
