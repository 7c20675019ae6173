// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Appends boxes and their big-endian fields to a byte array.
struct BoxWriter {
  private(set) var bytes: [UInt8] = []
  /// The first box that is too large for its 32-bit size field.
  private(set) var oversizedBox: FourCC?

  mutating func reserve(_ count: Int) {
    bytes.reserveCapacity(bytes.count + count)
  }

  mutating func write<Integer: FixedWidthInteger>(_ value: Integer) {
    bytes.append(bigEndian: value)
  }

  mutating func write(_ value: FourCC) {
    write(value.rawValue)
  }

  mutating func write(_ content: [UInt8]) {
    bytes.append(contentsOf: content)
  }

  mutating func write(zeros count: Int) {
    bytes.append(contentsOf: repeatElement(0, count: max(0, count)))
  }

  /// Writes a C string: its UTF-8 bytes and a terminating zero.
  mutating func write(cString string: String) {
    bytes.append(contentsOf: string.utf8)
    bytes.append(0)
  }

  /// Writes a Pascal string: a length byte and up to 255 bytes of UTF-8.
  mutating func write(pascalString string: String) {
    let utf8 = string.utf8.prefix(255)
    bytes.append(UInt8(clamping: utf8.count))
    bytes.append(contentsOf: utf8)
  }

  /// Writes a time, duration or the like as an unsigned field of 32 bits (version 0) or 64 (version
  /// 1).
  mutating func write(_ value: UInt64, wide: Bool) {
    if wide {
      write(value)
    } else {
      write(UInt32(clamping: value))
    }
  }

  /// Writes a box whose content `body` writes; its size is filled in afterwards.
  mutating func box(_ type: FourCC, _ body: (inout BoxWriter) -> Void) {
    let start = bytes.count
    write(UInt32(0))
    write(type)
    body(&self)
    guard let size = UInt32(exactly: bytes.count - start) else {
      oversizedBox = oversizedBox ?? type
      return
    }
    for index in 0..<4 {
      bytes[start + index] = UInt8(truncatingIfNeeded: size >> UInt32(24 - 8 * index))
    }
  }

  /// Writes a box that begins with a version and 24 bits of flags (ISO/IEC 14496-12 4.2).
  mutating func fullBox(
    _ type: FourCC, version: UInt8 = 0, flags: UInt32 = 0, _ body: (inout BoxWriter) -> Void
  ) {
    box(type) {
      $0.write(UInt32(version) << 24 | flags & 0xFF_FFFF)
      body(&$0)
    }
  }

  mutating func box(_ box: OpaqueBox) {
    self.box(box.type) { $0.write(box.payload) }
  }
}

/// A box kept unparsed: its type, and everything after its header.
public struct OpaqueBox: Equatable, Sendable {
  /// The box type; for an extended type, `uuid`, and the payload begins with the 16 bytes of that
  /// type.
  public var type: FourCC
  /// The content, including version and flags if the box has them, and the user type of a `uuid`
  /// box.
  public var payload: [UInt8]

  /// Creates a box; `payload` excludes the header.
  public init(_ type: FourCC, payload: [UInt8]) {
    self.type = type
    self.payload = payload
  }

  /// The box with its header; empty if it would be larger than 4 GiB.
  public var bytes: [UInt8] {
    var writer = BoxWriter()
    writer.box(self)
    return writer.oversizedBox == nil ? writer.bytes : []
  }

  /// Returns the consecutive boxes in `bytes`, up to the first that is damaged or truncated.
  public static func all(in bytes: [UInt8]) -> [OpaqueBox] {
    var reader = BoxReader(bytes, type: "free", path: "")
    var boxes: [OpaqueBox] = []
    while let box = try? reader.nextBox() { boxes.append(box.opaque) }
    return boxes
  }
}
