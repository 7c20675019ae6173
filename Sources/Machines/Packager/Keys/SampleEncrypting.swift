// SPDX-License-Identifier: MPL-2.0

public import ISOBMFF

/// The keys of a presentation.
public protocol ContentEncrypting<Payload>: Sendable {
  associatedtype Payload: Sendable

  /// Returns what encrypts the samples of a rendition of video or audio.
  ///
  /// - Throws: an error if samples of its format cannot be encrypted.
  func encryptor(of rendition: Rendition) throws -> any SampleEncrypting<Payload>
}

/// Encrypts the samples of one rendition by one key.
public protocol SampleEncrypting<Payload>: Sendable {
  associatedtype Payload: Sendable

  /// How players get the key.
  var key: ContentKey { get }

  /// Encrypts the next sample in decoding order; its size stays.
  mutating func encrypt(_ payload: Payload) throws -> EncryptedSample<Payload>
}

/// An encrypted sample.
public struct EncryptedSample<Payload: Sendable>: Sendable {
  /// The bytes, or a reference to them.
  public var payload: Payload
  /// The encrypted bytes of a sample of video; empty for audio, which is encrypted as a whole.
  public var subsamples: [Subsample]
  /// Why headers are encrypted, too, which not every player can decode; nil if they are clear.
  public var problem: String?

  /// Creates a sample.
  public init(_ payload: Payload, subsamples: [Subsample], problem: String? = nil) {
    (self.payload, self.subsamples, self.problem) = (payload, subsamples, problem)
  }
}
