// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The header fields of an AC-3 or E-AC-3 syncframe that a movie's sample entry repeats (ETSI TS
/// 102 366 4.4 and E.1.3).
public struct AC3SyncFrame: Equatable, Sendable {
  /// Whether this is an E-AC-3 frame.
  public var isEnhanced: Bool { bsid > 10 }
  /// Size of the frame in bytes.
  public var size: Int
  /// Number of audio samples per channel that it decodes to.
  public var sampleCount: Int
  /// In hertz.
  public var sampleRate: Int
  var fscod: Int
  var bsid: Int
  var bsmod = 0
  var acmod: Int
  var lfeon: Int
  /// AC-3: `frmsizecod` without its last bit.
  var bitRateCode = 0
  /// E-AC-3: whether the frame adds channels to the one before, and which (`chanmap`).
  var isDependent = false
  var channelMap = 0

  /// Parses the header at the start of `bytes`; nil if they do not start with a valid frame.
  public init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: [0x0B, 0x77]) else { return nil }
    let header = Array(bytes.prefix(16))
    do throws(SyntaxError) {
      var reader = BitReader(header, structure: "bsi", position: 40)
      // bsid is at the same position in both.
      if try reader.u(5, "bsid") > 10 {
        try self.init(enhanced: BitReader(header, structure: "bsi", position: 16))
      } else {
        try self.init(plain: BitReader(header, structure: "syncinfo", position: 32))
      }
    } catch {
      return nil
    }
  }

  private static let sampleRates = [48_000, 44_100, 32_000]
  /// In kbit/s, by `frmsizecod` / 2 (table 4.13).
  private static let bitRates = [
    32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
  ]

  /// Reads `fscod` and the fields after it in `syncinfo()` and `bsi()`.
  private init(plain reader: BitReader) throws(SyntaxError) {
    var reader = reader
    fscod = try reader.u(2, "fscod", in: 0...2)
    let frmsizecod = try reader.u(6, "frmsizecod", in: 0...Self.bitRates.count * 2 - 1)
    bsid = try reader.u(5, "bsid")
    bsmod = try reader.u(3, "bsmod")
    acmod = try reader.u(3, "acmod")
    if acmod & 1 != 0, acmod != 1 { try reader.skip(2, "cmixlev") }
    if acmod & 4 != 0 { try reader.skip(2, "surmixlev") }
    if acmod == 2 { try reader.skip(2, "dsurmod") }
    lfeon = try reader.u(1, "lfeon")
    bitRateCode = frmsizecod >> 1
    sampleRate = Self.sampleRates[fscod]
    sampleCount = 1536
    // 1536 samples at the bit rate, in 16-bit words; at 44.1 kHz the last bit of the code adds one.
    let words = Self.bitRates[bitRateCode] * 96_000 / sampleRate
    size = 2 * (words + (fscod == 1 ? frmsizecod & 1 : 0))
  }

  /// Reads `strmtyp` and the fields after it in `bsi()`.
  private init(enhanced reader: BitReader) throws(SyntaxError) {
    var reader = reader
    isDependent = try reader.u(2, "strmtyp") == 1
    try reader.skip(3, "substreamid")
    size = try (reader.u(11, "frmsiz") + 1) * 2
    fscod = try reader.u(2, "fscod")
    // If `fscod` is 3, `fscod2` selects half of one of the rates.
    let code = try reader.u(2, "fscod2 or numblkscod", in: 0...(fscod < 3 ? 3 : 2))
    sampleRate = fscod < 3 ? Self.sampleRates[fscod] : Self.sampleRates[code] / 2
    sampleCount = fscod < 3 ? [256, 512, 768, 1536][code] : 1536
    acmod = try reader.u(3, "acmod")
    lfeon = try reader.u(1, "lfeon")
    bsid = try reader.u(5, "bsid", in: 0...16)
    guard isDependent else { return }
    for _ in 0..<(acmod == 0 ? 2 : 1) {
      try reader.skip(5, "dialnorm")
      if try reader.flag("compre") { try reader.skip(8, "compr") }
    }
    if try reader.flag("chanmape") { channelMap = try reader.u(16, "chanmap") }
  }
}

extension AudioCoding {
  /// Returns the AC-3 or E-AC-3 coding of a stream whose first sample is `bytes`, with the matching
  /// `dac3` or `dec3` (ETSI TS 102 366 F.4, F.6); nil if it is neither.
  ///
  /// `bsmod` of E-AC-3 is written as 0, a complete main service.
  public static func ac3(firstSample bytes: [UInt8]) -> AudioCoding? {
    guard let first = AC3SyncFrame(bytes) else { return nil }
    guard first.isEnhanced else {
      var writer = BitWriter()
      writer.u(first.fscod, 2)
      writer.u(first.bsid, 5)
      writer.u(first.bsmod, 3)
      writer.u(first.acmod, 3)
      writer.u(first.lfeon, 1)
      writer.u(first.bitRateCode, 5)
      writer.u(0, 5)
      return .ac3(dac3: writer.bytes)
    }
    return enhancedConfiguration(frames(of: bytes)).map { .eac3(dec3: $0) }
  }

  /// The frames of all substreams of a sample.
  private static func frames(of sample: [UInt8]) -> [AC3SyncFrame] {
    var frames: [AC3SyncFrame] = []
    var rest = sample[...]
    while frames.count < 64, let frame = AC3SyncFrame(Array(rest.prefix(16))), frame.isEnhanced {
      frames.append(frame)
      rest = rest.dropFirst(frame.size)
    }
    return frames
  }

  /// Returns the content of `dec3`; nil if there is no independent substream.
  private static func enhancedConfiguration(_ frames: [AC3SyncFrame]) -> [UInt8]? {
    // A sample holds several frames if each has fewer than six blocks; the first of each is enough.
    let blocks = max(1, 1536 / (frames.first?.sampleCount ?? 1536))
    var programs: [(main: AC3SyncFrame, dependents: [AC3SyncFrame])] = []
    for frame in frames {
      if frame.isDependent, !programs.isEmpty {
        programs[programs.count - 1].dependents.append(frame)
      } else if !frame.isDependent {
        programs.append((frame, []))
      }
    }
    programs = Array(programs.prefix(max(1, programs.count / blocks)).prefix(8))
    guard !programs.isEmpty else { return nil }
    let bytes = frames.reduce(0) { $0 + $1.size }
    let samples = frames.filter { !$0.isDependent }.reduce(0) { $0 + $1.sampleCount }
    let rate = frames.first?.sampleRate ?? 48_000
    let duration = max(1, samples / programs.count)
    var writer = BitWriter()
    writer.u(min(0x1FFF, bytes * 8 * rate / duration / 1000), 13)
    writer.u(programs.count - 1, 3)
    for (main, dependents) in programs {
      writer.u(main.fscod, 2)
      writer.u(main.bsid, 5)
      writer.u(0, 5)
      writer.u(main.acmod, 3)
      writer.u(main.lfeon, 1)
      writer.u(0, 3)
      writer.u(min(15, dependents.count), 4)
      if dependents.isEmpty {
        writer.u(0, 1)
      } else {
        writer.u(dependents.reduce(0) { $0 | $1.channelLocations }, 9)
      }
    }
    writer.alignWithZeros()
    return writer.bytes
  }
}

extension AC3SyncFrame {
  /// `chan_loc`: the loudspeakers beyond 5.1 that a dependent substream has, Lc/Rc in the lowest
  /// bit (ETSI TS 102 366 table F.2). Derived from `chanmap`, whose first channel is the highest
  /// bit (table E.5).
  fileprivate var channelLocations: Int {
    let pairs = (0..<8).reduce(0) { $0 | (channelMap >> (10 - $1) & 1) << $1 }
    return pairs | (channelMap >> 1 & 1) << 8
  }
}
