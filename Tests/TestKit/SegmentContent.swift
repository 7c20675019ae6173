// SPDX-License-Identifier: MPL-2.0

/// The movie fragments of a segment, as a client reads them, for ``StreamRules``. It shares no code
/// with the writer.
struct SegmentContent {
  /// The track of an initialization section.
  struct Track {
    var timescale = 1.0
    var isVideo = false
    var mistakes: [String] = []

    init(_ bytes: [UInt8]) {
      SegmentContent.walk(bytes) { type, content in
        switch type {
        case "mdhd":
          timescale = Double(content.number(at: content.first == 1 ? 20 : 12, size: 4))
        case "hdlr": isVideo = content.text(at: 8) == "vide"
        case "torn": mistakes.append("torn")
        case "elst": mistakes.append("an edit list, which CMAF forbids in cmf2")
        default: break
        }
      }
      if timescale < 1 { (timescale, mistakes) = (1, mistakes + ["no timescale"]) }
    }
  }

  private(set) var start: UInt64 = 0
  private(set) var end: UInt64 = 0
  private(set) var seconds = 0.0
  private(set) var sampleCount = 0
  private(set) var mistakes: [String] = []

  init(_ bytes: [UInt8], _ track: Track) {
    var (defaults, next, duration): (Defaults, UInt64?, UInt64) = (Defaults(), nil, 0)
    var (listed, stored) = (0, 0)
    Self.walk(bytes) { type, content in
      switch type {
      case "tfhd":
        defaults = Defaults(content)
        if !defaults.isBaseMoof { mistakes.append("default-base-is-moof is not set") }
      case "tfdt":
        let time = content.number(at: 4, size: content.first == 1 ? 8 : 4)
        if let next, next != time { mistakes.append("a fragment at \(time), not \(next)") }
        if next == nil { start = time }
        next = time
      case "trun":
        let run = Run(content, defaults)
        if sampleCount == 0, track.isVideo, run.firstFlags & 0x10000 != 0 {
          mistakes.append("it does not begin with a sync sample")
        }
        sampleCount += run.count
        listed += run.size
        duration += run.duration
        next = next.map { $0 &+ run.duration }
      case "torn": mistakes.append("torn")
      case "mdat": stored += content.count
      default: break
      }
    }
    if listed != stored { mistakes.append("samples of \(listed) bytes in \(stored)") }
    if sampleCount == 0 { mistakes.append("no sample") }
    end = start &+ duration
    seconds = Double(duration) / track.timescale
  }

  private struct Defaults {
    var isBaseMoof = false
    var duration: UInt64 = 0
    var size = 0
    var flags: UInt64 = 0

    init() {}

    init(_ content: ArraySlice<UInt8>) {
      let flags = content.number(at: 0, size: 4)
      isBaseMoof = flags & 0x20000 != 0 && flags & 1 == 0
      var place = 8 + (flags & 2 != 0 ? 4 : 0)
      func next(_ flag: UInt64) -> UInt64? {
        guard flags & flag != 0 else { return nil }
        defer { place += 4 }
        return content.number(at: place, size: 4)
      }
      duration = next(8) ?? 0
      size = Int(next(0x10) ?? 0)
      self.flags = next(0x20) ?? 0
    }
  }

  private struct Run {
    var count = 0
    var size = 0
    var duration: UInt64 = 0
    var firstFlags: UInt64 = 0

    init(_ content: ArraySlice<UInt8>, _ defaults: Defaults) {
      let flags = content.number(at: 0, size: 4)
      count = Int(content.number(at: 4, size: 4))
      var place = 8 + (flags & 1 != 0 ? 4 : 0)
      func next(_ flag: UInt64) -> UInt64? {
        guard flags & flag != 0 else { return nil }
        defer { place += 4 }
        return content.number(at: place, size: 4)
      }
      let first = next(4)
      for index in 0..<min(count, 1 << 20) {
        duration += next(0x100) ?? defaults.duration
        size += Int(next(0x200) ?? UInt64(defaults.size))
        let own = next(0x400) ?? defaults.flags
        if index == 0 { firstFlags = first ?? own }
        _ = next(0x800)
      }
    }
  }

  private static let containers: Set<String> = ["moov", "trak", "mdia", "moof", "traf", "edts"]

  /// Calls a function with the type and the content of each box, in order, also of those inside
  /// others.
  private static func walk(
    _ bytes: some RandomAccessCollection<UInt8>, _ body: (String, ArraySlice<UInt8>) -> Void
  ) {
    var rest = Array(bytes)[...]
    while rest.count >= 8 {
      let size = Int(rest.number(at: 0, size: 4))
      let type = rest.text(at: 4)
      guard size >= 8, size <= rest.count else { return body("torn", rest) }
      let content = rest.prefix(size).dropFirst(8)
      if containers.contains(type) { walk(content, body) } else { body(type, content) }
      rest = rest.dropFirst(size)
    }
  }
}

extension ArraySlice<UInt8> {
  /// A big-endian number; 0 beyond the end.
  fileprivate func number(at offset: Int, size: Int) -> UInt64 {
    dropFirst(offset).prefix(size).reduce(0) { $0 << 8 | UInt64($1) }
  }

  fileprivate func text(at offset: Int) -> String {
    String(decoding: dropFirst(offset).prefix(4), as: UTF8.self)
  }
}
