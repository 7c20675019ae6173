// SPDX-License-Identifier: MPL-2.0

import StereoEncoder
import StereoVideo
import Testing

struct SceneCutDetectorTests {
  private func cuts(
    _ scene: TestScene, frames: Int, minimumDistance: Int = 4, _ samples: (Int) -> [UInt8]
  ) throws -> [Int] {
    var detector = SceneCutDetector(
      width: scene.width, height: scene.height, bitDepth: scene.bitDepth,
      minimumDistance: minimumDistance)
    var cuts: [Int] = []
    for frame in 0..<frames {
      let picture = try scene.picture(samples(frame))
      if detector.isCut(picture.luma) { cuts.append(frame) }
      withExtendedLifetime(picture.owner) {}
    }
    return cuts
  }

  @Test(
    "cuts are found at the first picture of each new scene, and nowhere else",
    arguments: [
      TestScene(width: 160, height: 96), TestScene(width: 640, height: 360, bitDepth: 10),
      TestScene(width: 16, height: 16), TestScene(width: 100, height: 50, bitDepth: 10),
    ])
  func cuts(_ scene: TestScene) throws {
    let found = try cuts(scene, frames: 40) {
      scene.samples(frame: $0, eye: .left, scene: $0 / 13)
    }
    #expect(found == [13, 26, 39])
  }

  @Test("a fade, a flash and a still scene are no cuts")
  func noCuts() throws {
    let scene = TestScene(width: 320, height: 180)
    #expect(
      try cuts(scene, frames: 30) {
        scene.samples(frame: $0, eye: .left, brightness: $0 * -3)
      } == [])
    #expect(
      try cuts(scene, frames: 20) {
        scene.samples(frame: $0, eye: .left, brightness: $0 == 11 ? 45 : 0)
      } == [])
    #expect(try cuts(scene, frames: 12) { _ in scene.samples(frame: 0, eye: .left) } == [])
    #expect(
      try cuts(scene, frames: 12) { frame in
        [UInt8](repeating: UInt8(16 + frame * 10), count: 320 * 180 * 3 / 2)
      } == [])
  }

  @Test("no cut follows another within the minimum distance")
  func minimumDistance() throws {
    let scene = TestScene(width: 160, height: 96)
    let found = try cuts(scene, frames: 30, minimumDistance: 10) {
      scene.samples(frame: $0, eye: .left, scene: $0 / 3)
    }
    #expect(zip(found, found.dropFirst()).allSatisfy { $1 - $0 >= 10 })
    #expect(found.count == 2)
  }
}
