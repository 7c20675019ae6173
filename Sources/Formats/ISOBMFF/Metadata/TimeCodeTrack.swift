// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The time code of a movie's first picture, counted on through the movie (QuickTime File Format,
/// "Timecode media").
public struct TimeCodeTrack: Equatable, Sendable {
  /// Frames a second, as a ratio; both above 0.
  public let frameRate: (numerator: UInt32, denominator: UInt32)
  /// Numbers are left out so that time codes keep to the clock.
  public let isDropFrame: Bool
  /// Frames since midnight.
  public let firstFrame: UInt32

  public static func == (one: Self, other: Self) -> Bool {
    one.frameRate == other.frameRate && one.isDropFrame == other.isDropFrame
      && one.firstFrame == other.firstFrame
  }

  /// Nil for a rate that is none, or that has more than 255 frames a second.
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

  /// `tmcd`.
  public var sampleEntry: OtherSampleEntry {
    var writer = BoxWriter()
    writer.write(UInt32(0))
    // Begins again after 24 hours.
    writer.write(UInt32(isDropFrame ? 3 : 2))
    writer.write(frameRate.numerator)
    writer.write(frameRate.denominator)
    let rounded =
      (UInt64(frameRate.numerator) + UInt64(frameRate.denominator) / 2)
      / UInt64(frameRate.denominator)
    writer.write([UInt8(clamping: rounded), 0])
    return OtherSampleEntry(handlerType: "tmcd", type: "tmcd", payload: writer.bytes)
  }

  /// The one sample of the track.
  public var sample: [UInt8] {
    var sample: [UInt8] = []
    sample.append(bigEndian: firstFrame)
    return sample
  }

  /// `gmhd` with what players show time codes in.
  public static let mediaHeader = OpaqueBox.mediaHeader { writer in
    writer.box("tmcd") { tmcd in
      tmcd.fullBox("tcmi") {
        // A font by name, 12 points, black on white.
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
  /// `gmhd` (QuickTime File Format, "Base media information header") with a box of its kind.
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
