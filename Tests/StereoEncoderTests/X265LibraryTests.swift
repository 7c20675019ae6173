// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoEncoder
import Testing

struct X265LibraryTests {
  private func reason(_ known: [X265Layout]) throws -> String {
    let error = #expect(throws: StereoEncoderError.self) {
      _ = try X265Library(bitDepth: 8, known: known)
    }
    guard case .library(let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return ""
    }
    return reason
  }

  /// What is installed, with its layout.
  private func used() throws -> X265Layout { try X265Library(bitDepth: 8).layout }

  @Test("there is an encoder for 8 and for 10 bits, and none for 9")
  func bitDepths() throws {
    #expect(try X265Library(bitDepth: 8).layout.build == X265Library(bitDepth: 10).layout.build)
    #expect(throws: StereoEncoderError.self) { try X265Library(bitDepth: 9) }
  }

  @Test("what a build hangs or crashes with is refused with it, and with no other")
  func slices() throws {
    for text in ["slices=4", "bframes=2:--slices=2", "slices"] {
      let options = try EncoderOption.list(text)
      for build in [215, 216] as [Int32] {
        #expect(throws: StereoEncoderError.self) { try EncoderOption.check(options, build: build) }
      }
      try EncoderOption.check(options, build: 199)
    }
    let single = try EncoderOption.list("slices=1:lookahead-slices=4")
    for build in [215, 216] as [Int32] { try EncoderOption.check(single, build: build) }
  }

  @Test("a build that is not known is named, with the packages that help")
  func unknownBuild() throws {
    let build = try used().build
    let reason = try reason(X265Layout.known.filter { $0.build != build })
    #expect(reason.contains("libx265.so.\(build) is of a build that this does not know"))
    for layout in X265Layout.known { #expect(reason.contains("libx265-\(layout.build)")) }
  }

  @Test("a library whose structures have other sizes is not used")
  func otherSizes() throws {
    let changes: [(inout X265Layout) -> Void] = [
      { $0.parameters.size += 8 }, { $0.picture.size -= 8 }, { $0.statistics.size += 8 },
    ]
    for change in changes {
      var layout = try used()
      change(&layout)
      #expect(
        try reason([layout]).contains(
          "libx265.so.\(layout.build) does not have the structures of x265 \(layout.version)"))
    }
  }

  @Test("a library that keeps an option elsewhere is not used")
  func misplacedOption() throws {
    let changes: [(option: String, change: (inout X265Layout) -> Void)] = [
      ("bframes", { $0.parameters.bframes = .init($0.parameters.bframes.offset + 4) }),
      ("crf", { $0.parameters.rfConstant = .init($0.parameters.rfConstant.offset + 8) }),
      ("input-res", { swap(&$0.parameters.sourceWidth, &$0.parameters.sourceHeight) }),
      ("ctu", { $0.parameters.maxCUSize = $0.parameters.maxTUSize }),
    ]
    for (option, change) in changes {
      var layout = try used()
      change(&layout)
      #expect(try reason([layout]).contains("keeps its option \(option) elsewhere"))
    }
  }

  @Test("numbers are read alike where the locale of the process has a decimal comma")
  func decimalComma() throws {
    // What localedef makes of the numbers of de_DE: glibc's locales are files, and few are installed.
    let numbers: [UInt8] = [
      0x14, 0x11, 0x03, 0x20, 6, 0, 0, 0, 0x20, 0, 0, 0, 0x22, 0, 0, 0, 0x24, 0, 0, 0, 0x28, 0, 0,
      0,
      0x2C, 0, 0, 0, 0x30, 0, 0, 0, 0x2C, 0, 0x2E, 0, 3, 3, 0, 0, 0x2C, 0, 0, 0, 0x2E, 0, 0, 0,
      0x55,
      0x54, 0x46, 0x2D, 0x38, 0,
    ]
    let folder = FileManager.default.temporaryDirectory.appending(path: "locale-\(UUID())")
    let locale = folder.appending(path: "comma")
    try FileManager.default.createDirectory(at: locale, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(numbers).write(to: locale.appending(path: "LC_NUMERIC"))
    setenv("LOCPATH", folder.path, 1)
    let comma = try #require(newlocale(LC_NUMERIC_MASK, "comma", nil))
    unsetenv("LOCPATH")
    let usual = uselocale(comma)
    defer {
      uselocale(usual)
      freelocale(comma)
    }
    try #require(strtod("0,5", nil) == 0.5)

    var configuration = StereoEncoderConfiguration(width: 64, height: 64)
    configuration.preset = .ultrafast
    configuration.rateControl = .quality(27.5)
    configuration.optionString = "psy-rd=0.5"
    _ = try StereoEncoder(configuration)
    #expect(strtod("0,5", nil) == 0.5)
  }
}
