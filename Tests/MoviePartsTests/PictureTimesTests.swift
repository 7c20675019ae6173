// SPDX-License-Identifier: MPL-2.0

import MovieParts
import StereoVideo
import Testing

struct PictureTimesTests {
  @Test("a list is the same after writing and reading, and says what it has")
  func roundTrip() throws {
    let times = try PictureTimes([0, 33_333_333, 66_666_667], runningTimeShift: -5, of: "a.mp4")
    #expect(times.bytes.count == 24)
    #expect(PictureTimes(times.bytes, runningTimeShift: -5) == times)
    #expect(abs(try #require(times.rate) - 30) < 0.001)
    #expect([0, 1, 33_333_333, 99_000_000].map { times.first(from: $0) } == [0, 1, 1, 3])
  }

  @Test("times that do not rise are refused, with the number of the picture and what to do")
  func notRising() {
    #expect {
      _ = try PictureTimes([0, 5, 5], runningTimeShift: 0, of: "a.mp4")
    } throws: { error in
      let error = error as? PartError
      return error?.kind == .final && error?.message.contains("picture 2") == true
        && error?.help?.contains("remux") == true
    }
    #expect(throws: PartError.self) { _ = try PictureTimes([], runningTimeShift: 0, of: "a") }
  }

  @Test(
    "damaged lists are no lists",
    arguments: [
      [], [1, 2, 3], [UInt8](repeating: 0, count: 16), [UInt8](repeating: 255, count: 8),
    ])
  func damaged(_ bytes: [UInt8]) {
    #expect(PictureTimes(bytes, runningTimeShift: 0) == nil)
  }
}

struct PartCutsTests {
  private func cuts(_ count: Int, _ seconds: Int64, rate: Double? = 30) -> [Int] {
    cuts(count, .seconds(seconds), rate: rate)
  }

  private func cuts(_ count: Int, _ duration: Duration, rate: Double?) -> [Int] {
    PartCuts.cuts(
      pictures: 0..<count, rate: rate, partDuration: duration, keyframeDistance: 60)
  }

  @Test("cuts are whole groups of pictures apart, and a short rest belongs to the last part")
  func groups() {
    #expect(cuts(3600, 30) == [0, 900, 1800, 2700])
    #expect(cuts(3600, 31) == [0, 960, 1920, 2880])
    #expect(cuts(200, 2) == [0, 60, 120])
    #expect(cuts(210, 2) == [0, 60, 120, 180])
    #expect(cuts(61, 2) == [0])
    let range = PartCuts.cuts(
      pictures: 31..<231, rate: 30, partDuration: .seconds(2), keyframeDistance: 60)
    #expect(range == [31, 91, 151])
  }

  @Test("any length and rate give at least one part, and no cut at the end")
  func extremes() {
    for (count, duration, rate) in [
      (1, .seconds(30), nil), (1, .milliseconds(1), 30), (60, .zero, 30), (60, .seconds(-1), 30),
      (1_000_000, .nanoseconds(1), 1e9), (100, .seconds(Int64.max), 1e300),
      (120, .seconds(Int64.max), 30),
    ] as [(Int, Duration, Double?)] {
      let cuts = cuts(count, duration, rate: rate)
      #expect(cuts.first == 0 && cuts.allSatisfy { $0 < count && $0 % 60 == 0 })
    }
  }
}

struct PartNumberTests {
  private func number(_ environment: [String: String]) throws -> Int? {
    try PartNumber.number { environment[$0] }
  }

  @Test("each engine's variable is understood, from 0 or from 1 on")
  func engines() throws {
    #expect(try number([:]) == nil)
    for name in ["JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID", "AWS_BATCH_JOB_ARRAY_INDEX"] {
      #expect(try number([name: "0"]) == 0)
      #expect(try number([name: "17"]) == 17)
    }
    #expect(try number(["BATCH_TASK_INDEX": "2", "PBS_ARRAY_INDEX": "9"]) == 2)
    #expect(try number(["SGE_TASK_ID": "1"]) == 0)
    #expect(try number(["SGE_TASK_ID": "undefined"]) == nil)
    #expect(try number(["LSB_JOBINDEX": "0"]) == nil)
    #expect(try number(["LSB_JOBINDEX": "12"]) == 11)
  }

  @Test("anything but a number is an error", arguments: ["-1", "x", "1.5", "99999999999999999999"])
  func wrong(_ text: String) {
    #expect(throws: PartError.self) { try number(["SLURM_ARRAY_TASK_ID": text]) }
  }
}
