// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import StereoVideo

/// One moment of the video, both eyes coded: an access unit of two layers.
///
/// It holds what the encoders gave and how it is woven; `write` puts the bytes where they are
/// wanted, in one pass.
public struct LayeredAccessUnit: Sendable {
  /// The NAL units' order, the parameter sets that hold, and the kind of picture.
  public let woven: WovenAccessUnit
  /// The pictures' own timestamp, as it was given to the encoder.
  public let presentation: Int64
  /// When to decode, in the same units. Rises strictly from one access unit to the next, and is
  /// never after `presentation`. With a reorder depth of d it is the d-th timestamp before this
  /// one's place in order; the first d come before the video's first timestamp.
  public let decoding: Int64
  /// Whether decoding can begin here: IDR pictures, in both eyes.
  public let isSync: Bool

  package let left: CodedUnits
  package let right: CodedUnits

  init(_ pair: EncoderPair.CodedPair, woven: WovenAccessUnit, _ baseEye: Eye) {
    self.woven = woven
    presentation = pair.presentation
    decoding = pair.decoding
    isSync = pair.isKeyframe
    left = (baseEye == .right ? pair.predicted : nil) ?? pair.left
    right = (baseEye == .left ? pair.predicted : nil) ?? pair.right
  }

  /// Size in bytes of what `write` writes.
  public func byteCount(framing: NALUnitFraming) -> Int {
    woven.byteCount(framing: framing)
  }

  /// Size in bytes of what the encoder of `eye` gave for this access unit, its parameter sets
  /// included.
  public func byteCount(of eye: Eye) -> Int {
    (eye == .left ? left : right).bytes.count
  }

  /// Writes the access unit. As a byte stream it has its parameter sets inside; length-prefixed it
  /// is a sample of an `hvc1` track, without them.
  ///
  /// - Precondition: `output` has at least `byteCount(framing:)` bytes.
  public func write(framing: NALUnitFraming, into output: UnsafeMutableRawBufferPointer) {
    woven.write(
      framing: framing, left: left.bytes.span.bytes, right: right.bytes.span.bytes, into: output)
  }

  /// The bytes that `write` writes.
  public func bytes(framing: NALUnitFraming) -> [UInt8] {
    let size = byteCount(framing: framing)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      write(
        framing: framing,
        into: UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(buffer)[..<size]))
      count = size
    }
  }
}
