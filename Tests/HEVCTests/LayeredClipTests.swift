// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

/// Streams with inter-layer prediction, which only flattening takes apart.
@Suite("Inter-layer prediction", .enabled(if: Decoder.isAvailable, "needs Python with PyAV"))
struct LayeredClipTests {
  @Test(
    "flattened for the dependent eye, it is exact", .tags(.judge), arguments: LayeredClip.allCases)
  func dependentEye(clip: LayeredClip) throws {
    let flat = try flattened(clip.accessUnits(), output: .dependentEye)
    #expect(try Decoder.frames(of: flat.bytes, single: true).map(\.md5) == clip.md5s().right)
  }

  @Test("flattened for both eyes, both are exact", .tags(.judge), arguments: LayeredClip.allCases)
  func bothEyes(clip: LayeredClip) throws {
    let flat = try flattened(clip.accessUnits(), output: .bothEyes)
    let md5s = try clip.md5s()
    #expect(
      try Decoder.frames(of: flat.bytes, single: true).map(\.md5).sorted()
        == (md5s.left + md5s.right).sorted())
  }

  @Test(
    "the order is strict if sixteen buffers allow it, and is reported otherwise",
    .tags(.judge))
  func strictness() throws {
    for output in [Flattener.Output.dependentEye, .bothEyes] {
      let everywhere = try flattened(LayeredClip.everywhere.accessUnits(), output: output)
      #expect(everywhere.isStrict)
      #expect((1...9).contains(everywhere.delay))
      #expect(try flattened(LayeredClip.randomAccessOnly.accessUnits(), output: output).isStrict)
      let openGOPs = try flattened(LayeredClip.openGOPs.accessUnits(), output: output)
      #expect(!openGOPs.isStrict)
      #expect(openGOPs.warnings == [.remarkedReferences])
    }
  }

  @Test("the strict decoder refuses exactly the streams that use the fallback", .tags(.judge))
  func fallback() throws {
    let flat = try flattened(LayeredClip.openGOPs.accessUnits(), output: .dependentEye)
    let decoder = try StrictDecoder(flat.bytes)
    #expect(decoder.violations.contains { $0.contains("takes the long-term") })
  }
}
