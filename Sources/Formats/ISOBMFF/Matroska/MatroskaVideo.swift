// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Stereo and projection metadata of the first video track of a Matroska or WebM file (RFC 9559).
/// GStreamer's demuxer forwards the stereo layout, but not the projection.
public struct MatroskaVideo: Equatable, Sendable {
  /// Frame packing of the two eyes (`StereoMode`, 5.1.4.1.28.3); nil for a single view, and for
  /// modes other than side by side, top-bottom and frame by frame.
  public private(set) var packing: PackingLayout?
  /// The arrangement of two eyes in another mode, in words; nil if there is none.
  public private(set) var otherPacking: String?
  /// Projection (`Projection`, 5.1.4.1.28.41); nil if the video is not immersive.
  public private(set) var projection: SphericalVideo?

  /// Number of video tracks with the frame size of the first one, including it.
  public private(set) var trackCount = 1
  /// The codec of the first track (`CodecID`), such as `V_MPEGH/ISO/HEVC`; nil if it is missing.
  public private(set) var codec: String?

  /// The audio and subtitle tracks with flags that GStreamer's demuxer does not forward, in words:
  /// `subtitles 'German' (forced)`.
  public private(set) var flaggedTracks: [String] = []

  /// Whether the first track is H.264 MVC with both views in each block: its CodecPrivate has the
  /// record `mvcC` at its end, as older versions of MakeMKV write it, or a `BlockAdditionMapping`
  /// has it (5.1.4.1.17).
  public private(set) var isMultiview = false
  /// The eye of the base view of MVC by the stereo mode; nil if there is none.
  public var baseEye: Eye? {
    guard isMultiview, let packing, packing.arrangement == .frameByFrame else { return nil }
    return packing.rightViewFirst ? .right : .left
  }

  /// The projection and packing as `ImmersiveMetadata`; nil if the video is not immersive.
  public var immersive: ImmersiveMetadata? {
    projection?.immersiveMetadata(packing.flatMap(StereoscopicMode.init))
  }

  /// Reads the elements before the first cluster.
  ///
  /// - Parameters:
  ///   - fileSize: size of the file in bytes.
  ///   - read: returns the bytes of a range inside the file, or fewer if there are fewer.
  /// - Returns: nil if the file is not a Matroska file or has no video track.
  /// - Throws: the errors of `read`.
  public init?<Failure: Error>(
    fileSize: UInt64, _ read: (Range<UInt64>) throws(Failure) -> [UInt8]
  ) throws(Failure) {
    guard let tracks = try Self.tracks(fileSize, read) else { return nil }
    var reader = ElementReader(tracks[...])
    var videos: [(entry: ArraySlice<UInt8>, video: ArraySlice<UInt8>, codec: ArraySlice<UInt8>?)] =
      []
    var flagged: [String] = []
    while let entry = reader.first(IDs.trackEntry) {
      func first(_ id: ElementReader.ID) -> ArraySlice<UInt8>? {
        var content = ElementReader(entry)
        return content.first(id)
      }
      if flagged.count < 64, let words = Self.flags(entry) { flagged.append(words) }
      guard first(IDs.trackType)?.unsigned == 1, let video = first(IDs.video) else { continue }
      videos.append((entry, video, first(IDs.codecID)))
    }
    guard let first = videos.first else { return nil }
    self.init(video: first.video)
    flaggedTracks = flagged
    codec = first.codec.map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    isMultiview = codec == "V_MPEG4/ISO/AVC" && Self.hasMVCRecord(first.entry)
    trackCount = videos.count { Self.frameSize($0.video) == Self.frameSize(first.video) }
  }

  /// Returns the flags of an audio or subtitle track other than those that are enabled or default
  /// (5.1.4.1.5 to 5.1.4.1.11); nil if it has none.
  private static func flags(_ entry: ArraySlice<UInt8>) -> String? {
    let names: [(id: ElementReader.ID, name: String)] = [
      (0x55AA, "forced"), (0x55AB, "for the hearing impaired"),
      (0x55AC, "for the visually impaired"), (0x55AD, "text descriptions"),
      (0x55AF, "commentary"),
    ]
    func first(_ id: ElementReader.ID) -> ArraySlice<UInt8>? {
      var content = ElementReader(entry)
      return content.first(id)
    }
    let kind: String
    switch first(IDs.trackType)?.unsigned {
    case 2: kind = "audio"
    case 17: kind = "subtitles"
    default: return nil
    }
    let set = names.filter { first($0.id)?.unsigned == 1 }.map(\.name)
    guard !set.isEmpty else { return nil }
    let title = (first(IDs.name) ?? first(IDs.language)).map {
      String(decoding: $0.prefix { $0 != 0 }.prefix(80), as: UTF8.self)
    }
    return "\(kind) \(title.map { "'\($0)' " } ?? "")(\(set.joined(separator: ", ")))"
  }

  private static func frameSize(_ video: ArraySlice<UInt8>) -> [UInt64?] {
    [IDs.pixelWidth, IDs.pixelHeight].map { id in
      var reader = ElementReader(video)
      return reader.first(id)?.unsigned
    }
  }

  /// Whether a track entry of H.264 has the record of a second view.
  private static func hasMVCRecord(_ entry: ArraySlice<UInt8>) -> Bool {
    let name = Array("mvcC".utf8)
    var reader = ElementReader(entry)
    while let (id, content) = reader.next() {
      switch id {
      case IDs.codecPrivate:
        let starts = content.indices.dropLast(name.count - 1)
        if starts.contains(where: { content[$0] == name[0] && content[$0...].starts(with: name) }) {
          return true
        }
      case IDs.blockAdditionMapping:
        var mapping = ElementReader(content)
        // The type is a four-character code as a number.
        if mapping.first(IDs.blockAddIDType)?.unsigned == Array(name)[...].unsigned { return true }
      default: break
      }
    }
    return false
  }

  private init(video: ArraySlice<UInt8>) {
    var reader = ElementReader(video)
    while let (id, content) = reader.next() {
      switch id {
      case IDs.stereoMode:
        packing = Self.packing(content.unsigned)
        otherPacking = Self.otherPacking(content.unsigned)
      case IDs.projection: projection = Self.projection(content)
      default: break
      }
    }
  }

  // MARK: Location

  private enum IDs {
    static let header: ElementReader.ID = 0x1A45_DFA3
    static let segment: ElementReader.ID = 0x1853_8067
    static let tracks: ElementReader.ID = 0x1654_AE6B
    fileprivate static let cluster: ElementReader.ID = 0x1F43_B675
    fileprivate static let trackEntry: ElementReader.ID = 0xAE
    fileprivate static let trackType: ElementReader.ID = 0x83
    fileprivate static let codecID: ElementReader.ID = 0x86
    fileprivate static let name: ElementReader.ID = 0x536E
    fileprivate static let language: ElementReader.ID = 0x22B59C
    fileprivate static let codecPrivate: ElementReader.ID = 0x63A2
    fileprivate static let blockAdditionMapping: ElementReader.ID = 0x41E4
    fileprivate static let blockAddIDType: ElementReader.ID = 0x41E7
    static let video: ElementReader.ID = 0xE0
    fileprivate static let pixelWidth: ElementReader.ID = 0xB0
    fileprivate static let pixelHeight: ElementReader.ID = 0xBA
    fileprivate static let stereoMode: ElementReader.ID = 0x53B8
    static let projection: ElementReader.ID = 0x7670
    fileprivate static let projectionType: ElementReader.ID = 0x7671
    fileprivate static let projectionPrivate: ElementReader.ID = 0x7672
    fileprivate static let poseYaw: ElementReader.ID = 0x7673
    fileprivate static let posePitch: ElementReader.ID = 0x7674
    fileprivate static let poseRoll: ElementReader.ID = 0x7675
  }

  /// A track list is a few hundred bytes long; a mesh projection in it up to a few megabytes.
  private static let maximumTracksSize: UInt64 = 16 << 20
  /// Maximum number of elements before the track list.
  private static let maximumElementCount = 1000

  /// Returns the content of the track list, which comes before the first cluster.
  private static func tracks<Failure: Error>(
    _ fileSize: UInt64, _ read: (Range<UInt64>) throws(Failure) -> [UInt8]
  ) throws(Failure) -> [UInt8]? {
    var position: UInt64 = 0
    for index in 0..<maximumElementCount {
      guard position < fileSize else { return nil }
      let end = min(position + UInt64(ElementHeader.longest), fileSize)
      guard let header = ElementHeader(try read(position..<end)[...]),
        index > 0 || header.id == IDs.header
      else { return nil }
      position += UInt64(header.count)
      switch header.id {
      // Descends into the segment: its content follows.
      case IDs.segment: continue
      case IDs.cluster: return nil
      default: break
      }
      guard let size = header.size, size <= fileSize - min(position, fileSize) else { return nil }
      if header.id == IDs.tracks {
        return size <= maximumTracksSize ? try read(position..<position + size) : nil
      }
      position += size
    }
    return nil
  }

  // MARK: Values

  private static func packing(_ mode: UInt64?) -> PackingLayout? {
    switch mode {
    case 1: PackingLayout(.sideBySide)
    case 2: PackingLayout(.topBottom, rightViewFirst: true)
    case 3: PackingLayout(.topBottom)
    case 11: PackingLayout(.sideBySide, rightViewFirst: true)
    case 13: PackingLayout(.frameByFrame)
    case 14: PackingLayout(.frameByFrame, rightViewFirst: true)
    default: nil
    }
  }

  private static func otherPacking(_ mode: UInt64?) -> String? {
    switch mode {
    case 4, 5: "a checkerboard of both eyes"
    case 6, 7: "interleaved rows of both eyes"
    case 8, 9: "interleaved columns of both eyes"
    case 10, 12: "an anaglyph"
    default: nil
    }
  }

  /// Parses `Projection`. Its private part is the content of the projection's box in `sv3d`.
  private static func projection(_ content: ArraySlice<UInt8>) -> SphericalVideo? {
    var type: UInt64 = 0
    var words: [UInt32] = []
    var pose = (yaw: Int32(0), pitch: Int32(0), roll: Int32(0))
    var reader = ElementReader(content)
    while let (id, content) = reader.next() {
      switch id {
      case IDs.projectionType: type = content.unsigned ?? 0
      // After a version and flags.
      case IDs.projectionPrivate: words = Self.words(content.dropFirst(4))
      case IDs.poseYaw: pose.yaw = angle(content)
      case IDs.posePitch: pose.pitch = angle(content)
      case IDs.poseRoll: pose.roll = angle(content)
      default: break
      }
    }
    let projection: SphericalVideo.Projection
    switch (type, words.count) {
    case (1, 0): projection = .equirectangular(top: 0, bottom: 0, left: 0, right: 0)
    case (1, 4...):
      projection = .equirectangular(
        top: words[0], bottom: words[1], left: words[2], right: words[3])
    case (2, 2...): projection = .cubemap(layout: words[0], padding: words[1])
    case (3, _): projection = .mesh
    default: return nil
    }
    return SphericalVideo(projection, pose: pose, metadataSource: "")
  }

  private static func words(_ bytes: ArraySlice<UInt8>) -> [UInt32] {
    stride(from: bytes.startIndex, to: bytes.endIndex - 3, by: 4).prefix(4).map { start in
      bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  /// Returns degrees as 16.16 fixed point; 0 if the value is not a valid angle.
  private static func angle(_ content: ArraySlice<UInt8>) -> Int32 {
    guard let degrees = content.float, abs(degrees) <= 360 else { return 0 }
    return Int32((degrees * 65536).rounded())
  }
}

/// Iterates over consecutive EBML elements (RFC 8794).
struct ElementReader {
  /// An element's ID with its marker bits, as RFC 9559 lists them.
  typealias ID = UInt32

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  /// Returns the next element and its content; nil after the last one or at invalid data.
  mutating func next() -> (id: ID, content: ArraySlice<UInt8>)? {
    guard let header = ElementHeader(rest), let size = header.size,
      let count = Int(exactly: size), count <= rest.count - header.count
    else { return nil }
    let content = rest.dropFirst(header.count).prefix(count)
    rest = rest[content.endIndex...]
    return (header.id, content)
  }

  /// Returns the content of the first element with this ID.
  mutating func first(_ id: ID) -> ArraySlice<UInt8>? {
    while let element = next() {
      if element.id == id { return element.content }
    }
    return nil
  }
}

/// The header of an element: its ID and size.
struct ElementHeader {
  let id: ElementReader.ID
  /// Size of the content in bytes; nil if unknown.
  let size: UInt64?
  /// Size of the header itself in bytes: 2 to 12.
  let count: Int

  static let longest = 12

  /// Nil if the bytes do not begin with an element header.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard let first = bytes.first, first.leadingZeroBitCount < 4 else { return nil }
    let idCount = first.leadingZeroBitCount + 1
    guard let mark = bytes.dropFirst(idCount).first, mark != 0 else { return nil }
    let sizeCount = mark.leadingZeroBitCount + 1
    guard bytes.count >= idCount + sizeCount else { return nil }
    count = idCount + sizeCount
    id = ElementReader.ID(truncatingIfNeeded: Self.number(bytes.prefix(idCount)))
    // The marker bit is not part of the number. All ones mean an unknown size.
    let all = UInt64(1) << (7 * sizeCount) - 1
    let number = Self.number(bytes.dropFirst(idCount).prefix(sizeCount)) & all
    size = number == all ? nil : number
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension ArraySlice<UInt8> {
  /// The bytes as an unsigned integer (RFC 8794, 7.2); nil if longer than eight bytes.
  var unsigned: UInt64? { count <= 8 ? reduce(0) { $0 << 8 | UInt64($1) } : nil }

  /// The bytes as a float (RFC 8794, 7.3); nil if the length is not 0, 4 or 8.
  var float: Double? {
    switch (count, unsigned) {
    case (0, _): 0
    case (4, let bits?): Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case (8, let bits?): Double(bitPattern: bits)
    default: nil
    }
  }
}
