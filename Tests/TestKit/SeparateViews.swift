// SPDX-License-Identifier: MPL-2.0

public import ISOBMFF
internal import StereoVideo

/// H.264 MVC in MP4 with a track for each view (ISO/IEC 14496-15, 7.5.2).
public struct SeparateViews: Sendable {
  /// The order in which the samples of the two tracks are stored.
  public enum Layout: String, CaseIterable, Sendable {
    case alternating, chunks, dependentFirst, oneAfterTheOther
  }

  /// A picture of both views.
  public struct Picture: Sendable {
    public var base: [UInt8]
    /// Nil if the view lacks it.
    public var dependent: [UInt8]?
    /// In frames.
    public var decodeTime: Int64
    /// In frames.
    public var presentationTime: Int64
    public var isSync: Bool

    public init(
      base: [UInt8], dependent: [UInt8]?, decodeTime: Int64, presentationTime: Int64, isSync: Bool
    ) {
      (self.base, self.dependent) = (base, dependent)
      (self.decodeTime, self.presentationTime) = (decodeTime, presentationTime)
      self.isSync = isSync
    }
  }

  public var pictures: [Picture]
  public var avcC: [UInt8]
  public var mvcC: [UInt8]
  /// Units per second of the dependent view's track; those of the base view's are 30,000.
  public var dependentTimescale: UInt32 = 30_000
  /// The reference of the dependent view's track to the base view's.
  public var reference: FourCC? = "sbas"

  private static let timescale: UInt32 = 30_000
  private static let framesPerSecond: UInt32 = 30

  /// Pictures of bytes that nothing decodes.
  public init(count: Int, missing: Set<Int> = []) {
    pictures = (0..<count).map { index in
      let (low, high) = (UInt8(index & 127), UInt8(128 + index & 127))
      let dependent = [UInt8](repeating: high, count: 30 + index)
      return Picture(
        base: [UInt8](repeating: low, count: 40 + index),
        dependent: missing.contains(index) ? nil : dependent, decodeTime: Int64(index),
        presentationTime: Int64(index), isSync: index % 10 == 0)
    }
    avcC = Self.record([100, 0, 30], [[0x67, 100, 0, 30]], [[0x68, 1]], spsBits: 0xE0)
    mvcC = Self.record([128, 0, 30], [[0x6F, 128, 0, 30]], [[0x68, 2]], spsBits: 0)
  }

  /// The pictures of a stream of 30 frames per second.
  public init(_ stream: MVCStream) {
    func units(_ units: [[UInt8]], _ types: Set<UInt8>) -> [[UInt8]] {
      units.filter { types.contains($0[0] & 31) }
    }
    func sample(_ units: [[UInt8]]) -> [UInt8] {
      units.flatMap { unit in
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: unit.count >> $0) } + unit
      }
    }
    let start = stream.units.map(\.pts).min() ?? 0
    pictures = stream.units.enumerated().map { index, unit in
      Picture(
        base: sample(units(unit.base, [1, 5])), dependent: sample(units(unit.dependent, [20])),
        decodeTime: Int64(index),
        presentationTime: Int64((unit.pts - start + 1_000_000).units(perSecond: 30)),
        isSync: unit.isKeyframe)
    }
    let (base, dependent) = (stream.units[0].base, stream.units[0].dependent)
    func record(_ units: [[UInt8]], _ type: UInt8, spsBits: UInt8) -> [UInt8] {
      let sets = units.filter { $0[0] & 31 == type }
      return Self.record(
        Array(sets[0][1...3]), sets, units.filter { $0[0] & 31 == 8 }, spsBits: spsBits)
    }
    avcC = record(base, 7, spsBits: 0xE0)
    mvcC = record(dependent, 15, spsBits: 0)
  }

  private static func record(
    _ profile: [UInt8], _ sps: [[UInt8]], _ pps: [[UInt8]], spsBits: UInt8
  ) -> [UInt8] {
    var record = [1] + profile + [0xFF]
    for (bits, units) in [(spsBits, sps), (0, pps)] {
      record.append(bits | UInt8(units.count))
      for unit in units {
        record += [UInt8(unit.count >> 8), UInt8(unit.count & 255)]
        record += unit
      }
    }
    return record
  }

  private func tracks(
    add: (TrackDescription) throws -> TrackID
  ) throws -> (base: TrackID, dependent: TrackID) {
    let base = try add(
      TrackDescription(
        .video(VisualSampleEntry(width: 128, height: 96, avcC: avcC)), timescale: Self.timescale))
    var entry = VisualSampleEntry(codec: "mvc1", width: 128, height: 96)
    entry.configuration = [OpaqueBox("mvcC", payload: mvcC)]
    var description = TrackDescription(.video(entry), timescale: dependentTimescale)
    if let reference { description.references = [TrackReference(type: reference, track: base)] }
    return (base, try add(description))
  }

  private func description(
    _ picture: Picture, size: Int, timescale: UInt32
  ) -> SampleDescription {
    let duration = timescale / Self.framesPerSecond
    return SampleDescription(
      size: UInt32(size), decodeTime: picture.decodeTime * Int64(duration), duration: duration,
      compositionOffset: Int32(
        (picture.presentationTime - picture.decodeTime) * Int64(duration)),
      isSync: picture.isSync)
  }

  /// Returns a file with its index at the end.
  public func movie(_ layout: Layout) throws -> [UInt8] {
    var writer = MovieWriter(container: .mp4)
    let ids = try tracks { try writer.addTrack($0) }
    var file = writer.header
    func write(_ range: Range<Int>, isBase: Bool) throws {
      for picture in pictures[range] {
        guard let bytes = isBase ? picture.base : picture.dependent else { continue }
        try writer.append(
          description(
            picture, size: bytes.count,
            timescale: isBase ? Self.timescale : dependentTimescale),
          to: isBase ? ids.base : ids.dependent)
        file += bytes
      }
    }
    let (length, order) =
      switch layout {
      case .alternating: (1, [true, false])
      case .chunks: (7, [true, false])
      case .dependentFirst: (7, [false, true])
      case .oneAfterTheOther: (pictures.count, [true, false])
      }
    for start in stride(from: 0, to: pictures.count, by: length) {
      for isBase in order {
        try write(start..<min(start + length, pictures.count), isBase: isBase)
      }
    }
    let tail = try writer.finish()
    file += tail.index
    let start = Int(tail.patch.offset)
    file.replaceSubrange(start..<start + tail.patch.bytes.count, with: tail.patch.bytes)
    return file
  }

  /// Returns a fragmented file.
  ///
  /// - Parameter isSplit: whether each view has fragments of its own.
  public func fragments(of length: Int = 10, isSplit: Bool = false) throws -> [UInt8] {
    var writer = FragmentWriter(format: .movie(.mp4))
    let ids = try tracks { try writer.addTrack($0) }
    var file: [UInt8] = []
    for start in stride(from: 0, to: pictures.count, by: length) {
      for views in isSplit ? [[true], [false]] : [[true, false]] {
        var data: [UInt8] = []
        for isBase in views {
          for picture in pictures[start..<min(start + length, pictures.count)] {
            guard let bytes = isBase ? picture.base : picture.dependent else { continue }
            try writer.append(
              description(
                picture, size: bytes.count,
                timescale: isBase ? Self.timescale : dependentTimescale),
              to: isBase ? ids.base : ids.dependent)
            data += bytes
          }
        }
        if file.isEmpty { file = try writer.initializationSegment() }
        if let fragment = try writer.finishFragment() { file += fragment.header + data }
      }
    }
    return file + writer.randomAccessIndex()
  }
}
