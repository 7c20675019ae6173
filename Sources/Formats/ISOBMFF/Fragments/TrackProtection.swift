// SPDX-License-Identifier: MPL-2.0

/// The encryption of a track by the scheme `cbcs` (ISO/IEC 23001-7 10.4): AES-128 in CBC mode, with
/// one initialization vector for all ranges. Of video, one block of ten is encrypted and slice
/// headers are clear; of other media, all whole blocks of a sample are encrypted.
///
/// The writer describes the encryption; the caller encrypts the samples' bytes.
public struct TrackProtection: Equatable, Sendable {
  /// The identifier of the key, 16 bytes (`default_KID`).
  public let keyID: [UInt8]
  /// The initialization vector, 16 bytes (`default_constant_IV`).
  public let initializationVector: [UInt8]

  /// Number of encrypted blocks in each pattern of video (`default_crypt_byte_block`).
  public static let encryptedBlocks = 1
  /// Number of clear blocks after them (`default_skip_byte_block`).
  public static let clearBlocks = 9

  /// Creates the description of an encryption; nil if one of the two is not 16 bytes long.
  public init?(keyID: [UInt8], initializationVector: [UInt8]) {
    guard keyID.count == 16, initializationVector.count == 16 else { return nil }
    (self.keyID, self.initializationVector) = (keyID, initializationVector)
  }
}

/// Consecutive bytes of an encrypted video sample: clear ones, then encrypted ones (ISO/IEC 23001-7
/// 9.5).
public struct Subsample: Equatable, Sendable {
  /// Number of clear bytes (`BytesOfClearData`).
  public let clear: UInt16
  /// Number of bytes to which the pattern applies (`BytesOfProtectedData`).
  public let encrypted: UInt32

  /// The maximum number that a sample may have: the size of its list is stored in a byte.
  public static let maximumCount = 42

  /// Returns the subsamples of a sample.
  ///
  /// - Parameters:
  ///   - ranges: the encrypted bytes, in order and within the sample.
  ///   - size: size of the sample in bytes.
  public static func covering(_ ranges: [Range<Int>], of size: Int) -> [Subsample] {
    var subsamples: [Subsample] = []
    var position = 0
    func add(clear: Int, encrypted: Int) {
      var clear = clear
      while clear > UInt16.max {
        subsamples.append(Subsample(clear: .max, encrypted: 0))
        clear -= Int(UInt16.max)
      }
      subsamples.append(Subsample(clear: UInt16(clear), encrypted: UInt32(clamping: encrypted)))
    }
    for range in ranges where !range.isEmpty && range.lowerBound >= position {
      add(clear: range.lowerBound - position, encrypted: range.count)
      position = range.upperBound
    }
    if position < size { add(clear: size - position, encrypted: 0) }
    return subsamples
  }
}

extension TrackProtection {
  /// Writes a sample entry as that of an encrypted track: its type is `encv` or `enca`, and `sinf`
  /// follows its boxes (ISO/IEC 14496-12 8.12).
  ///
  /// - Parameter write: writes the entry of the clear track.
  func write(
    _ entry: SampleEntry, to writer: inout BoxWriter, _ write: (inout BoxWriter) -> Void
  ) {
    var clear = BoxWriter()
    write(&clear)
    let (type, isVideo): (FourCC, Bool) =
      switch entry {
      case .video: ("encv", true)
      case .audio: ("enca", false)
      case .other: ("enct", false)
      }
    let original = FourCC(
      rawValue: clear.bytes.prefix(8).suffix(4).reduce(0) { $0 << 8 | UInt32($1) })
    writer.box(type) {
      $0.write(Array(clear.bytes.dropFirst(8)))
      $0.box("sinf") { writeScheme(original, isVideo: isVideo, to: &$0) }
    }
  }

  private func writeScheme(_ original: FourCC, isVideo: Bool, to writer: inout BoxWriter) {
    writer.box("frma") { $0.write(original) }
    writer.fullBox("schm") {
      $0.write("cbcs" as FourCC)
      $0.write(UInt32(0x1_0000))
    }
    writer.box("schi") {
      $0.fullBox("tenc", version: isVideo ? 1 : 0) {
        $0.write(UInt8(0))
        $0.write(isVideo ? UInt8(Self.encryptedBlocks << 4 | Self.clearBlocks) : 0)
        $0.write(UInt8(1))
        // Samples have no vectors of their own.
        $0.write(UInt8(0))
        $0.write(keyID)
        $0.write(UInt8(16))
        $0.write(initializationVector)
      }
    }
  }
}

extension [[Subsample]] {
  /// Writes which bytes of a fragment's samples are encrypted: `senc`, and `saiz` and `saio` for
  /// readers that look for it by its place (ISO/IEC 23001-7 7.1, 7.2; ISO/IEC 14496-12 8.7.8).
  ///
  /// - Parameter writer: a writer whose first byte is that of `moof`, from which places count.
  func write(to writer: inout BoxWriter) {
    let place = writer.bytes.count + 16
    writer.fullBox("senc", flags: 2) {
      $0.write(UInt32(clamping: count))
      for subsamples in self {
        $0.write(UInt16(clamping: subsamples.count))
        for subsample in subsamples {
          $0.write(subsample.clear)
          $0.write(subsample.encrypted)
        }
      }
    }
    writer.fullBox("saiz") {
      $0.write(UInt8(0))
      $0.write(UInt32(clamping: count))
      for subsamples in self { $0.write(UInt8(clamping: 2 + 6 * subsamples.count)) }
    }
    writer.fullBox("saio") {
      $0.write(UInt32(1))
      $0.write(UInt32(clamping: place))
    }
  }
}
