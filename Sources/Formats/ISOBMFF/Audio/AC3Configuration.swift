// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension AudioCoding {
  /// The coding of AC-3 or E-AC-3 whose first sample is `bytes`, with the `dac3` or `dec3` that
  /// says so (ETSI TS 102 366 F.4, F.6); nil where that is neither.
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

  /// Nil where no substream can be decoded without others.
  private static func enhancedConfiguration(_ frames: [AC3SyncFrame]) -> [UInt8]? {
    // Frames of less than six blocks come several to a sample: those of the first are enough.
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
  /// `chan_loc`: which loudspeakers beyond 5.1 a dependent substream has, Lc/Rc in the lowest bit
  /// (ETSI TS 102 366 table F.2); of `chanmap`, where the first channel has the highest bit
  /// (table E.5).
  fileprivate var channelLocations: Int {
    let pairs = (0..<8).reduce(0) { $0 | (channelMap >> (10 - $1) & 1) << $1 }
    return pairs | (channelMap >> 1 & 1) << 8
  }
}
