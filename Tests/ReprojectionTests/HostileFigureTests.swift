// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import Testing

/// Figures that no camera has: see also the fuzz target `geometry`, which looks for more.
struct HostileFigureTests {
  @Test("projections with any parameters are refused or drawn, and nothing traps")
  func randomFigures() {
    var state: UInt64 = 7
    for _ in 0..<3000 {
      let bytes = (0..<400).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
      }
      FuzzTarget.geometry.run(bytes)
    }
  }
}
