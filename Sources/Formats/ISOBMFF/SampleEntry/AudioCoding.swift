// SPDX-License-Identifier: MPL-2.0

/// How the samples of an audio track are coded, with the bytes a decoder needs first.
public enum AudioCoding: Equatable, Sendable {
  /// MPEG-4 AAC: the AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1).
  case aac(audioSpecificConfig: [UInt8])
  /// MPEG-1 or MPEG-2 layer III.
  case mp3
  case pcm(PCMFormat)
  /// AC-3: the content of `dac3` (ETSI TS 102 366 F.4).
  case ac3(dac3: [UInt8])
  /// Enhanced AC-3: the content of `dec3` (ETSI TS 102 366 F.6).
  case eac3(dec3: [UInt8])
  /// Opus: the content of `dOps` (Encapsulation of Opus in ISO base media, 4.3.2).
  case opus(dOps: [UInt8])
  /// FLAC: the content of `dfLa` behind version and flags, that is, the metadata blocks with
  /// STREAMINFO first (Encapsulation of FLAC in ISO base media, 3.3.2).
  case flac(metadataBlocks: [UInt8])
  /// Apple Lossless: the ALACSpecificConfig of 24 bytes, or 48 with channel layout.
  case alac(magicCookie: [UInt8])
  /// Any other, by the type of its sample entry; its boxes are among the entry's `otherBoxes`.
  case other(FourCC)
}
