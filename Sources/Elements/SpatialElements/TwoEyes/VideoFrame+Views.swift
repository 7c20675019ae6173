// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

extension VideoFrame {
  /// A plane of the mapped frame, which has to live for as long as the view is used; nil where the
  /// frame has no such plane.
  func view(_ plane: Int, _ info: VideoInfo) -> PlaneView? {
    guard let base = self.plane(plane) else { return nil }
    let grid = info.sampleGrid(plane)
    func samples(_ count: Int, _ shift: Int) -> Int { (count + (1 << shift) - 1) >> shift }
    return PlaneView(
      base: base, stride: stride(plane),
      rowBytes: samples(info.width, grid.widthShift) * grid.step,
      rows: samples(info.height, grid.heightShift))
  }
}

extension VideoInfo {
  /// How the samples of a plane lie in its rows.
  func sampleFormat(_ plane: Int) -> SampleFormat {
    switch (formatName, plane, sampleGrid(plane).step) {
    case ("NV12", 1, _): .bytePairs
    case ("P010_10LE", 0, _): .highWords
    case ("P010_10LE", _, _): .highWordPairs
    case (_, _, 2): .words
    case (_, _, 4): .quadruples
    default: .bytes
    }
  }
}
