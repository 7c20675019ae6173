/// The beginning of an AC-3 or E-AC-3 frame: what a movie's sample entry repeats of it
/// (ETSI TS 102 366 4.4 and E.1.3).
public struct AC3SyncFrame: Equatable, Sendable {
  /// Whether the frame is one of E-AC-3.
  public var isEnhanced: Bool { bsid > 10 }
  /// In bytes.
  public var size: Int
  /// Audio frames that it decodes to.
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

  /// Reads the beginning of `bytes`; nil where that is no such frame.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count >= 8, bytes[0] == 0x0B, bytes[1] == 0x77 else { return nil }
    // bsid lies at the same place in both.
    if bytes[5] >> 3 > 10 {
      self.init(enhanced: BitField(Array(bytes.prefix(16).dropFirst(2))))
    } else {
      self.init(plain: BitField(Array(bytes.prefix(16).dropFirst(4))))
    }
  }

  private static let sampleRates = [48_000, 44_100, 32_000]
  /// In kbit/s, by `frmsizecod` / 2 (table 4.13).
  private static let bitRates = [
    32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
  ]

  private init?(plain field: BitField) {
    var field = field
    guard let fscod = field.read(2), fscod < 3, let frmsizecod = field.read(6),
      frmsizecod < Self.bitRates.count * 2, let bsid = field.read(5), let bsmod = field.read(3),
      let acmod = field.read(3)
    else { return nil }
    if acmod & 1 != 0, acmod != 1 { _ = field.read(2) }
    if acmod & 4 != 0 { _ = field.read(2) }
    if acmod == 2 { _ = field.read(2) }
    guard let lfeon = field.read(1) else { return nil }
    (self.fscod, self.bsid, self.bsmod) = (fscod, bsid, bsmod)
    (self.acmod, self.lfeon) = (acmod, lfeon)
    bitRateCode = frmsizecod >> 1
    sampleRate = Self.sampleRates[fscod]
    sampleCount = 1536
    // 1536 samples at the bit rate in words of 16 bits; at 44.1 kHz the last bit adds one.
    let words = Self.bitRates[bitRateCode] * 96_000 / sampleRate
    size = 2 * (words + (fscod == 1 ? frmsizecod & 1 : 0))
  }

  private init?(enhanced field: BitField) {
    var field = field
    guard let strmtyp = field.read(2), field.read(3) != nil, let frmsiz = field.read(11),
      let fscod = field.read(2), let code = field.read(2), let acmod = field.read(3),
      let lfeon = field.read(1), let bsid = field.read(5), bsid <= 16, fscod < 3 || code < 3
    else { return nil }
    (self.fscod, self.bsid, self.acmod, self.lfeon) = (fscod, bsid, acmod, lfeon)
    size = (frmsiz + 1) * 2
    sampleRate = fscod < 3 ? Self.sampleRates[fscod] : Self.sampleRates[code] / 2
    sampleCount = fscod < 3 ? [256, 512, 768, 1536][code] : 1536
    isDependent = strmtyp == 1
    guard isDependent else { return }
    _ = field.read(5)
    if field.read(1) == 1 { _ = field.read(8) }
    if acmod == 0 {
      _ = field.read(5)
      if field.read(1) == 1 { _ = field.read(8) }
    }
    if field.read(1) == 1 { channelMap = field.read(16) ?? 0 }
  }
}
