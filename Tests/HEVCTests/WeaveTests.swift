import HEVC
import StereoVideo
import Testing

@Suite("Weave") struct WeaveTests {
  @Test(
    "both eyes of a woven stream decode to what they decode to alone",
    .enabled(if: Decoder.isAvailable, "needs Python with PyAV"),
    arguments: Stream.allCases, Eye.allCases)
  func exact(stream: Stream, baseEye: Eye) throws {
    let woven = try weave(
      stream.accessUnits(.left), stream.accessUnits(.right), baseEye: baseEye)
    let frames = try Decoder.frames(of: woven)
    for (view, eye) in [("0", baseEye), ("1", baseEye.other)] {
      let alone = try stream.md5s(eye)
      #expect(!alone.isEmpty)
      #expect(frames.filter { $0.view == view }.map(\.md5) == alone)
    }
  }
}
