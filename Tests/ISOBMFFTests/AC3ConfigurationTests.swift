// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

/// The boxes of AC-3 and E-AC-3 say what the first frames of a stream do (ETSI TS 102 366 F).
struct AC3ConfigurationTests {
  private static func frame(_ write: (inout BitWriter) -> Void) -> [UInt8] {
    var writer = BitWriter()
    writer.u(0x0B77, 16)
    write(&writer)
    writer.alignWithZeros()
    writer.write([UInt8](repeating: 0, count: 16))
    return writer.bytes
  }

  /// 48 kHz, 5.1.
  private static func enhanced(
    type: Int = 0, fscod: Int = 0, code: Int = 3, bsid: Int = 16, channelMap: Int? = nil
  ) -> [UInt8] {
    var frame = frame {
      $0.u(type, 2)
      $0.u(0, 3)
      $0.u(255, 11)
      $0.u(fscod, 2)
      $0.u(code, 2)
      $0.u(7, 3)
      $0.u(1, 1)
      $0.u(bsid, 5)
      $0.u(31, 5)
      $0.flag(true)
      $0.u(0, 8)
      $0.flag(channelMap != nil)
      $0.u(channelMap ?? 0, 16)
    }
    frame += [UInt8](repeating: 0, count: 512 - frame.count)
    return frame
  }

  @Test("AC-3 at 384 kbit/s in 5.1 has the record that every writer gives it")
  func plain() throws {
    let frame = Self.frame {
      $0.u(0, 16)
      $0.u(0, 2)
      $0.u(28, 6)
      $0.u(8, 5)
      $0.u(0, 3)
      $0.u(7, 3)
      $0.u(1, 2)
      $0.u(1, 2)
      $0.u(1, 1)
    }
    let coding = try #require(AudioCoding.ac3(firstSample: frame))
    #expect(coding == .ac3(dac3: [0x10, 0x3D, 0xC0]))
    #expect(coding.recordedFormat?.sampleRate == 48_000)
    #expect(coding.recordedFormat?.channelCount == 6)
    #expect(AC3SyncFrame(frame)?.size == 1536)
  }

  @Test("E-AC-3 with a dependent substream also has its loudspeakers")
  func enhanced() throws {
    // Lrs and Rrs: the sixth bit of chanmap, the second of chan_loc.
    let sample = Self.enhanced() + Self.enhanced(type: 1, channelMap: 1 << 9)
    let coding = try #require(AudioCoding.ac3(firstSample: sample))
    // 1024 bytes in 1536 samples, one independent substream, 5.1, one dependent one.
    #expect(coding == .eac3(dec3: [0x08, 0x00, 0x20, 0x0F, 0x02, 0x02]))
    #expect(coding.recordedFormat?.channelCount == 8)
  }

  @Test("data that is no frame, or depends on a missing one, has no record")
  func others() {
    let frame = Self.enhanced()
    for count in 0..<6 { #expect(AC3SyncFrame(Array(frame.prefix(count))) == nil) }
    #expect(AC3SyncFrame([0x0B, 0x78] + frame.dropFirst(2)) == nil)
    #expect(AC3SyncFrame(Self.enhanced(fscod: 3, code: 3)) == nil)
    #expect(AC3SyncFrame(Self.enhanced(bsid: 17)) == nil)
    #expect(AC3SyncFrame(Self.enhanced(fscod: 3, code: 0))?.sampleRate == 24_000)
    #expect(AudioCoding.ac3(firstSample: Self.enhanced(type: 1, channelMap: 0)) == nil)
  }
}
