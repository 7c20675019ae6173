// SPDX-License-Identifier: MPL-2.0

internal import Foundation
internal import StereoEncoder

/// The libx265 that encodes here, and adapters for others.
public enum X265 {
  /// `X265_BUILD` of the one that encodes; nil if there is none.
  public static let build: Int32? = (try? X265Library(bitDepth: 8))?.build

  /// Whether pictures may have several slices, with which some builds hang or crash, in x265enc as
  /// well.
  public static let hasSlices: Bool = {
    guard let build, let options = try? EncoderOption.list("slices=2") else { return true }
    return (try? EncoderOption.check(options, build: build)) != nil
  }()

  /// Whether options, with colons between, can be used.
  public static func takes(_ options: String) -> Bool {
    hasSlices || !options.split(separator: ":").contains { $0.hasPrefix("slices=") }
  }

  /// The headers of this machine's libx265, as if it were another: a folder for CPATH.
  ///
  /// - Parameters:
  ///   - build: `X265_BUILD`; nil for that of this machine.
  ///   - changes: texts of `x265.h`, each with what takes its place.
  public static func makeHeaders(
    build: Int32? = nil, changes: [(text: String, by: String)] = []
  ) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let preprocessed = try output(["cc", "-E", "-include", "x265.h", "-xc", "/dev/null"])
    let headers = preprocessed.split(separator: "\n").compactMap { line -> String? in
      // `# 1 "/usr/include/x265.h" 1 3 4`
      let parts = line.split(separator: "\"")
      return line.hasPrefix("# ") && parts.count > 1 ? String(parts[1]) : nil
    }
    for name in ["x265.h", "x265_config.h"] {
      guard let path = headers.first(where: { $0.hasSuffix("/" + name) }) else {
        throw Failure("the compiler finds no \(name)")
      }
      var text = try String(contentsOfFile: path, encoding: .utf8)
      for change in changes where name == "x265.h" {
        guard text.contains(change.text) else { throw Failure("x265.h has no '\(change.text)'") }
        text = text.replacing(change.text, with: change.by)
      }
      if let build, name == "x265_config.h" {
        text += "\n#undef X265_BUILD\n#define X265_BUILD \(build)\n"
      }
      _ = try folder.write(text, to: name)
    }
    return folder
  }

  /// Compiles an adapter with headers as `makeHeaders` makes them, and gives its path.
  public static func makeAdapter(
    in folder: TemporaryFolder, build: Int32? = nil, changes: [(text: String, by: String)] = []
  ) throws -> String {
    let headers = try makeHeaders(build: build, changes: changes)
    let said = try output(
      [Repository.url.appending(path: "scripts/x265-adapter").path, folder.url.path],
      environment: ["CPATH": headers.url.path])
    return said.components(separatedBy: " encodes with")[0]
  }

  /// What a program prints; it must succeed.
  private static func output(
    _ words: [String], environment: [String: String] = [:]
  ) throws -> String {
    let ended = try Program.run(words, environment: environment, errors: .apart)
    guard ended.status == 0 else { throw Failure("\(words): \(ended.errors)") }
    return ended.output
  }
}
