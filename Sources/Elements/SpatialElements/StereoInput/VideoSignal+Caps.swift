// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoEncoder
import StereoVideo

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
