// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// A time code track: the time code of the first frame, from which it counts up through the movie
/// (QuickTime File Format, "Timecode media").
public struct TimeCodeTrack: Equatable, Sendable {
  /// Frames per second as a fraction; both parts are above 0.
  public let frameRate: (numerator: UInt32, denominator: UInt32)
  /// Whether frame numbers are skipped to keep time codes in step with the clock (drop-frame).
  public let isDropFrame: Bool
  /// Number of the first frame, counted from midnight.
  public let firstFrame: UInt32

  /// Compares all three properties.
  public static func == (one: Self, other: Self) -> Bool {
    one.frameRate == other.frameRate && one.isDropFrame == other.isDropFrame
      && one.firstFrame == other.firstFrame
  }

  /// Nil if a part of the rate is 0, or the rate is above 255 frames per second.
  public init?(
    frameRate: (numerator: UInt32, denominator: UInt32), isDropFrame: Bool, firstFrame: UInt32
  ) {
    guard frameRate.numerator > 0, frameRate.denominator > 0,
      frameRate.numerator / frameRate.denominator < 255
    else { return nil }
    self.frameRate = frameRate
    self.isDropFrame = isDropFrame
    self.firstFrame = firstFrame
  }

  /// The `tmcd` sample entry.
  public var sampleEntry: OtherSampleEntry {
    var writer = BoxWriter()
    writer.write(UInt32(0))
    // Counts from 0 again after 24 hours.
    writer.write(UInt32(isDropFrame ? 3 : 2))
    writer.write(frameRate.numerator)
    writer.write(frameRate.denominator)
    let rounded =
      (UInt64(frameRate.numerator) + UInt64(frameRate.denominator) / 2)
      / UInt64(frameRate.denominator)
    writer.write([UInt8(clamping: rounded), 0])
    return OtherSampleEntry(handlerType: "tmcd", type: "tmcd", payload: writer.bytes)
  }

  /// The only sample of the track.
  public var sample: [UInt8] {
    var sample: [UInt8] = []
    sample.append(bigEndian: firstFrame)
    return sample
  }

  /// `gmhd` with the text style in which players show time codes.
  public static let mediaHeader = OpaqueBox.mediaHeader { writer in
    writer.box("tmcd") { tmcd in
      tmcd.fullBox("tcmi") {
        // Font by name, 12 points, black on white.
        $0.write(zeros: 4)
        $0.write(UInt16(12))
        $0.write(zeros: 8)
        $0.write([UInt8](repeating: 0xFF, count: 6))
        $0.write(pascalString: "Lucida Grande")
      }
    }
  }
}

extension OpaqueBox {
  /// Returns `gmhd` (QuickTime File Format, "Base media information header") with a media-specific
  /// box.
  static func mediaHeader(_ body: (inout BoxWriter) -> Void) -> OpaqueBox {
    var writer = BoxWriter()
    writer.fullBox("gmin") {
      $0.write(UInt16(0x40))
      for _ in 0..<3 { $0.write(UInt16(0x8000)) }
      $0.write(zeros: 4)
    }
    body(&writer)
    return OpaqueBox("gmhd", payload: writer.bytes)
  }
}
