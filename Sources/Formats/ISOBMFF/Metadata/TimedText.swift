// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Text samples: subtitles (3GPP TS 26.245) and QuickTime chapters.
public enum TimedText {
  /// The sample entry of subtitles (`tx3g`): white text, bottom centre, transparent background.
  public static let subtitles: OtherSampleEntry = {
    var writer = BoxWriter()
    writer.write(UInt32(0))
    // Justification: horizontally centred, vertically at the bottom.
    writer.write([1, 0xFF])
    // Transparent background.
    writer.write(UInt32(0))
    // The text box: the size of the track.
    writer.write(zeros: 8)
    // Style of characters 0 to 0: font 1, 18 pixels high, white.
    writer.write(UInt32(0))
    writer.write(UInt16(1))
    writer.write([0, 18])
    writer.write(UInt32.max)
    writer.box("ftab") {
      $0.write(UInt16(1))
      $0.write(UInt16(1))
      $0.write(pascalString: "Sans-Serif")
    }
    return OtherSampleEntry(handlerType: "sbtl", type: "tx3g", payload: writer.bytes)
  }()

  /// The sample entry of chapters (QuickTime File Format, "Text media").
  public static let chapters: OtherSampleEntry = {
    var writer = BoxWriter()
    writer.write(UInt32(0))
    // Centred text.
    writer.write(UInt32(1))
    writer.write(zeros: 35)
    return OtherSampleEntry(handlerType: "text", type: "text", payload: writer.bytes)
  }()

  /// The media header of a chapter track: `gmhd` with a `text` box that holds an identity matrix.
  public static let chapterHeader = OpaqueBox.mediaHeader { writer in
    writer.box("text") { TransformMatrix.identity.write(to: &$0) }
  }

  /// Returns a subtitle sample: the text, truncated to 65535 bytes of UTF-8.
  public static func subtitle(_ text: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    if bytes.count > Int(UInt16.max) {
      bytes.removeLast(bytes.count - Int(UInt16.max))
      // Do not cut a character in two.
      while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
      if bytes.last.map({ $0 >= 0xC0 }) == true { bytes.removeLast() }
    }
    var sample: [UInt8] = []
    sample.append(bigEndian: UInt16(clamping: bytes.count))
    return sample + bytes
  }

  /// Returns the text of a subtitle sample without its styles (3GPP TS 26.245 5.17); empty if the
  /// sample shows nothing or is damaged.
  public static func text(of sample: [UInt8]) -> String {
    guard sample.count > 2 else { return "" }
    let count = Int(sample[0]) << 8 | Int(sample[1])
    let bytes = sample.dropFirst(2).prefix(count)
    guard bytes.starts(with: [0xFE, 0xFF]) else { return String(decoding: bytes, as: UTF8.self) }
    let rest = Array(bytes.dropFirst(2))
    let units = stride(from: 0, to: rest.count - 1, by: 2).map {
      UInt16(rest[$0]) << 8 | UInt16(rest[$0 + 1])
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// Whether all samples of a subtitle track are to be shown even if the viewer wants no subtitles
  /// (`displayFlags`, 3GPP TS 26.245 5.16).
  ///
  /// - Parameter content: The content of the sample entry (`tx3g`), after its type.
  public static func isForced(_ content: [UInt8]) -> Bool {
    content.count > 8 && content[8] & 0x80 != 0
  }

  /// Returns a chapter sample: the title, marked as UTF-8.
  public static func chapter(_ title: String) -> [UInt8] {
    var writer = BoxWriter()
    writer.write(subtitle(title))
    writer.box("encd") { $0.write(UInt32(0x100)) }
    return writer.bytes
  }
}
