// SPDX-License-Identifier: MPL-2.0

import AVC
import CCrypto
import GStreamer
import HEVC
import ISOBMFF
import Packager

/// Encrypts by the scheme `cbcs` (ISO/IEC 23001-7 10.4): of video, one block of ten in the slice
/// data of both layers; of audio, all whole blocks.
struct SampleEncryptor: SampleEncrypting {
  private enum Content {
    case hevc(HEVC.SliceDataFinder, NALUnitFraming)
    case avc(AVC.SliceDataFinder, NALUnitFraming)
    case audio
  }

  private var content: Content
  private let cipher: BlockChainCipher
  let key: ContentKey

  /// - Parameter entry: The sample entry of the clear samples.
  /// - Throws: an ``ElementError`` if its parameter sets are damaged, or if libcrypto fails.
  init(_ entry: SampleEntry, _ key: PresentationKeys.Key) throws {
    content = try Self.content(entry)
    cipher = try BlockChainCipher(key: key.bytes)
    self.key = key.content
  }

  private static func content(_ entry: SampleEntry) throws -> Content {
    guard case .video(let entry) = entry else { return .audio }
    if let bytes = entry.hvcC {
      let record = try HEVCDecoderConfigurationRecord(bytes: bytes)
      let second = try entry.lhvC.map { try LHEVCDecoderConfigurationRecord(bytes: $0).nalUnits }
      let finder = try HEVC.SliceDataFinder(parameterSets: record.nalUnits + (second ?? []))
      return .hevc(finder, .lengthPrefixed(lengthSize: record.lengthSize))
    }
    guard let box = entry.configuration.first(where: { $0.type == "avcC" }) else {
      throw ElementError(
        .format,
        "Video of the type \(entry.codec) cannot be encrypted; encode it as H.265 or H.264."
      )
    }
    let record = try MVCDecoderConfiguration(.avcC, bytes: box.payload)
    return .avc(try AVC.SliceDataFinder(parameterSets: record.nalUnits), record.framing)
  }

  /// Returns an encrypted copy of a sample.
  ///
  /// - Throws: an ``ElementError`` if there are more slices than a segment can describe.
  mutating func encrypt(_ sample: Buffer) throws -> EncryptedSample<Buffer> {
    var problem: String?
    let ranges = try sample.withBytes { bytes in
      sliceData(in: RawSpan(_unsafeBytes: bytes)) { problem = problem ?? "\($0)" }
    }
    let subsamples = ranges.map { Subsample.covering($0, of: sample.size) } ?? []
    guard subsamples.count <= Subsample.maximumCount else {
      throw ElementError(
        .settings,
        "A picture has \(subsamples.count) encrypted ranges, and a segment can describe "
          + "\(Subsample.maximumCount); let the encoder make fewer slices.")
    }
    guard let copy = Buffer(size: sample.size) else { throw FlowReturn.error }
    try copy.withMutableBytes { bytes in
      _ = sample.copyBytes(to: bytes)
      if let ranges {
        let pattern = TrackProtection.encryptedBlocks + TrackProtection.clearBlocks
        for range in ranges { try encrypt(range, of: bytes, pattern: pattern) }
      } else {
        try encrypt(0..<bytes.count, of: bytes, pattern: 1)
      }
    }
    return EncryptedSample(copy, subsamples: subsamples, problem: problem)
  }

  /// Returns the ranges with slice data; nil for audio.
  private mutating func sliceData(
    in bytes: RawSpan, note: (any Error) -> Void
  ) -> [Range<Int>]? {
    do {
      switch content {
      case .audio: return nil
      case .hevc(var finder, let framing):
        let units = try framing.nalUnits(in: bytes)
        let ranges = finder.ranges(in: bytes, nalUnits: units, problem: note)
        content = .hevc(finder, framing)
        return ranges
      case .avc(var finder, let framing):
        let units = try framing.nalUnits(in: bytes)
        let ranges = finder.ranges(in: bytes, nalUnits: units, problem: note)
        content = .avc(finder, framing)
        return ranges
      }
    } catch {
      note(error)
      return [0..<bytes.byteCount]
    }
  }

  /// Encrypts the first of each `pattern` whole blocks of a range, as one chain. What is left at
  /// its end is clear.
  private func encrypt(
    _ range: Range<Int>, of bytes: UnsafeMutableRawBufferPointer, pattern: Int
  ) throws {
    let size = BlockChainCipher.blockSize
    let places = stride(
      from: range.lowerBound, through: range.upperBound - size, by: size * pattern)
    var chain: [UInt8] = []
    chain.reserveCapacity(range.count / pattern + size)
    for place in places { chain += bytes[place..<place + size] }
    try cipher.encrypt(&chain, from: key.protection.initializationVector)
    for (index, place) in places.enumerated() {
      let block = chain[index * size..<(index + 1) * size]
      UnsafeMutableRawBufferPointer(rebasing: bytes[place..<place + size]).copyBytes(from: block)
    }
  }
}

/// AES-128 in CBC mode, by libcrypto.
private final class BlockChainCipher: @unchecked Sendable {
  /// In bytes.
  static let blockSize = 16

  private let context: OpaquePointer

  init(key: [UInt8]) throws {
    guard let context = EVP_CIPHER_CTX_new() else { throw Self.failure }
    self.context = context
    guard key.count == Self.blockSize,
      EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), nil, key, nil) == 1
    else { throw Self.failure }
    EVP_CIPHER_CTX_set_padding(context, 0)
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// Encrypts whole blocks in place.
  func encrypt(_ blocks: inout [UInt8], from initializationVector: [UInt8]) throws {
    guard !blocks.isEmpty else { return }
    // A buffer of audio may have any size.
    guard let size = Int32(exactly: blocks.count) else { throw Self.failure }
    let isEncrypted = blocks.withUnsafeMutableBufferPointer { blocks in
      var count: Int32 = 0
      return EVP_EncryptInit_ex(context, nil, nil, nil, initializationVector) == 1
        && EVP_EncryptUpdate(
          context, blocks.baseAddress, &count, blocks.baseAddress, size) == 1
        && count == size
    }
    guard isEncrypted else { throw Self.failure }
  }

  private static var failure: ElementError {
    ElementError(
      .encode,
      "OpenSSL's libcrypto refuses to encrypt; 'openssl enc -aes-128-cbc' says why.")
  }
}
