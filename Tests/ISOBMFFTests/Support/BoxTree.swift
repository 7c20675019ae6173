// SPDX-License-Identifier: MPL-2.0

/// A second, independent walk over boxes, for looking at what the writer wrote.
struct BoxTree {
  struct Leaf: Equatable {
    /// Types from the root on, joined by slashes.
    let path: String
    let payload: [UInt8]
  }

  private static let containers: Set<String> = [
    "moov", "trak", "edts", "mdia", "minf", "dinf", "stbl", "tapt", "udta", "vexu", "eyes",
    "cams", "cmfy", "proj", "pack", "wave", "ilst", "gmhd",
  ]

  private(set) var leaves: [Leaf] = []

  init(_ bytes: [UInt8]) {
    walk(bytes[...], path: "")
  }

  subscript(_ path: String) -> [UInt8]? {
    leaves.first { $0.path == path }?.payload
  }

  var paths: [String] { leaves.map(\.path) }

  private mutating func walk(_ bytes: ArraySlice<UInt8>, path: String) {
    var rest = bytes
    while rest.count >= 8 {
      var size = Int(Self.number(rest.prefix(4)))
      var header = 8
      if size == 1 {
        size = Int(Self.number(rest.dropFirst(8).prefix(8)))
        header = 16
      }
      let type = String(
        String.UnicodeScalarView(rest.dropFirst(4).prefix(4).map { Unicode.Scalar($0) }))
      guard size >= header, size <= rest.count else { return }
      visit(
        type, rest.prefix(size).dropFirst(header), path: path.isEmpty ? type : "\(path)/\(type)")
      rest = rest.dropFirst(size)
    }
  }

  private mutating func visit(_ type: String, _ payload: ArraySlice<UInt8>, path: String) {
    switch type {
    case _ where Self.containers.contains(type):
      walk(payload, path: path)
    case "stsd":
      walk(payload.dropFirst(8), path: path)
    case "hvc1":
      leaves.append(Leaf(path: path, payload: Array(payload.prefix(78))))
      walk(payload.dropFirst(78), path: path)
    case _ where path.hasSuffix("stsd/\(type)"):
      let version = payload.dropFirst(8).prefix(2).last ?? 0
      let fixed = [28, 44, 64][Int(min(version, 2))]
      leaves.append(Leaf(path: path, payload: Array(payload.prefix(fixed))))
      walk(payload.dropFirst(fixed), path: path)
    case "meta":
      // Only QuickTime's own form begins with a box.
      let isPlain = payload.dropFirst(4).prefix(4).elementsEqual("hdlr".utf8)
      walk(isPlain ? payload : payload.dropFirst(4), path: path)
    default:
      leaves.append(Leaf(path: path, payload: Array(payload)))
    }
  }

  static func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
