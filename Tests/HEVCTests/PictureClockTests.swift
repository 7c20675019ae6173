// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import Testing

@Suite("Picture clock") struct PictureClockTests {
  private func frame(_ clock: inout OutputOrderCounter, _ unit: AccessUnit) -> OutputOrderCounter
    .Frame?
  {
    clock.frame(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
  }

  @Test(
    "every picture has its own place in output order, and is decoded before it",
    arguments: Stream.allCases, Eye.allCases)
  func order(stream: Stream, eye: Eye) throws {
    var clock = OutputOrderCounter()
    let units = try stream.accessUnits(eye)
    let frames = units.compactMap { frame(&clock, $0) }
    #expect(frames.count == units.count)
    #expect(frames.map(\.number).sorted() == Array(0..<frames.count))
    for (index, frame) in frames.enumerated() {
      #expect(frame.number + frame.reordering >= index)
    }
    if stream == .main8 { #expect(frames.map(\.number) != Array(0..<frames.count)) }
  }

  @Test("an access unit without a picture, or without parameter sets, has no place")
  func missing() throws {
    var clock = OutputOrderCounter()
    let units = try Stream.main8.accessUnits(.left)
    #expect(frame(&clock, units[1]) == nil)
    let bytes = units[0].bytes
    let nothing = clock.frame(bytes.span.bytes, nalUnits: [])
    let beyond = clock.frame(bytes.span.bytes, nalUnits: [5..<1 << 40])
    #expect(nothing == nil && beyond == nil)
    #expect(frame(&clock, units[0])?.number == 0)
  }
}
