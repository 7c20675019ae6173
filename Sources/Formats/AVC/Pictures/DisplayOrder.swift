// SPDX-License-Identifier: MPL-2.0

internal import HEVC

/// Finds out in which order the frames of a stream without timestamps are shown, by the picture
/// order counts of the base view, H.264 (8.2.1).
///
/// Add all access units, then ask for ``positions()``. It takes 16 bytes for each frame.
public struct DisplayOrder: Sendable {
  /// A frame or pair of fields, in decoding order.
  private struct Frame: Sendable {
    /// Number of the coded video sequence, which an IDR picture begins: counts start again there.
    let sequence: Int32
    let count: Int
  }

  private var reader = AccessUnitReader()
  private var view = ViewState(.base)
  private var isStarted = false
  private var frames: [Frame] = []
  private var sequence: Int32 = 0

  /// Creates the order of a stream that has not begun.
  public init() {}

  /// Number of frames so far.
  public var frameCount: Int { frames.count }

  /// Frames a second by the latest SPS, as a fraction; nil if it does not say so.
  public var frameRate: (numerator: Int, denominator: Int)? { reader.frameRate }

  /// Adds the next access unit in decoding order, and returns whether it begins a frame: a second
  /// field does not. One that is damaged is shown after the one before it.
  ///
  /// - Parameter accessUnit: a byte stream.
  public mutating func add(_ accessUnit: [UInt8]) -> Bool {
    let unit = AccessUnit(
      bytes: accessUnit, nalUnits: AnnexB.nalUnits(in: accessUnit.span.bytes))
    guard let read = try? reader.read(unit, nil), let slice = read.base.first?.header else {
      frames.append(Frame(sequence: sequence, count: frames.last?.count ?? 0))
      return true
    }
    if !isStarted, !slice.isIDR { view.start(slice) }
    isStarted = true
    view.begin(slice)
    defer { view.finish() }
    guard let picture = view.current, !picture.isSecondField else { return false }
    if slice.isIDR, !frames.isEmpty { sequence &+= 1 }
    frames.append(Frame(sequence: sequence, count: picture.continuedCount))
    return true
  }

  /// Returns the position of each frame in the order of output, counted from 0, in decoding order.
  public func positions() -> [Int] {
    let shown = frames.indices.sorted {
      let (left, right) = (frames[$0], frames[$1])
      return (left.sequence, left.count, $0) < (right.sequence, right.count, $1)
    }
    var positions = [Int](repeating: 0, count: frames.count)
    for (position, frame) in shown.enumerated() { positions[frame] = position }
    return positions
  }
}
