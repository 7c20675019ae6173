// SPDX-License-Identifier: MPL-2.0

public import Foundation

/// The streams of `../shared/mvc-media`, which are not part of the repository, with the facts that
/// its `golden.json` has about them.
public struct MVCMedia: Decodable, Sendable {
  public var width: Int
  public var height: Int
  public var accessUnits: Int
  public var fieldPairs: Int
  /// MD5 of each picture of each view, in the order of output.
  public var views: [[String]]
  public var legal: Bool
  /// Number of right pictures of each view with the prototype.
  public var exactInPrototype: [Int]

  public static let folder = Repository.url.deletingLastPathComponent().appending(
    path: "shared/mvc-media")
  public static let golden = folder.appending(path: "golden.json")
  public static let all: [String: MVCMedia] = {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return (try? decoder.decode([String: MVCMedia].self, from: Data(contentsOf: golden))) ?? [:]
  }()
  public static let isThere = !all.isEmpty
  public static let names = all.keys.sorted()

  public static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: name)))
  }
}
