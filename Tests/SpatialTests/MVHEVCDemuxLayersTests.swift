// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import HEVC
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux`: streams whose layers are not simply two eyes, or do not say which eye is which.
struct MVHEVCDemuxLayersTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }
  var changed: String { folder.path("changed.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  /// The pads that a file gives, with the caps of each, and the warnings.
  private func opened(
    _ path: String
  ) async throws -> (caps: [String: Caps], warnings: [String]) {
    let pipeline = try pipeline("filesrc location=\(path) ! mvhevcdemux name=d")
    let demuxer = try #require(pipeline.element(named: "d"))
    DemuxRun.linkAllPads(of: demuxer, in: pipeline)
    defer { pipeline.setState(.null) }
    pipeline.setState(.playing)
    let warnings = try await messages(of: pipeline).warnings
    var caps: [String: Caps] = [:]
    for pad in ["left", "right", "video_0"] {
      caps[pad] = demuxer.staticPad(pad)?.currentCaps
    }
    return (caps, warnings)
  }

  /// The base layer of a movie as MP4 of one eye, by the muxer; what the base eye has to decode to.
  private func frames(_ pad: String, of path: String) async throws -> [String] {
    try await DemuxRun.decoded(path, pad).map(\.md5)
  }

  /// What a changed stream is called, what changes it, and what is to come of it.
  struct Variant: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let hero: Eye
    let pad: String
    let mode: String
    let warning: String
    let change: @Sendable (inout VideoParameterSet) -> Void
  }

  /// `LayerTests` has more, of the player alone.
  private static let variants = [
    Variant(
      testDescription: "an alpha layer", hero: .right, pad: "left", mode: "mono",
      warning: "left out: alpha"
    ) { $0.distinguishLayers(by: 3) },
    Variant(
      testDescription: "three views", hero: .left, pad: "left", mode: "left", warning: "3 layers"
    ) { $0.addLayer(viewOrderIndex: 2) },
  ]

  @Test(
    "other layers than two eyes are read as the base layer, with a warning",
    arguments: variants)
  func baseOnly(variant: Variant) async throws {
    try await OwnMovie.make(path, frames: 12, mux: "hero-eye=\(variant.hero)")
    let expected = try await frames(variant.hero.rawValue, of: path)
    var layerCount = 2
    try MovieFile(path).rebuildVideo(at: changed) { entry in
      try entry.changeVPS {
        variant.change(&$0)
        layerCount = $0.maxLayersMinus1 + 1
      }
    } sample: {
      if layerCount > 2 { try VideoParameterSet.addThirdLayer(to: &$0) }
    }
    let (caps, warnings) = try await opened(changed)
    #expect(Set(caps.keys) == [variant.pad, "video_0"])
    #expect(caps[variant.pad]?.first?.string("multiview-mode") == variant.mode)
    #expect(warnings.contains { $0.contains(variant.warning) }, "\(warnings)")
    #expect(try await frames(variant.pad, of: changed) == expected)
    let stream = folder.path("stream.hevc")
    try Data(MovieFile(changed).videoByteStream()).write(to: URL(filePath: stream))
    #expect(try await frames(variant.pad, of: stream) == expected)
    // The samples as they are, all layers of them.
    let copy = folder.path("copy.mov")
    try await play(
      "filesrc location=\(changed) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
        + "mvhevcmux name=m ! filesink location=\(copy)")
    let (old, new) = (try MovieFile(changed), try MovieFile(copy))
    #expect(old.content(of: try old.video()) == new.content(of: try new.video()))
    #expect(try old.videoEntry().configuration == new.videoEntry().configuration)
  }
}
