// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF

/// A movie in the common file layouts, all made from one that `mvhevcmux` wrote.
public struct SeedMovie: Sendable {
  /// The movie with its index after the samples.
  public let bytes: [UInt8]
  private let movie: Movie

  /// Parses the movie; nil if the bytes are not a movie.
  public init?(_ bytes: [UInt8]) {
    var parser = MovieParser(fileSize: UInt64(bytes.count))
    var found: Movie?
    while found == nil, let event = try? parser.next() {
      switch event {
      case .needBytes(let range):
        guard let part = Self.part(of: bytes, range.lowerBound, range.count) else { return nil }
        parser.supply(part, at: range.lowerBound)
      case .movie(let movie): found = movie
      case .end: return nil
      default: break
      }
    }
    guard let found else { return nil }
    self.bytes = bytes
    movie = found
  }

  /// The movie with its index before the samples.
  public var indexFirst: [UInt8] {
    var boxes = BoxTree.read(bytes)
    guard let place = boxes.firstIndex(where: { $0.type == "moov" }) else { return bytes }
    var index = boxes.remove(at: place)
    let distance = UInt32(clamping: index.bytes.count)
    index.children = index.children.map { track in
      var track = track
      guard var table = track["mdia/minf/stbl/stco"] else { return track }
      let offsets = stride(from: 8, to: table.content.count, by: 4).map { place in
        table.content[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } &+ distance
      }
      table.content = Array(table.content.prefix(8)) + offsets.flatMap { big($0) }
      track["mdia/minf/stbl/stco"] = table
      return track
    }
    boxes.insert(index, at: min(1, boxes.count))
    return boxes.flatMap(\.bytes)
  }

  /// The samples of the first track.
  public var accessUnits: [[UInt8]] {
    guard let samples = movie.tracks.first?.samples else { return [] }
    return (0..<samples.count).compactMap { samples.sample(at: $0).flatMap(content) }
  }

  /// The content of the first track's `hvcC` and `lhvC`.
  public var records: (base: [UInt8], layered: [UInt8]) {
    guard case .video(let entry)? = movie.tracks.first?.sampleEntries.first else { return ([], []) }
    return (entry.hvcC ?? [], entry.lhvC ?? [])
  }

  /// The parameter sets and samples of the first track as a byte stream.
  public var byteStream: [UInt8] {
    guard let track = movie.tracks.first, case .video(let entry)? = track.sampleEntries.first,
      let base = entry.hvcC.flatMap({ try? HEVCDecoderConfigurationRecord(bytes: $0) })
    else { return [] }
    let layered = entry.lhvC.flatMap { try? LHEVCDecoderConfigurationRecord(bytes: $0) }
    var units = base.nalUnits + (layered?.nalUnits ?? [])
    for bytes in accessUnits {
      let ranges = try? LengthPrefixed.nalUnits(in: bytes.span.bytes, lengthSize: base.lengthSize)
      units += (ranges ?? []).map { Array(bytes[$0]) }
    }
    return units.flatMap { [0, 0, 0, 1] + $0 }
  }

  // MARK: Fragments

  /// Returns the movie in fragments, with `sidx` before and `mfra` after them.
  ///
  /// - Parameter length: number of samples of the first track in a fragment.
  public func fragmented(length: Int = 2) -> [UInt8] {
    var boxes = BoxTree.read(bytes)
    guard let place = boxes.firstIndex(where: { $0.type == "moov" }), let first = movie.tracks.first
    else { return bytes }
    var index = boxes.remove(at: place)
    index.children = index.children.map { Self.withoutSamples($0) }
    index.children.append(
      BoxTree(
        "mvex", [],
        [BoxTree("mehd", big(0 as UInt32) + big(UInt32(clamping: movie.duration ?? 0)))]
          + movie.tracks.map {
            let fields: [UInt32] = [0, $0.id.rawValue, 1, 0, 0, 0]
            return BoxTree("trex", fields.flatMap { big($0) })
          }))
    let head = boxes.filter { $0.type == "ftyp" }.flatMap(\.bytes) + index.bytes
    let count = max(1, (first.samples.count + length - 1) / max(1, length))
    let parts = (0..<count).map { number in
      fragment(number) { track in
        let all = track.samples.count
        return all * number / count..<all * (number + 1) / count
      }
    }
    // sidx: version and flags, six numbers, one row per fragment.
    let indexSize = 8 + 24 + 12 * parts.count
    var references: [UInt8] = []
    var entries: [UInt8] = []
    var offset = head.count + indexSize
    let duration = first.samples.endDecodeTime / Int64(count)
    for (number, part) in parts.enumerated() {
      references +=
        big(UInt32(clamping: part.count)) + big(UInt32(clamping: duration))
        + big(UInt32(0x9000_0000))
      let time = duration * Int64(number)
      entries += big(UInt32(clamping: time)) + big(UInt32(clamping: offset)) + [1, 1, 1]
      offset += part.count
    }
    let id = first.id.rawValue
    let sidx = BoxTree(
      "sidx",
      ([0, id, first.timescale, 0, 0, UInt32(clamping: parts.count)] as [UInt32]).flatMap {
        big($0)
      }
        + references)
    let tfra = BoxTree(
      "tfra",
      ([0, id, 0, UInt32(clamping: parts.count)] as [UInt32]).flatMap { big($0) } + entries)
    let mfro = BoxTree("mfro", big(UInt32(0)) + big(UInt32(clamping: tfra.bytes.count + 24)))
    return head + sidx.bytes + parts.flatMap { $0 } + BoxTree("mfra", [], [tfra, mfro]).bytes
  }

  private static func withoutSamples(_ track: BoxTree) -> BoxTree {
    var track = track
    guard var table = track["mdia/minf/stbl"] else { return track }
    table.children = table.children.filter { $0.type == "stsd" }
    table.children += ["stts", "stsc", "stco"].map { BoxTree($0, big(0 as UInt64)) }
    table.children.append(BoxTree("stsz", big(0 as UInt64) + big(0 as UInt32)))
    track["mdia/minf/stbl"] = table
    return track
  }

  /// Returns a `moof` and an `mdat` with some samples of each track.
  private func fragment(_ number: Int, _ range: (Track) -> Range<Int>) -> [UInt8] {
    let parts = movie.tracks.map { track in
      (track, range(track).compactMap { track.samples.sample(at: $0) })
    }.filter { !$0.1.isEmpty }
    func index(_ offsets: [Int]) -> BoxTree {
      BoxTree(
        "moof", [],
        [BoxTree("mfhd", big(UInt32(0)) + big(UInt32(clamping: number + 1)))]
          + zip(parts, offsets).map { part, offset in
            Self.trackFragment(part.0.id.rawValue, part.1, offset: offset)
          })
    }
    let size = index(parts.map { _ in 0 }).bytes.count
    var offsets: [Int] = []
    var data: [UInt8] = []
    for (_, samples) in parts {
      offsets.append(size + 8 + data.count)
      data += samples.flatMap { content($0) ?? [] }
    }
    return index(offsets).bytes + BoxTree("mdat", data).bytes
  }

  private static func trackFragment(_ id: UInt32, _ samples: [SampleRecord], offset: Int) -> BoxTree
  {
    let tfdt = BoxTree("tfdt", big(0x0100_0000 as UInt32) + big(samples[0].decodeTime))
    let count = big(UInt32(clamping: samples.count)) + big(UInt32(clamping: offset))
    func flags(_ sample: SampleRecord) -> UInt32 { sample.isSync ? 0x200_0000 : 0x101_0000 }
    let isUniform = samples.allSatisfy {
      $0.size == samples[0].size && $0.duration == samples[0].duration
        && $0.isSync == samples[0].isSync && $0.presentationTime == $0.decodeTime
    }
    if isUniform {
      // default-base-is-moof, and defaults for all fields.
      let fields: [UInt32] = [
        0x02_0038, id, samples[0].duration, samples[0].size, flags(samples[0]),
      ]
      return BoxTree(
        "traf", [],
        [
          BoxTree("tfhd", fields.flatMap { big($0) }), tfdt,
          BoxTree("trun", big(UInt32(1)) + count),
        ])
    }
    let rows = samples.flatMap { sample in
      big(sample.duration) + big(sample.size) + big(flags(sample))
        + big(Int32(clamping: sample.presentationTime - sample.decodeTime))
    }
    return BoxTree(
      "traf", [],
      [
        BoxTree("tfhd", big(UInt32(0x02_0000)) + big(id)), tfdt,
        BoxTree("trun", big(UInt32(0x0100_0F01)) + count + rows),
      ])
  }

  private func content(_ sample: SampleRecord) -> [UInt8]? {
    Self.part(of: bytes, sample.offset, Int(sample.size))
  }

  private static func part(of bytes: [UInt8], _ offset: UInt64, _ count: Int) -> [UInt8]? {
    guard let start = Int(exactly: offset), start <= bytes.count, count <= bytes.count - start
    else { return nil }
    return Array(bytes[start..<start + count])
  }
}
