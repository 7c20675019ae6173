// SPDX-License-Identifier: MPL-2.0

import Foundation
import MovieParts
import PipelineFile
import StereoVideo
import TestKit
import Testing

/// The files of a work folder, whole and damaged.
struct ConversionPlanTests {
  private let folder: TemporaryFolder
  private let times: PictureTimes
  private let plan: ConversionPlan

  init() throws {
    folder = try TemporaryFolder()
    times = try PictureTimes(
      (0..<130).map { ClockTime(nanoseconds: $0 * 33_333_333) }, runningTimeShift: 0, of: "a.mp4")
    plan = try ConversionPlan(
      x265: 199, input: Self.input("/films/a \"b\"\\ä.mp4"),
      output: "/films/b.mov", pipeline: "sbs-to-mvhevc", values: ["quality=22", "fov=63.4"],
      creationTime: 1_700_000_000, times: times, cuts: [0, 60, 120])
  }

  private static func input(_ path: String) -> PlannedInput {
    PlannedInput(
      path: path, identity: InputIdentity(size: 12, sample: String(repeating: "a", count: 64)))
  }

  private var bytes: [UInt8] { get throws { Array(try plan.json.text().utf8) } }

  @Test("a plan is the same after writing and reading, and has the pictures of each part")
  func roundTrip() throws {
    #expect(try ConversionPlan(parsing: bytes, path: "plan.json") == plan)
    #expect((0..<4).map { plan.pictures(ofPart: $0) } == [0..<60, 60..<120, 120..<130, nil])
    #expect(plan.pictures(ofPart: -1) == nil)
  }

  @Test("a plan of two movies names both, and each may have changed")
  func twoMovies() throws {
    var pair = plan
    pair.rightInput = Self.input("/films/right.mp4")
    let bytes = Array(try pair.json.text().utf8)
    #expect(try ConversionPlan(parsing: bytes, path: "plan.json") == pair)
    #expect(pair.difference(from: plan) == "the input")
    var changed = pair
    changed.rightInput?.identity = InputIdentity(size: 13, sample: "a")
    #expect(changed.difference(from: pair) == "the contents of the input")
    #expect(try changed.key != pair.key && pair.key != plan.key)
  }

  @Test("two movies share the times of both, and none that differ")
  func sharedTimes() throws {
    func times(_ count: UInt64, late: UInt64 = 0) throws -> PictureTimes {
      try PictureTimes(
        (0..<count).map { ClockTime(nanoseconds: $0 * 33_333_333 + ($0 > 5 ? late : 0)) },
        runningTimeShift: 0, of: "b.mp4")
    }
    #expect(try times(130).shared(with: times(128), of: "b.mp4") == times(128))
    #expect(try times(100).shared(with: times(128, late: 99_000), of: "b.mp4") == times(100))
    let error = #expect(throws: PartError.self) {
      try times(10).shared(with: times(10, late: 101_000), of: "b.mp4")
    }
    #expect("\(error as Any)".contains("picture 6 is at 0.199999 s, and that of 'b.mp4' at 0.2001"))
  }

  @Test("a range has its own pictures, and is another conversion")
  func range() throws {
    var range = plan
    (range.cuts, range.end) = ([30, 90], 110)
    #expect(range.pictures == 30..<110 && range.isRange && !plan.isRange)
    #expect((0..<3).map { range.pictures(ofPart: $0) } == [30..<90, 90..<110, nil])
    #expect(range.difference(from: plan) == "the range")
    let bytes = Array(try range.json.text().utf8)
    #expect(try ConversionPlan(parsing: bytes, path: "plan.json") == range)
    range.end = 131
    let wrong = Array(try range.json.text().utf8)
    #expect(throws: PartError.self) { try ConversionPlan(parsing: wrong, path: "plan.json") }
  }

  @Test("the key depends on each field")
  func key() throws {
    var others = [ConversionPlan](repeating: plan, count: 9)
    others[0].x265 = 200
    others[1].input.path = "/films/c.mp4"
    others[2].output = "/films/c.mov"
    others[3].values = ["quality=23", "fov=63.4"]
    others[4].creationTime += 1
    others[5].cuts = [0, 60]
    others[6].timesHash = "0"
    others[7].version = "0.0.0"
    others[8].end = 129
    #expect(Set(try others.map { try $0.key } + [plan.key]).count == 10)
  }

  @Test("every cut-off plan and every wrong byte is an error, never a trap or another plan")
  func damage() throws {
    let bytes = try bytes
    for length in stride(from: 0, to: bytes.count, by: 7) {
      #expect(throws: PartError.self) {
        _ = try ConversionPlan(parsing: Array(bytes[..<length]), path: "plan.json")
      }
    }
    for place in bytes.indices {
      var wrong = bytes
      wrong[place] ^= UInt8(1 + place % 255)
      if let read = try? ConversionPlan(parsing: wrong, path: "plan.json") {
        // White space.
        #expect(read == plan)
      }
    }
  }

  @Test(
    "hostile values are errors",
    arguments: [
      ("\"parts\": [\n    0,", "\"parts\": [\n    1,"), ("    60,", "    600000000000000,"),
      ("\"pictures\": 130", "\"pictures\": -130"), ("\"format\": 1", "\"format\": 99"),
      ("\"pictures\": 130", "\"pictures\": 1e999"), ("\"x265\": 199", "\"x265\": null"),
      ("\"format\": 1", String(repeating: "[", count: 100_000)),
    ])
  func hostile(_ old: String, _ new: String) throws {
    let text = String(decoding: try bytes, as: UTF8.self)
    try #require(text.contains(old), "\(text)")
    #expect(throws: PartError.self) {
      _ = try ConversionPlan(
        parsing: Array(text.replacing(old, with: new).utf8), path: "plan.json")
    }
  }

  @Test("the same plan is adopted twice, another one is refused with the first difference")
  func adopt() throws {
    let work = WorkFolder(folder.path("work"))
    #expect(try work.adopt(plan, times) == plan)
    var later = plan
    later.creationTime += 100
    #expect(try work.adopt(later, times) == plan)
    #expect(try work.times(of: plan) == times)
    var other = plan
    other.values = ["quality=20", "fov=63.4"]
    #expect {
      _ = try work.adopt(other, times)
    } throws: { error in
      let error = error as? PartError
      return error?.kind == .final && error?.message.contains("the settings") == true
    }
    try Data([1, 2]).write(to: URL(filePath: work.timesFile))
    #expect(throws: PartError.self) { _ = try work.times(of: plan) }
  }

  @Test("the user's own files in the folder stay, and are never taken for parts")
  func otherFiles() throws {
    let work = WorkFolder(folder.path("work"))
    _ = try work.adopt(plan, times)
    let parts = ["part-00000.mov", "part-00000.json", "part-00001.host-1.incomplete.mov"]
    let others = ["part-1.mov", "part-two.mov", "film.incomplete", "part-00001.txt", "notes.json"]
    for name in parts + others + ["times.host-1.incomplete"] {
      try Data([1]).write(to: URL(filePath: folder.path("work/\(name)")))
    }
    work.removeParts()
    #expect(Set(SmallFiles.names(in: work.path)) == Set(others + ["plan.json", "times"]))

    let taken = WorkFolder(folder.path("taken"))
    try FileManager.default.createDirectory(
      atPath: taken.path, withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: folder.path("taken/part-00003.mov")))
    #expect(throws: PartError.self) { try taken.adopt(plan, times) }
    #expect(SmallFiles.names(in: taken.path) == ["part-00003.mov"])
  }

  @Test("a part counts only with a receipt of the same plan and a file of its size")
  func receipts() throws {
    let work = WorkFolder(folder.path("work"))
    _ = try work.adopt(plan, times)
    try Data([1, 2, 3]).write(to: URL(filePath: work.partFile(1)))
    let key = try plan.key
    var receipt = PartReceipt(
      key: key, hash: try FileHash.hash(of: [1, 2, 3]), size: 3, pictureCount: 60, coreSeconds: 1,
      seconds: 2, finished: 3, host: "h-1")
    func write(_ text: String) throws {
      try Data(text.utf8).write(to: URL(filePath: work.receiptFile(1)))
    }
    func counts() -> Bool { work.receipt(1, plan, key: key) != nil }
    #expect(!counts())
    try write(receipt.json.line)
    #expect(work.receipt(1, plan, key: key) == receipt)
    try write(String(receipt.json.line.dropLast(9)))
    #expect(!counts())
    receipt.key = "other"
    try write(receipt.json.line)
    #expect(!counts())
    receipt.key = key
    receipt.size = 4
    try write(receipt.json.line)
    #expect(!counts())
    receipt.size = 3
    receipt.pictureCount = 59
    try write(receipt.json.line)
    #expect(!counts())
  }

  @Test("the identity of a movie changes with its size and with a byte of a block")
  func identity() throws {
    var bytes = [UInt8](repeating: 7, count: 10_000_000)
    func identity() throws -> InputIdentity {
      try Data(bytes).write(to: URL(filePath: folder.path("a")))
      return try InputIdentity(path: folder.path("a"))
    }
    let first = try identity()
    #expect(try identity() == first)
    bytes[9_999_999] = 8
    #expect(try identity() != first)
    bytes[9_999_999] = 7
    bytes.append(7)
    #expect(try identity() != first)
    bytes = []
    #expect(try identity().size == 0)
    #expect(throws: PartError.self) { _ = try InputIdentity(path: folder.url.path) }
    #expect(throws: PartError.self) { _ = try InputIdentity(path: folder.path("none")) }
  }
}
