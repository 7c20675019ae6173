// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

struct SpatialBoxTests {
  @Test("a vexu with a phone's values is the phone's vexu, byte for byte")
  func phone() {
    let vexu = VideoExtendedUsage(
      SpatialMetadata(
        baseline: Baseline(micrometres: 19240),
        disparityAdjustment: DisparityAdjustment(tenThousandths: 200), projection: .rectilinear))
    #expect(
      vexu.payload
        == bytes(
          """
          00000045 65796573 0000000d 73747269 00000000 03 00000018 63616d73 00000010 626c696e
          00000000 00004b28 00000018 636d6679 00000010 6461646a 00000000 000000c8 00000018
          70726f6a 00000010 70726a69 00000000 72656374
          """))
  }

  @Test("a frame-packed track has its layout: pkin side or over, and reversed in stri")
  func packing() {
    let side = VideoExtendedUsage(SpatialMetadata(), packing: PackingLayout(.sideBySide))
    #expect(
      side.payload
        == bytes(
          """
          00000015 65796573 0000000d 73747269 00000000 03
          00000018 7061636b 00000010 706b696e 00000000 73696465
          """))
    let over = VideoExtendedUsage(
      SpatialMetadata(heroEye: .right), packing: PackingLayout(.topBottom, rightViewFirst: true))
    #expect(
      over.payload
        == bytes(
          """
          00000022 65796573 0000000d 73747269 00000000 0b 0000000d 6865726f 00000000 02
          00000018 7061636b 00000010 706b696e 00000000 6f766572
          """))
    #expect(over.packing == PackingLayout(.topBottom, rightViewFirst: true))
  }

  @Test("st3d has a mode for three layouts, and none for the others")
  func stereoscopicMode() {
    #expect(StereoscopicMode(PackingLayout(.sideBySide))?.rawValue == 2)
    #expect(StereoscopicMode(PackingLayout(.topBottom))?.rawValue == 1)
    #expect(StereoscopicMode(PackingLayout(.sideBySide, rightViewFirst: true))?.rawValue == 4)
    #expect(StereoscopicMode(PackingLayout(.topBottom, rightViewFirst: true)) == nil)
    #expect(StereoscopicMode(PackingLayout(.frameByFrame)) == nil)
  }
}
