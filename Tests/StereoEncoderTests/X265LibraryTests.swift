// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoEncoder
import TestKit
import Testing

struct X265LibraryTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Why none of these adapters encodes.
  private func reason(builtIn: X265Adapter? = nil, files: [String] = []) throws -> String {
    let error = #expect(throws: StereoEncoderError.self) {
      _ = try X265Library(bitDepth: 8, builtIn: builtIn, files: files)
    }
    guard case .library(let reason)? = error else {
      throw Failure(String(describing: error))
    }
    return reason
  }

  @Test("there is an encoder for 8 and for 10 bits, and none for 9")
  func bitDepths() throws {
    #expect(try X265Library(bitDepth: 8).build == X265Library(bitDepth: 10).build)
    #expect(throws: StereoEncoderError.self) { try X265Library(bitDepth: 9) }
  }

  @Test("options with which a build hangs or crashes are refused for that build only")
  func slices() throws {
    for text in ["slices=4", "bframes=2:--slices=2", "slices"] {
      let options = try EncoderOption.list(text)
      for build in [215, 216] as [Int32] {
        #expect(throws: StereoEncoderError.self) { try EncoderOption.check(options, build: build) }
      }
      #if !arch(arm64)
        try EncoderOption.check(options, build: 199)
      #endif
    }
    let single = try EncoderOption.list("slices=1:lookahead-slices=4")
    for build in [215, 216] as [Int32] { try EncoderOption.check(single, build: build) }
  }

  @Test("if this was built without x265.h, that is what is missing")
  func withoutHeader() throws {
    let reason = try reason()
    for part in ["built without its header", "apt install libx265-dev", "make x265-adapter"] {
      #expect(reason.contains(part), "\(reason)")
    }
  }

  @Test("a libx265 that is not there is named, with its package", .tags(.process))
  func absent() throws {
    let files = [
      try X265.makeAdapter(in: folder, build: 902), try X265.makeAdapter(in: folder, build: 901),
    ]
    let reason = try reason(files: files)
    for part in [
      "not installed", "libx265.so.902, libx265.so.901", "libx265-902 or libx265-901",
      "make x265-adapter",
    ] {
      #expect(reason.contains(part), "\(reason)")
    }
  }

  @Test(
    "a library whose structures have other sizes is not used", .tags(.process),
    arguments: ["x265_param", "x265_picture", "x265_stats"])
  func otherSizes(_ structure: String) throws {
    let file = try X265.makeAdapter(
      in: folder,
      changes: [(text: "} \(structure);", by: "int more[8];\n} \(structure);")])
    let reason = try reason(files: [file])
    #expect(reason.contains("does not match the x265.h"), "\(reason)")
    #expect(reason.contains("make x265-adapter"), "\(reason)")
  }

  @Test("what is no adapter, or one of another version, is not used", .tags(.process))
  func otherFiles() throws {
    let text = try folder.write("text", to: "x265-1.so")
    #expect(try reason(files: [text]).contains("x265-1.so"))
    let code = try folder.write(
      """
      #include "CX265.h"
      const cx265_adapter *cx265_get_adapter(void) {
        static const cx265_adapter adapter = {.abi = CX265_ABI + 1};
        return &adapter;
      }
      """, to: "other.c")
    let other = folder.path("x265-2.so")
    let compiler = try Program.run([
      "cc", "-shared", "-fPIC", "-o", other, code,
      "-I" + Repository.url.appending(path: "Sources/Machines/CX265/include").path,
    ])
    #expect(compiler.status == 0, "\(compiler.output)")
    #expect(try reason(files: [other]).contains("x265-2.so was made for another version"))
  }

  @Test(
    "the first libx265 that can be used is taken, and what is before it does no harm",
    .tags(.process))
  func first() throws {
    let used = try X265Library(bitDepth: 8)
    let absent = try X265.makeAdapter(in: folder, build: 901)
    let text = try folder.write("text", to: "x265-1.so")
    let fitting = try X265.makeAdapter(in: folder)
    let library = try X265Library(
      bitDepth: 8, builtIn: X265Adapter(file: absent), files: [text, absent, fitting, text])
    #expect(fitting.hasSuffix("/x265-\(library.build).so"))
    let own = try X265Library(bitDepth: 8, builtIn: used.adapter, files: [text])
    #expect(own.build == used.build)
  }

  @Test("numbers are read alike where the locale of the process has a decimal comma")
  func decimalComma() throws {
    // What localedef makes of the numbers of de_DE: glibc's locales are files, and few are
    // installed.
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
