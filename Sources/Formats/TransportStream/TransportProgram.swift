// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// A program of a transport stream and its elementary streams.
public struct TransportProgram: Hashable, Sendable {
  /// `program_number`, 1 to 65535.
  public let number: Int
  /// Its streams, in the order of the program map.
  public let streams: [ElementaryStream]
  /// The eye of the base view by the MVC extension descriptor; nil if there is none, as on discs.
  public let baseEye: Eye?

  /// The H.264 video that decoders of one view decode. It has both views if there is no
  /// ``dependent`` stream.
  public var base: ElementaryStream? { streams.first { $0.identity == .base } }
  /// The dependent view's video; nil if it has no stream of its own.
  public var dependent: ElementaryStream? { streams.first { $0.identity == .dependent } }
}

/// An elementary stream of a program.
public struct ElementaryStream: Hashable, Sendable {
  /// The part that a stream has in its program.
  public enum Identity: Hashable, Sendable {
    /// H.264 of the base view, or of both.
    case base
    /// H.264 of the dependent view.
    case dependent
    /// Audio, with its number in the program, from 0.
    case audio(Int)
    /// Anything else, which is not output.
    case other
  }

  /// The format of the bytes of a stream.
  @nonexhaustive
  public enum Coding: Hashable, Sendable {
    /// H.264, which may have both views.
    case h264
    /// The dependent view of H.264 MVC.
    case h264Dependent
    /// Another video coding, by its name.
    case otherVideo(String)
    /// MPEG-1 and MPEG-2 audio, layers 1 to 3.
    case mpegAudio
    /// AAC with ADTS headers.
    case aac
    /// AAC in LATM.
    case aacLATM
    /// AC-3.
    case ac3
    /// Enhanced AC-3.
    case eac3
    /// DTS.
    case dts
    /// DTS-HD: a core of DTS, if it is not DTS Express, and an extension.
    case dtsHD
    /// TrueHD, with frames of AC-3 in between.
    case trueHD
    /// PCM of discs: a header of four bytes, then samples with the most significant byte first.
    case lpcm
    /// Opus.
    case opus
    /// Subtitles, by their name.
    case subtitles(String)
    /// Anything else.
    case unknown

    /// Whether it is audio.
    public var isAudio: Bool {
      switch self {
      case .mpegAudio, .aac, .aacLATM, .ac3, .eac3, .dts, .dtsHD, .trueHD, .lpcm, .opus: true
      default: false
      }
    }

    /// The name for messages.
    public var name: String {
      switch self {
      case .h264: "H.264"
      case .h264Dependent: "H.264 MVC, dependent view"
      case .otherVideo(let name): name
      case .mpegAudio: "MPEG audio"
      case .aac: "AAC"
      case .aacLATM: "AAC (LATM)"
      case .ac3: "AC-3"
      case .eac3: "E-AC-3"
      case .dts: "DTS"
      case .dtsHD: "DTS-HD"
      case .trueHD: "TrueHD"
      case .lpcm: "PCM"
      case .opus: "Opus"
      case .subtitles(let name): name
      case .unknown: "unknown"
      }
    }
  }

  /// The part that it has in its program.
  public let identity: Identity
  /// The packet identifier, 0 to 8191.
  public let pid: Int
  /// `stream_type`, 0 to 255.
  public let streamType: Int
  /// The format of its bytes.
  public let coding: Coding
  /// The language as three letters of ISO 639-2; nil if it is unknown.
  public let language: String?
}

/// A program map section, ISO/IEC 13818-1 (2.4.4.8).
struct ProgramMap: Sendable {
  /// A stream as the section names it.
  struct Entry: Sendable {
    let type: Int
    let pid: Int
    var descriptors = StreamDescriptors()
  }

  let number: Int
  private(set) var entries: [Entry] = []
  /// Whether the streams are those of discs and cameras, which have stream types of their own.
  private var isHDMV: Bool

  /// Whether it names the base view's video.
  var hasBase: Bool { entries.contains { $0.type == 0x1B } }
  /// Whether it names the dependent view's video.
  var hasDependent: Bool { entries.contains { $0.type == 0x20 } }

  /// Reads a section; nil if it is another table, not valid yet, or has impossible lengths.
  ///
  /// - Parameter hasExtraHeaders: whether the packets are those of discs and cameras.
  init?(section: [UInt8], hasExtraHeaders: Bool) {
    guard let header = SectionHeader(section, table: 2) else { return nil }
    number = header.number
    let bytes = section.span.bytes
    let end = header.content.upperBound
    var offset = header.content.lowerBound + 4
    guard offset <= end else { return nil }
    let length = bytes.uint16(offset - 2) & 0xFFF
    guard offset + length <= end else { return nil }
    let program = StreamDescriptors(bytes, offset..<offset + length)
    isHDMV = hasExtraHeaders || program.registration == "HDMV"
    offset += length
    while offset + 5 <= end {
      let (type, pid) = (bytes.byte(offset), bytes.uint16(offset + 1) & 0x1FFF)
      let length = bytes.uint16(offset + 3) & 0xFFF
      offset += 5
      guard offset + length <= end else { return nil }
      let descriptors = StreamDescriptors(bytes, offset..<offset + length)
      if pid != 0, pid != TransportPacket.nullPID, !entries.contains(where: { $0.pid == pid }) {
        entries.append(Entry(type: type, pid: pid, descriptors: descriptors))
      }
      offset += length
    }
  }

  /// Returns the program, with the dependent view of another map if this one has none.
  func program(dependent other: ProgramMap?) -> TransportProgram {
    var all = entries
    if !hasDependent, let entry = other?.entries.first(where: { $0.type == 0x20 }),
      !entries.contains(where: { $0.pid == entry.pid })
    {
      let place = all.firstIndex { $0.type == 0x1B }.map { $0 + 1 } ?? all.endIndex
      all.insert(entry, at: place)
    }
    var eye: Eye?
    var hasBase = false
    var hasDependent = false
    var audioCount = 0
    let streams = all.map { entry in
      let coding = coding(of: entry)
      var identity = ElementaryStream.Identity.other
      if coding == .h264, !hasBase {
        (identity, hasBase) = (.base, true)
      } else if coding == .h264Dependent, !hasDependent {
        (identity, hasDependent) = (.dependent, true)
      } else if coding.isAudio {
        identity = .audio(audioCount)
        audioCount += 1
      }
      if identity == .base || identity == .dependent { eye = eye ?? entry.descriptors.baseEye }
      return ElementaryStream(
        identity: identity, pid: entry.pid, streamType: entry.type, coding: coding,
        language: entry.descriptors.language)
    }
    return TransportProgram(number: number, streams: streams, baseEye: eye)
  }

  private func coding(of entry: Entry) -> ElementaryStream.Coding {
    switch entry.type {
    case 0x01, 0x02: return .otherVideo("MPEG-2 video")
    case 0x03, 0x04: return .mpegAudio
    case 0x0F: return .aac
    case 0x10: return .otherVideo("MPEG-4 video")
    case 0x11: return .aacLATM
    case 0x1B: return .h264
    case 0x20: return .h264Dependent
    case 0x21: return .otherVideo("JPEG 2000")
    case 0x24: return .otherVideo("H.265")
    case 0x33: return .otherVideo("H.266")
    case 0xEA: return .otherVideo("VC-1")
    case 0x06: return entry.descriptors.coding ?? .unknown
    default: break
    }
    if isHDMV || entry.descriptors.registration == "HDMV" {
      switch entry.type {
      case 0x80: return .lpcm
      case 0x81: return .ac3
      case 0x82: return .dts
      case 0x83: return .trueHD
      case 0x84, 0xA1: return .eac3
      case 0x85, 0x86, 0xA2: return .dtsHD
      case 0x90: return .subtitles("PGS")
      case 0x91: return .subtitles("menus (IGS)")
      case 0x92: return .subtitles("TextST")
      default: break
      }
    }
    if let coding = entry.descriptors.coding { return coding }
    switch entry.type {
    // As the ATSC assigns them.
    case 0x81: return .ac3
    case 0x87: return .eac3
    default: return .unknown
    }
  }
}

/// The descriptors of a program or of a stream that matter here, ISO/IEC 13818-1 (2.6) and ETSI EN
/// 300 468.
struct StreamDescriptors: Sendable {
  /// `format_identifier` of the registration descriptor, with characters that are not printable
  /// as dots.
  private(set) var registration: String?
  /// The language of the first ISO 639 language descriptor, or of subtitles.
  private(set) var language: String?
  /// The eye of the base view.
  private(set) var baseEye: Eye?
  /// The coding by registration, or by the descriptors of DVB.
  private(set) var coding: ElementaryStream.Coding?

  /// Creates descriptors that say nothing.
  init() {}

  /// Reads the descriptors in `range`; one that does not fit, and those after it, are ignored.
  init(_ bytes: RawSpan, _ range: Range<Int>) {
    var offset = range.lowerBound
    while offset + 2 <= range.upperBound {
      let (tag, length) = (bytes.byte(offset), bytes.byte(offset + 1))
      offset += 2
      guard offset + length <= range.upperBound else { return }
      read(tag, bytes, offset..<offset + length)
      offset += length
    }
  }

  private mutating func read(_ tag: Int, _ bytes: RawSpan, _ range: Range<Int>) {
    switch tag {
    case 0x05 where range.count >= 4:
      let name = Self.text(bytes, range.lowerBound, 4)
      registration = registration ?? name
      coding = coding ?? Self.registered(name)
    case 0x0A where range.count >= 3:
      language = language ?? Self.code(bytes, range.lowerBound)
    case 0x31 where range.count >= 5:
      // MVC extension descriptor (2.6.78): view_association_not_present, base_view_is_left_eyeview.
      let flags = bytes.byte(range.lowerBound + 4)
      if flags & 0x80 == 0 { baseEye = flags & 0x40 != 0 ? .left : .right }
    case 0x6A: coding = .ac3
    case 0x7A: coding = .eac3
    case 0x7B: coding = .dts
    case 0x7C: coding = coding ?? .aac
    case 0x56:
      coding = .subtitles("teletext")
      if range.count >= 3 { language = language ?? Self.code(bytes, range.lowerBound) }
    case 0x59:
      coding = .subtitles("DVB subtitles")
      if range.count >= 3 { language = language ?? Self.code(bytes, range.lowerBound) }
    default: break
    }
  }

  private static func registered(_ name: String) -> ElementaryStream.Coding? {
    switch name {
    case "AC-3": .ac3
    case "EAC3": .eac3
    case "DTS1", "DTS2", "DTS3": .dts
    case "DTSH": .dtsHD
    case "mlpa": .trueHD
    case "Opus": .opus
    case "HEVC": .otherVideo("H.265")
    case "VC-1": .otherVideo("VC-1")
    default: nil
    }
  }

  /// Returns a language code; nil if it is none.
  private static func code(_ bytes: RawSpan, _ offset: Int) -> String? {
    let code = text(bytes, offset, 3).lowercased()
    return code.allSatisfy { ("a"..."z").contains($0) } && code != "und" ? code : nil
  }

  private static func text(_ bytes: RawSpan, _ offset: Int, _ count: Int) -> String {
    String(
      decoding: (offset..<offset + count).map {
        let value = UInt8(bytes.byte($0))
        return 0x20..<0x7F ~= value ? value : 0x2E
      }, as: UTF8.self)
  }
}
