// SPDX-License-Identifier: MPL-2.0

import PipelineFile

/// A handful of element types as stage 3 sees them.
struct FakeRegistry: ElementRegistry {
  private let types: [String: ElementType]

  init() {
    types = Dictionary(uniqueKeysWithValues: Self.all.map { ($0.name, $0) })
  }

  func elementType(_ name: String) -> ElementType? { types[name] }

  var elementTypeNames: [String] { types.keys.sorted() }

  func package(providing elementType: String) -> String? {
    elementType == "x264enc" ? "gstreamer1.0-plugins-ugly" : nil
  }

  func problem(inCaps caps: String) -> String? {
    caps.split(separator: ";").allSatisfy { structure in
      let type = structure.prefix { $0 != "," && $0 != "(" }
      return structure == "ANY" || type.split(separator: "/").count == 2
    } ? nil : "a media type has one slash"
  }

  func problem(inStructure structure: String) -> String? {
    structure.contains(" ") && !structure.contains(",") ? "fields are separated by ','" : nil
  }

  /// Media types alone are compared, and formats where both name one.
  func capsIntersect(_ one: String, _ other: String) -> Bool {
    one == "ANY" || other == "ANY"
      || one.split(separator: ";").contains { first in
        other.split(separator: ";").contains { second in intersect(first, second) }
      }
  }

  private func intersect(_ one: Substring, _ other: Substring) -> Bool {
    func parts(_ caps: Substring) -> (type: Substring, format: Substring?) {
      let fields = caps.split(separator: ",").map { $0.drop { $0 == " " } }
      return (fields.first ?? "", fields.first { $0.hasPrefix("format=") })
    }
    let (first, second) = (parts(one), parts(other))
    return first.type.drop { $0 == " " } == second.type.drop { $0 == " " }
      && (first.format == nil || second.format == nil || first.format == second.format)
  }

  func withoutFields(_ caps: String) -> [(field: String, rest: String)] { [] }

  func converter(from source: String, to sink: String) -> String? {
    switch (source.hasPrefix("video/x-raw"), sink.hasPrefix("video/x-raw")) {
    case (true, true): "videoconvert"
    case (false, true) where source.hasPrefix("video/"): "decodebin"
    case (true, false) where sink.hasPrefix("video/x-h265"): "x265enc"
    default: nil
    }
  }

  private static func type(
    _ name: String, _ properties: [PropertyDescription] = [], _ pads: PadDescription...,
    ofPads: [String: [PropertyDescription]] = [:]
  ) -> ElementType {
    ElementType(name: name, padTemplates: pads) { .init(ofElement: properties, ofPads: ofPads) }
  }

  private static func source(
    _ name: String = "src", _ caps: String = "ANY", _ presence: PadDescription.Presence = .always
  ) -> PadDescription {
    PadDescription(name: name, direction: .source, presence: presence, caps: caps)
  }

  private static func sink(
    _ name: String = "sink", _ caps: String = "ANY", _ presence: PadDescription.Presence = .always
  ) -> PadDescription {
    PadDescription(name: name, direction: .sink, presence: presence, caps: caps)
  }

  private static let location = PropertyDescription(name: "location", type: .string)
  private static let raw = "video/x-raw"

  private static let all: [ElementType] = [
    type("filesrc", [location], source()),
    type(
      "filesink",
      [
        location, .init(name: "sync", type: .boolean),
        .init(name: "stats", type: .structure, isWritable: false),
      ],
      sink()),
    type("fakesink", [.init(name: "sync", type: .boolean)], sink()),
    type(
      "videotestsrc",
      [
        .init(
          name: "pattern",
          type: .enumeration([
            .init(nick: "smpte", value: 0), .init(nick: "snow", value: 1),
            .init(nick: "ball", value: 18),
          ])),
        .init(name: "num-buffers", type: .integer(-1...2_147_483_647)),
        .init(name: "is-live", type: .boolean),
      ], source("src", raw)),
    type("audiotestsrc", [], source("src", "audio/x-raw")),
    type(
      "queue",
      [
        .init(name: "max-size-buffers", type: .unsigned(0...4_294_967_295)),
        .init(name: "max-size-time", type: .unsigned(0...UInt64.max)),
        .init(
          name: "leaky",
          type: .enumeration([
            .init(nick: "no", value: 0), .init(nick: "upstream", value: 1),
            .init(nick: "downstream", value: 2),
          ])),
        .init(name: "current-level-bytes", type: .unsigned(0...4_294_967_295), isWritable: false),
      ], sink(), source()),
    type("tee", [], sink(), source("src_%u", "ANY", .request)),
    type("decodebin", [], sink(), source("src_%u", "ANY", .sometimes)),
    type("videoconvert", [], sink("sink", raw), source("src", raw)),
    type("audioconvert", [], sink("sink", "audio/x-raw"), source("src", "audio/x-raw")),
    type("avenc_aac", [], sink("sink", "audio/x-raw"), source("src", "audio/mpeg")),
    type(
      "x265enc",
      [.init(name: "bitrate", type: .unsigned(1...2_048_000))], sink("sink", raw),
      source("src", "video/x-h265")),
    type("capsfilter", [.init(name: "caps", type: .caps)], sink(), source()),
    type(
      "sbssplit",
      [.init(name: "right-first", type: .boolean), .init(name: "layout", type: .string)],
      sink("sink", raw), source("left", raw), source("right", raw)),
    type(
      "stereotagger",
      [
        .init(
          name: "eye",
          type: .enumeration([.init(nick: "left", value: 1), .init(nick: "right", value: 2)])),
        .init(name: "horizontal-field-of-view", type: .number(0...360)),
        .init(name: "frame-rate", type: .fraction),
        .init(name: "lens", type: .structure),
        .init(name: "matrix", type: .array),
        .init(
          name: "marks",
          type: .flags([.init(nick: "hero", value: 1), .init(nick: "primary", value: 2)])),
        .init(name: "context", type: .other("GstContext")),
      ], sink(), source()),
    type(
      "mvhevcmux", [.init(name: "quality", type: .integer(0...51))],
      sink("left", "video/x-raw; video/x-h265", .request),
      sink("right", "video/x-raw; video/x-h265", .request),
      sink("audio_%u", "audio/mpeg", .request), source("src", "video/quicktime"),
      ofPads: [
        "audio_%u": [
          .init(name: "language", type: .string), .init(name: "volume", type: .number(0...1)),
        ]
      ]),
  ]
}

/// Two folders with a few files.
struct FakeFiles: FileProbe {
  func state(of path: String) -> FileState {
    switch path {
    case "movie.mp4", "./movie.mp4", "taken.mov": .file(isReadable: true, isWritable: true)
    case "secret.mp4": .file(isReadable: false, isWritable: false)
    case ".", "out": .folder(isWritable: true)
    case "/read-only": .folder(isWritable: false)
    default: .missing
    }
  }

  func canonicalPath(of path: String) -> String {
    path.hasPrefix("./") ? String(path.dropFirst(2)) : path
  }
}
