// SPDX-License-Identifier: MPL-2.0

internal import Foundation

/// Files that tests read and that take long to make: each is made once, for all processes and runs,
/// and kept in `.build/test-fixtures` by its recipe.
///
/// What decides a fixture's bytes is its recipe's text and ``makers``: the library's own build,
/// since it writes most of them, and what is installed. So a change of the library makes all of
/// them again, and none hides a mistake of it; tests of what writes movies make their own.
public enum Fixture {
  /// Puts a copy of a fixture at a path, where the test may change it.
  ///
  /// - Parameters:
  ///   - recipe: all that decides the bytes, besides ``makers``: the line of gst-launch.
  ///   - make: makes it at the path that it is given.
  public static func copy(
    to path: String, recipe: String, _ make: (String) async throws -> Void
  ) async throws {
    let file = try await file(recipe: recipe, make)
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: file, toPath: path)
  }

  /// The path of a fixture that nobody changes.
  public static func file(
    recipe: String, _ make: (String) async throws -> Void
  ) async throws -> String {
    let files = FileManager.default
    let key = "\(makers)\n\(recipe)\n"
    let place = root.appending(path: hash(Data(key.utf8)))
    let (file, note) = (place.appending(path: "fixture"), place.appending(path: "recipe"))
    if let kept = try? String(contentsOf: note, encoding: .utf8) {
      guard kept == key else { throw Failure("two recipes have the hash \(place.path)") }
      return file.path
    }
    // Nobody sees it before it is whole. If two processes make it at once, the first one's is kept.
    let own = root.appending(path: ".\(UUID().uuidString)")
    try files.createDirectory(at: own, withIntermediateDirectories: true)
    defer { try? files.removeItem(at: own) }
    try await make(own.appending(path: "fixture").path)
    try Data(key.utf8).write(to: own.appending(path: "recipe"))
    if rename(own.path, place.path) != 0, !files.fileExists(atPath: note.path) {
      throw Failure("\(place.path) cannot be made: \(String(cString: strerror(errno)))")
    }
    return file.path
  }

  /// The folder of fixtures that this build makes. Those of builds that nobody has used for a day
  /// go.
  private static let root: URL = {
    let files = FileManager.default
    let all = Repository.url.appending(path: ".build/test-fixtures")
    let own = all.appending(path: hash(Data(makers.utf8)))
    try? files.createDirectory(at: own, withIntermediateDirectories: true)
    try? files.setAttributes([.modificationDate: Date()], ofItemAtPath: own.path)
    let folders = try? files.contentsOfDirectory(
      at: all, includingPropertiesForKeys: [.contentModificationDateKey])
    for folder in folders ?? [] {
      let date = try? folder.resourceValues(forKeys: [.contentModificationDateKey])
        .contentModificationDate
      if let date, date < Date() - 86_400 { try? files.removeItem(at: folder) }
    }
    return own
  }()

  /// What makes fixtures: the objects of the library's build, beside the tests' program, or the
  /// program if they are not there; the built plugin; the packages that are installed; other
  /// libraries that the environment asks for. Of each file the size and the time at which it was
  /// written, to the nanosecond.
  static let makers: String = {
    let program =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let build = URL(filePath: program).deletingLastPathComponent()
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: build.path)) ?? []
    // Sources/FLOOR/TARGET
    let sources = Repository.url.appending(path: "Sources")
    let targets = ((try? FileManager.default.contentsOfDirectory(atPath: sources.path)) ?? [])
      .flatMap { floor in
        (try? FileManager.default.contentsOfDirectory(
          atPath: sources.appending(path: floor).path)) ?? []
      }
    var objects: [String] = []
    for source in targets where folders.contains("\(source).build") && source != "GStreamerCheck" {
      let folder = build.appending(path: "\(source).build").path
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      objects += names.filter { $0.hasSuffix(".o") }.map { folder + "/" + $0 }
    }
    if objects.isEmpty { objects = [program] }
    let plugin = Repository.built.map { [$0.appending(path: "libgstspatial.so").path] } ?? []
    let variables = ProcessInfo.processInfo.environment
    let facts =
      (objects.sorted() + plugin + ["/var/lib/dpkg/status"]).map(state)
      + ["LD_LIBRARY_PATH", "LD_PRELOAD", "GST_SPATIAL_STATIC"].map {
        "\($0)=\(variables[$0] ?? "")"
      }
    return facts.joined(separator: "\n")
  }()

  private static func state(_ path: String) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else { return "\(path): none" }
    let time = status.st_mtim
    return "\(path): \(status.st_size) \(time.tv_sec).\(time.tv_nsec)"
  }

  /// FNV-1a, of which a collision is noticed, since the recipe is kept.
  private static func hash(_ bytes: Data) -> String {
    let value = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return String(value, radix: 16)
  }
}
