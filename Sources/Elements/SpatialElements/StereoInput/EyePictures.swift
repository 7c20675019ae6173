// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoEncoder
import StereoVideo

/// Raw frames of one eye in the form that the encoder needs: one plane for each component.
final class EyePictures {
  /// A frame that stays mapped while the encoder reads it.
  private final class MappedFrame: Sendable {
    let frame: VideoFrame

    init(_ buffer: Buffer, _ info: VideoInfo, writing: Bool = false) throws {
      frame = try VideoFrame(buffer, info, writing: writing)
    }
  }

  private final class MappedPair: Sendable {
    let source: MappedFrame
    let planar: MappedFrame

    init(_ source: MappedFrame, _ planar: MappedFrame) {
      self.source = source
      self.planar = planar
    }
  }

  let format: RawFormat
  private let info: VideoInfo
  /// Pool for separated components; nil if frames are read in place.
  private let pool: VideoBufferPool?

  /// Throws if the encoder does not support the format.
  init(_ info: VideoInfo) throws {
    guard let format = RawFormat(info) else { throw FlowReturn.notNegotiated }
    self.info = info
    self.format = format
    guard case .pairs = format.chroma else {
      pool = nil
      return
    }
    let name = format.bitDepth > 8 ? "I420_10LE" : "I420"
    guard let planar = VideoInfo(info.caps.with(["format": .string(name)])) else {
      throw FlowReturn.notNegotiated
    }
    pool = try VideoBufferPool(planar)
  }

  /// Returns a frame as a picture, which stays mapped while the encoder reads it.
  func picture(_ buffer: Buffer) throws -> Picture {
    let frame = try MappedFrame(buffer, info)
    guard case .planes(let cb, let cr) = format.chroma else { return try separated(frame) }
    return try Self.picture(luma: frame, chroma: frame, cb, cr, owner: frame)
  }

  private func separated(_ source: MappedFrame) throws -> Picture {
    guard let pool else { throw FlowReturn.notNegotiated }
    let planar = try MappedFrame(Buffer(try pool.acquire()), pool.info, writing: true)
    guard let pairs = source.frame.view(1, info) else { throw FlowReturn.notNegotiated }
    for component in 0...1 {
      planar.frame.view(component + 1, pool.info)?
        .takeSample(component, ofPairsIn: pairs, info.sampleFormat(1))
    }
    let isHigh = info.sampleFormat(0) == .highWords
    if isHigh, let luma = source.frame.view(0, info) {
      planar.frame.view(0, pool.info)?.copyHighWords(of: luma)
    }
    return try Self.picture(
      luma: isHigh ? planar : source, chroma: planar, 1, 2, owner: MappedPair(source, planar))
  }

  private static func picture(
    luma: MappedFrame, chroma: MappedFrame, _ cb: Int, _ cr: Int, owner: any AnyObject & Sendable
  ) throws -> Picture {
    func plane(_ mapped: MappedFrame, _ index: Int) throws -> Picture.Plane {
      guard let address = mapped.frame.plane(index) else { throw FlowReturn.notNegotiated }
      return Picture.Plane(address: address, stride: mapped.frame.stride(index))
    }
    return Picture(
      luma: try plane(luma, 0), cb: try plane(chroma, cb), cr: try plane(chroma, cr), owner: owner)
  }
}

/// A raw format supported by the encoder: location of its components.
struct RawFormat {
  /// In the order of the template caps: formats that are read in place come first.
  static let names = ["I420", "YV12", "I420_10LE", "NV12", "P010_10LE"]

  enum Chroma {
    /// One plane for each component.
    case planes(cb: Int, cr: Int)
    /// One plane of interleaved pairs.
    case pairs
  }

  let bitDepth: Int
  let chroma: Chroma
  init?(_ info: VideoInfo) {
    switch info.formatName {
    case "I420": (bitDepth, chroma) = (8, .planes(cb: 1, cr: 2))
    case "YV12": (bitDepth, chroma) = (8, .planes(cb: 2, cr: 1))
    case "I420_10LE": (bitDepth, chroma) = (10, .planes(cb: 1, cr: 2))
    case "NV12": (bitDepth, chroma) = (8, .pairs)
    case "P010_10LE": (bitDepth, chroma) = (10, .pairs)
    default: return nil
    }
  }
}

extension VideoSignal {
  /// Reads colour, chroma siting and HDR10 metadata from caps.
  init(_ info: VideoInfo, _ caps: Caps) {
    self.init()
    let colour = info.colorimetry
    colourPrimaries = Self.known(colour.primaries)
    transferCharacteristics = Self.known(colour.transferCharacteristics)
    matrixCoefficients = colour.matrixCoefficients == 0 ? 0 : Self.known(colour.matrixCoefficients)
    switch colour.range {
    case .full: isFullRange = true
    case .limited: isFullRange = false
    case .unknown: break
    }
    chromaLocation = Self.chromaLocation(info.chromaSiting)
    masteringDisplay = MasteringDisplayColourVolume(caps)
    contentLightLevel = ContentLightLevel(caps)
  }

  /// Returns nil for "unspecified" and for values that H.273 reserves.
  private static func known(_ number: UInt8) -> Int? {
    [0, 2, 3].contains(number) ? nil : Int(number)
  }

  /// H.265 (E.3.1) chroma_sample_loc_type.
  private static func chromaLocation(_ siting: ChromaSiting) -> Int? {
    switch siting {
    case .mpeg2: 0
    case .jpeg: 1
    case .cosited: 2
    default: nil
    }
  }
}
