// SPDX-License-Identifier: MPL-2.0

public import ISOBMFF

/// The encryption of a rendition, and how players get the key. The key itself is the caller's, who
/// encrypts the samples.
public struct ContentKey: Equatable, Sendable {
  /// Identifier of the key, and the initialization vector.
  public var protection: TrackProtection
  /// The places of the key for players of HLS; one at least.
  public var deliveries: [KeyDelivery]
  /// The content of boxes `pssh`, from their version on, for players of DASH and of other key
  /// systems: the key system's UUID is bytes 4 to 19.
  public var systems: [[UInt8]]

  /// Creates the description of an encryption.
  public init(
    _ protection: TrackProtection, deliveries: [KeyDelivery], systems: [[UInt8]] = []
  ) {
    (self.protection, self.deliveries, self.systems) = (protection, deliveries, systems)
  }

  /// The boxes of initialization segments.
  var boxes: [OpaqueBox] { systems.map { OpaqueBox("pssh", payload: $0) } }

  /// The tags before a segment in media playlists.
  var keyTags: [String] {
    deliveries.map { "#EXT-X-KEY:" + $0.attributes(protection.initializationVector) }
  }

  /// The tags of multivariant playlists, by which players get keys before segments.
  var sessionKeyTags: [String] {
    deliveries.map { "#EXT-X-SESSION-KEY:" + $0.attributes(protection.initializationVector) }
  }

  /// The elements of a manifest (ISO/IEC 23009-1 5.8.4.1, ISO/IEC 23001-7 11.2).
  var elements: [ManifestElement] {
    var common = ManifestElement(
      "ContentProtection", scheme: "urn:mpeg:dash:mp4protection:2011", value: "cbcs")
    common.add("xmlns:cenc", "urn:mpeg:cenc:2013")
    common.add("cenc:default_KID", protection.keyID.uuid)
    return [common]
      + zip(systems, boxes).compactMap { system, box in
        guard system.count >= 20 else { return nil }
        var element = ManifestElement("ContentProtection")
        element.add("schemeIdUri", "urn:uuid:" + Array(system[4..<20]).uuid)
        element.add("xmlns:cenc", "urn:mpeg:cenc:2013")
        element.add(ManifestElement("cenc:pssh", text: box.bytes.base64))
        return element
      }
  }
}

/// Where players of HLS get a key (draft-pantos-hls-rfc8216bis 4.4.4.4).
public struct KeyDelivery: Equatable, Sendable {
  /// Address of the key, or what the key system takes for one: `skd://…`.
  public var uri: String
  /// The key system, such as `com.apple.streamingkeydelivery`; nil for `identity`: the address
  /// gives the 16 bytes of the key.
  public var format: String?
  /// The versions of the format, such as `1` or `1/2`; nil for 1.
  public var versions: String?

  /// Creates a place.
  public init(uri: String, format: String? = nil, versions: String? = nil) {
    (self.uri, self.format, self.versions) = (uri, format, versions)
  }

  fileprivate func attributes(_ initializationVector: [UInt8]) -> String {
    var attributes = AttributeList()
    attributes.add("METHOD", "SAMPLE-AES")
    attributes.add("URI", quoted: uri)
    // Key systems find the vector in the initialization segment.
    if format == nil || format == "identity" {
      attributes.add("IV", initializationVector.hexadecimal)
    }
    attributes.add("KEYFORMAT", quoted: format)
    attributes.add("KEYFORMATVERSIONS", quoted: versions)
    return attributes.text
  }
}
