// SPDX-License-Identifier: MPL-2.0

internal import Foundation
public import GStreamer
internal import HEVC
internal import StereoVideo

/// H.264 MVC made of two plain streams by x264: no picture of the dependent view is predicted from
/// the base view, and each view's pictures are those of its stream.
public struct MVCStream: Sendable {
  /// An access unit.
  public struct Unit: Sendable {
    public var base: [[UInt8]]
    public var dependent: [[UInt8]]
    public var pts: ClockTime
    public var dts: ClockTime
    public var isKeyframe: Bool
  }

  /// In decoding order.
  public var units: [Unit]
  /// The streams of the left and of the right eye, which are the base and the dependent view.
  public var eyes: [[UInt8]]

  /// Encodes the synthetic scene, the left eye as the base view.
  ///
  /// - Parameter caps: of the packed pictures.
  public static func make(
    frames: Int = 60, caps: String = "width=256,height=96,framerate=30/1", bFrames: Int = 2
  ) async throws -> MVCStream {
    let coder =
      "x264enc threads=1 bframes=\(bFrames) b-adapt=false key-int-max=15 quantizer=24 pass=qual "
      + "option-string=scenecut=0 ! video/x-h264,stream-format=byte-stream,profile=high ! appsink "
    let pipeline = try Pipeline(
      parsing: "stereotestsrc num-buffers=\(frames) ! video/x-raw,format=I420,\(caps) ! sbssplit "
        + "name=s s.left ! queue ! \(coder) name=l s.right ! queue ! \(coder) name=r")
    let sinks = try ["l", "r"].map { name in
      guard let sink = pipeline.element(named: name) else { throw Failure("no sink") }
      return AppSink(sink, AppSink.Settings())
    }
    let taken = sinks.map { sink in
      let buffers = Locked<[Buffer]>([])
      sink.deliver { sample in buffers.withLock { $0.append(sample.buffer) } }
      return buffers
    }
    try await pipeline.run()
    withExtendedLifetime(sinks) {}
    let (left, right) = (taken[0].current, taken[1].current)
    guard left.count == frames, right.count == frames else {
      throw Failure("x264enc gave \(left.count) and \(right.count) of \(frames) pictures")
    }
    let units = zip(left, right).map { left, right in
      let (base, other) = (nalUnits(left.bytes), nalUnits(right.bytes))
      let isKeyframe = base.contains { $0[0] & 31 == 5 }
      return Unit(
        base: base, dependent: other.compactMap { dependent($0, isAnchor: isKeyframe) },
        pts: left.pts ?? 0, dts: left.dts ?? left.pts ?? 0, isKeyframe: isKeyframe)
    }
    return MVCStream(
      units: units, eyes: [left.flatMap(\.bytes), right.flatMap(\.bytes)])
  }

  // MARK: Forms

  /// The access units with start codes, the base view first.
  public var accessUnits: [[UInt8]] { units.map { Self.stream($0.base + $0.dependent) } }

  /// A transport stream with a PID for each view, in packets of 192 bytes, as discs have.
  public var discBytes: [UInt8] { transport().discBytes }

  /// A transport stream with a PID for each view.
  ///
  /// - Parameters:
  ///   - start: the first decoding time, in ticks of 90 kHz.
  ///   - more: writes other streams after each access unit: gets its number and its times in ticks
  ///     of 90 kHz.
  public func transport(
    streams: [TransportWriter.Stream] = [.base, .dependent], start first: Int64 = 90_000,
    more: (inout TransportWriter, Int, Int64) -> Void = { _, _, _ in }
  ) -> TransportWriter {
    var writer = TransportWriter()
    func ticks(_ time: ClockTime) -> Int64 { Int64(time.units(perSecond: 90_000)) + first }
    let start = units.map(\.dts).min() ?? 0
    for (index, unit) in units.enumerated() {
      if unit.isKeyframe {
        writer.associations()
        writer.map(streams, descriptors: TransportWriter.hdmv)
      }
      let (pts, dts) = (ticks(unit.pts - start), ticks(unit.dts - start))
      // Without a clock reference, other demuxers wait in vain.
      let clock = UInt64(max(dts - 9000, 0))
      let reference = [
        UInt8(truncatingIfNeeded: clock >> 25), UInt8(truncatingIfNeeded: clock >> 17),
        UInt8(truncatingIfNeeded: clock >> 9), UInt8(truncatingIfNeeded: clock >> 1),
        UInt8(truncatingIfNeeded: clock << 7) | 0x7E, 0,
      ]
      writer.pes(
        0x1011, Self.stream(unit.base), pts: pts, dts: dts, length: 0,
        adaptation: [0x10] + reference)
      if !unit.dependent.isEmpty {
        writer.pes(
          0x1012, Self.stream([[24, 0]] + unit.dependent), pts: pts, dts: dts, length: 0)
      }
      more(&writer, index, dts)
    }
    return writer
  }

  /// Writes `.m2ts` as a disc has it, and `.mkv` with the records of both views.
  ///
  /// - Parameter path: without the ending.
  public static func writeDisc(_ path: String) async throws {
    let recipe = "MVCStream, 60 pictures, 256x96"
    try await Fixture.copy(to: path + ".m2ts", recipe: recipe + ", m2ts") {
      try Data(await make().discBytes).write(to: URL(filePath: $0))
    }
    try await Fixture.copy(to: path + ".mkv", recipe: recipe + ", mkv") {
      try await TestMovie.play(
        "filesrc location=\(path).m2ts ! mvctsdemux ! matroskamux ! filesink location=\($0)")
    }
  }

  private static func stream(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

  private static func nalUnits(_ bytes: [UInt8]) -> [[UInt8]] {
    AnnexB.nalUnits(in: bytes.span.bytes).map { Array(bytes[$0]) }
  }

  // MARK: The dependent view

  /// A NAL unit of a plain stream as one of the dependent view; nil if it has no place there.
  private static func dependent(_ unit: [UInt8], isAnchor: Bool) -> [UInt8]? {
    guard let first = unit.first else { return nil }
    switch first & 31 {
    case 1, 5:
      // nal_unit_header_mvc_extension: view_id 1 (H.7.3.1.1).
      let isIDR = first & 31 == 5
      let last: UInt8 = 0x41 | (isAnchor ? 4 : 0)
      return [first & 0x60 | 20, isIDR ? 0 : 0x40, 0, last] + unit.dropFirst()
    case 7: return subsetSPS(unit)
    case 8: return unit
    default: return nil
    }
  }

  /// The subset SPS of two views without inter-view references (H.7.3.2.1.4).
  private static func subsetSPS(_ sps: [UInt8]) -> [UInt8] {
    let rbsp = RBSP(sps).bytes
    // The stop bit is the last one that is set.
    let lastByte = rbsp.lastIndex { $0 != 0 } ?? 0
    let bitCount = lastByte * 8 + 7 - rbsp[lastByte].trailingZeroBitCount
    var writer = BitWriter()
    writer.u(0x6F, 8)
    writer.u(128, 8)
    writer.copy(16..<bitCount, of: rbsp)
    writer.flag(true)
    writer.ue(1)
    for view in 0...1 { writer.ue(view) }
    // No anchor and no other references in list 0 and 1.
    for _ in 0..<4 { writer.ue(0) }
    // One level with one operation point of temporal_id 0 and both views.
    writer.ue(0)
    writer.u(Int(rbsp[3]), 8)
    writer.ue(0)
    writer.u(0, 3)
    writer.ue(1)
    for view in 0...1 { writer.ue(view) }
    writer.ue(1)
    // mvc_vui_parameters_present_flag, additional_extension2_flag
    writer.u(0, 2)
    writer.trailingBits()
    return escaped(writer.bytes)
  }

  /// Adds emulation prevention bytes (7.4.1).
  private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var zeros = 0
    for byte in bytes {
      if zeros >= 2, byte <= 3 {
        result.append(3)
        zeros = 0
      }
      result.append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return result
  }
}
