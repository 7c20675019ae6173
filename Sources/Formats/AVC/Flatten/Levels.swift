// SPDX-License-Identifier: MPL-2.0

/// A level, H.264 (table A-1).
struct Level: Sendable {
  /// `level_idc`
  let idc: Int
  /// MaxMBPS, in macroblocks a second.
  let macroblockRate: Int
  /// MaxDpbMbs, in macroblocks.
  let bufferSize: Int

  static let all = [
    Level(idc: 10, macroblockRate: 1_485, bufferSize: 396),
    Level(idc: 11, macroblockRate: 3_000, bufferSize: 900),
    Level(idc: 12, macroblockRate: 6_000, bufferSize: 2_376),
    Level(idc: 13, macroblockRate: 11_880, bufferSize: 2_376),
    Level(idc: 20, macroblockRate: 11_880, bufferSize: 2_376),
    Level(idc: 21, macroblockRate: 19_800, bufferSize: 4_752),
    Level(idc: 22, macroblockRate: 20_250, bufferSize: 8_100),
    Level(idc: 30, macroblockRate: 40_500, bufferSize: 8_100),
    Level(idc: 31, macroblockRate: 108_000, bufferSize: 18_000),
    Level(idc: 32, macroblockRate: 216_000, bufferSize: 20_480),
    Level(idc: 40, macroblockRate: 245_760, bufferSize: 32_768),
    Level(idc: 42, macroblockRate: 522_240, bufferSize: 34_816),
    Level(idc: 50, macroblockRate: 589_824, bufferSize: 110_400),
    Level(idc: 51, macroblockRate: 983_040, bufferSize: 184_320),
    Level(idc: 52, macroblockRate: 2_073_600, bufferSize: 184_320),
    Level(idc: 60, macroblockRate: 4_177_920, bufferSize: 696_320),
    Level(idc: 61, macroblockRate: 8_355_840, bufferSize: 696_320),
    Level(idc: 62, macroblockRate: 16_711_680, bufferSize: 696_320),
  ]

  /// The highest level that is not above `idc`.
  static func level(_ idc: Int) -> Level { all.last { $0.idc <= idc } ?? all[0] }

  /// Returns the lowest level with these properties, or the highest of all.
  ///
  /// - Parameters:
  ///   - size: number of macroblocks of a frame.
  ///   - frames: number of frames in the decoded picture buffer.
  static func lowest(size: Int, frames: Int, macroblockRate: Int) -> Level {
    all.first { $0.bufferSize / size >= frames && $0.macroblockRate >= macroblockRate }
      ?? all[all.count - 1]
  }

  /// MaxDpbFrames for frames of `size` macroblocks.
  func frames(size: Int) -> Int { min(bufferSize / size, 16) }
}
