// SPDX-License-Identifier: MPL-2.0

import Reprojection
import StereoVideo
import TestKit
import Testing

/// Camera paths: what a file may say, and what lies between its lines.
struct CameraPathTests {
  private static func seconds(_ time: Double) -> Int64 { Int64((time * 1e9).rounded()) }

  private static let other = CameraView(
    SphereOrientation(yaw: 7, pitch: 8, roll: 9), fieldOfView: 66)

  @Test("a path goes through its views, in either order of columns, and stays at its ends")
  func views() throws {
    let path = try CameraPath(
      parsing: "\u{feff}time, field-of-view,yaw ,pitch\r\n# a comment\r\n\r\n0:01.5,60,10,-20\r\n"
        + "3,90,370, 20\r\n1:00:00.25,100,-5,0")
    for (time, yaw, pitch, fieldOfView) in [
      (0.0, 10.0, -20.0, 60.0), (1.5, 10, -20, 60), (3, 370, 20, 90), (3600.25, -5, 0, 100),
      (1e9, -5, 0, 100),
    ] {
      let view = path.view(at: Self.seconds(time), otherwise: Self.other)
      #expect(
        view
          == CameraView(
            SphereOrientation(yaw: yaw, pitch: pitch, roll: 9), fieldOfView: fieldOfView))
    }
  }

  @Test("between two views the path neither overshoots nor jumps, and a straight line stays one")
  func between() throws {
    var dice = Dice(5)
    for _ in 0..<50 {
      let times = (0..<8).reduce(into: [0.0]) { times, _ in
        times.append((times.last ?? 0) + 0.01 + Double(dice.next(below: 500)) / 100)
      }
      let yaws = times.map { _ in Double(dice.next(below: 720)) - 360 }
      let path = try CameraPath(
        parsing: "time,yaw\n" + zip(times, yaws).map { "\($0),\($1)" }.joined(separator: "\n"))
      func yaw(_ time: Double) -> Double {
        path.view(at: Self.seconds(time), otherwise: Self.other).orientation.yaw
      }
      for index in 1..<times.count {
        let ends = [yaws[index - 1], yaws[index]].sorted()
        let width = times[index] - times[index - 1]
        // Three times the mean speed is the most that a monotone cubic has.
        let fastest = 3.01 * (ends[1] - ends[0]) / 100 + 1e-6
        var last = yaw(times[index - 1])
        for step in 1...100 {
          let now = yaw(times[index - 1] + width * Double(step) / 100)
          #expect((ends[0] - 1e-6...ends[1] + 1e-6).contains(now))
          #expect(abs(now - last) <= fastest)
          last = now
        }
      }
    }
    let line = try CameraPath(parsing: "time,yaw\n0,0\n1,10\n4,40\n5,50")
    for time in stride(from: 0, through: 5, by: 0.125) {
      let yaw = line.view(at: Self.seconds(time), otherwise: Self.other).orientation.yaw
      #expect(abs(yaw - time * 10) < 1e-9)
    }
  }

  @Test(
    "an invalid path is refused, with the line",
    arguments: [
      ("", "no line has"), ("time,yaw", "no line has"),
      ("yaw,pitch\n1,2", "line 1: the column 'time' is missing"),
      ("time,yaw,yaw\n1,2,3", "line 1: a column name occurs twice"),
      ("time,zoom\n1,2", "line 1: 'zoom' is not a column"),
      ("time,yaw\n1,2\n\n2", "line 4: expected 2 values, found 1"),
      ("time,yaw\n1,2\n1,3", "line 3: times must increase; '1' is not after the previous time"),
      ("time,pitch\n1,91", "line 2: '91' is not a pitch from -90 to 90"),
      ("time,field-of-view\n1,nan", "line 2: 'nan' is not a field-of-view from 10 to 150"),
      ("time,yaw\n1:60,2", "'1:60' is not a time"), ("time,yaw\n-1,2", "'-1' is not a time"),
      ("time,yaw\ninf,2", "'inf' is not a time"), ("time,yaw\n1e10,2", "'1e10' is not a time"),
      ("time,yaw\n4000000000:4000000000:1,2", "is not a time"),
      ("time,yaw\n1:2:3:4,2", "is not a time"),
      ("time,yaw\n:,2", "is not a time"),
      (
        "\u{1B}[31m" + String(repeating: "x", count: 5000),
        "line 1: '?[31mxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is"
      ),
    ])
  func refused(text: String, words: String) {
    let error = #expect(throws: CameraPathError.self) { try CameraPath(parsing: text) }
    #expect(error.map { "\($0)".contains(words) } == true, "\(error.map { "\($0)" } ?? "")")
  }
}
