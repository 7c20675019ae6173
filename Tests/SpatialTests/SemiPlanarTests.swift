// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import TestKit
import Testing

/// What cameras and hardware decoders give, NV12 and P010, without `videoconvert`: the same
/// pictures as with a plane for each component, to the sample.
struct SemiPlanarTests {
  private static let formats = [("NV12", "I420"), ("P010_10LE", "I420_10LE")]

  /// Turns planes into pairs and back; the samples stay.
  private static func convert(_ format: String) -> String {
    "videoconvert dither=none ! video/x-raw,format=\(format) !"
  }

  /// Two eyes in a format, made of planes.
  private func source(_ format: String, _ planar: String, size: String) -> String {
    eyes(4, "format=\(planar),\(size),framerate=25/1").replacingOccurrences(
      of: "queue !", with: "queue ! \(Self.convert(format))")
  }

  @Test("stereopack packs them in every mode", arguments: formats)
  func stereopack(format: String, planar: String) async throws {
    for mode in ["side-by-side", "top-bottom", "row-interleaved", "frame-by-frame", "left"] {
      for (half, size) in [
        (false, "width=104,height=32"), (true, "width=104,height=32"),
        (true, "width=100,height=30"),
      ] {
        func packed(_ format: String) async throws -> [[UInt8]] {
          try await record(
            source(format, planar, size: size) + "stereopack name=mux mode=\(mode) half=\(half) ! "
              + "video/x-raw,format=\(format) ! \(Self.convert(planar)) fakesink name=sink")[0]
            .map { try $0.pixels() }
        }
        let expected = try await packed(planar)
        #expect(expected.count == (mode == "frame-by-frame" ? 8 : 4))
        #expect(try await packed(format) == expected, "\(mode) \(half) \(size)")
      }
    }
  }

  @Test("sbssplit cuts them, as references and as copies", arguments: formats, [true, false])
  func sbssplit(formats: (String, String), takesReferences: Bool) async throws {
    let (format, planar) = formats
    func split(_ format: String) async throws -> [[[UInt8]]] {
      let eyes = try await record(
        "stereotestsrc num-buffers=2 ! video/x-raw,format=\(planar),width=104,height=32 ! "
          + "\(Self.convert(format)) sbssplit name=s "
          + "s.left ! \(Self.convert(planar)) fakesink name=left async=false "
          + "s.right ! \(Self.convert(planar)) fakesink name=right async=false",
        sinks: ["left", "right"], takingReferences: takesReferences)
      return try eyes.map { try $0.map { try $0.pixels() } }
    }
    let expected = try await split(planar)
    #expect(expected.map(\.count) == [2, 2])
    #expect(try await split(format) == expected)
  }

  @Test("the encoders encode them to the same bytes", arguments: formats, [260, 258])
  func encoding(formats: (String, String), width: Int) async throws {
    let (format, planar) = formats
    let size = "width=\(width * 2),height=50"
    func coded(_ format: String) async throws -> [[UInt8]] {
      try await record(
        source(format, planar, size: size)
          + "mvhevcenc name=mux speed-preset=ultrafast ! fakesink name=sink")[0]
        .map(\.buffer.bytes)
    }
    let expected = try await coded(planar)
    #expect(expected.count == 4)
    #expect(try await coded(format) == expected)
    let folder = try TemporaryFolder()
    func written(_ format: String) async throws -> [UInt32] {
      let path = folder.path("\(format).mov")
      try await play(
        source(format, planar, size: size)
          + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)")
      return try MovieFile(path).video().allSamples.map { UInt32($0.size) }
    }
    #expect(try await written(format) == written(planar))
  }

  @Test(
    "an eye of odd size is encoded, or refused with a message", arguments: ["NV12", "P010_10LE"])
  func oddSizes(format: String) async throws {
    for size in ["17x16", "16x17", "31x33"] {
      let parts = size.split(separator: "x")
      do {
        let buffers = try await record(
          "videotestsrc num-buffers=3 ! "
            + "video/x-raw,format=\(format),width=\(parts[0]),height=\(parts[1]),framerate=25/1 ! "
            + "tee name=t t. ! queue ! mux.left t. ! queue ! mux.right "
            + "mvhevcenc name=mux speed-preset=ultrafast ! fakesink name=sink")[0]
        #expect(buffers.count == 3)
      } catch let failure as PipelineFailure {
        #expect(failure.element == "mux" && !failure.message.isEmpty, "\(failure)")
      }
    }
  }
}
