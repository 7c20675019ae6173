// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoEncoder
import StereoVideo

/// The raw frames of one eye as the encoder takes them: with a plane for each component.
final class EyePictures {
  /// A frame that is mapped for as long as the encoder reads it.
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
  /// Where components are taken apart; nil where frames are read where they lie.
  private let pool: VideoBufferPool?

  /// Throws where the encoder does not take the format.
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

  /// The picture of a frame, which stays mapped while the encoder reads it.
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
      planar.frame.view(0, pool.info)?.takeHighWords(of: luma)
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

/// A raw format that the encoder takes: where its components are.
struct RawFormat {
  /// As the template's caps list them: first those that are read where they lie.
  static let names = ["I420", "YV12", "I420_10LE", "NV12", "P010_10LE"]

  enum Chroma {
    /// A plane of each component.
    case planes(cb: Int, cr: Int)
    /// One plane of pairs.
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
  /// What the caps say of colour, chroma siting and HDR10.
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

  /// nil for "unspecified" and for what H.273 reserves.
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
