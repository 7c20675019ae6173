// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux`: tracks without layers whose sample entry says what their frames show.
struct MVHEVCDemuxPackingTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  /// What a sample entry says, and what the caps are to say.
  struct Variant: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var mode: String?
    var flags: [String] = []
    /// The tags of a sphere.
    var tags: [String: String] = [:]
    let change: @Sendable (inout VisualSampleEntry) throws -> Void
  }

  /// `vexu` with nothing but what its track shows.
  private static func usage(_ views: StereoViews) throws -> VideoExtendedUsage {
    let indicator = OpaqueBox("stri", payload: [0, 0, 0, 0, views.rawValue])
    return try VideoExtendedUsage(payload: OpaqueBox("eyes", payload: indicator.bytes).bytes)
  }

  private static let variants = [
    Variant(testDescription: "nothing") { _ in },
    Variant(testDescription: "st3d side by side", mode: "side-by-side") {
      $0.stereoscopicMode = .leftRight
    },
    Variant(
      testDescription: "st3d right eye first", mode: "side-by-side", flags: ["right-view-first"]
    ) { $0.stereoscopicMode = .rightLeft },
    Variant(
      testDescription: "st3d top-bottom, sv3d", mode: "top-bottom",
      tags: ["stereo-projection": "half-equirectangular"]
    ) {
      $0.stereoscopicMode = .topBottom
      $0.sphericalVideo = SphericalVideo(.halfEquirectangular, metadataSource: "test")
    },
    Variant(
      testDescription: "st3d mono, sv3d", mode: "mono",
      tags: ["stereo-projection": "equirectangular"]
    ) {
      $0.stereoscopicMode = .monoscopic
      $0.sphericalVideo = SphericalVideo(.equirectangular, metadataSource: "test")
    },
    Variant(testDescription: "sv3d alone", tags: ["stereo-projection": "equirectangular"]) {
      $0.sphericalVideo = SphericalVideo(.equirectangular, metadataSource: "test")
    },
    Variant(
      testDescription: "sv3d of a part, turned",
      tags: ["spherical-bounds": "0.125,0.0,0.25,0.25", "spherical-pose": "90.0,-1.5,0.0"]
    ) {
      $0.sphericalVideo = SphericalVideo(
        .equirectangular(top: 1 << 29, bottom: 0, left: 1 << 30, right: 1 << 30),
        pose: (90 << 16, -3 << 15, 0), metadataSource: "test")
    },
    Variant(testDescription: "sv3d of a cube", tags: ["stereo-projection": "cubemap"]) {
      $0.sphericalVideo = SphericalVideo(
        .cubemap(layout: 0, padding: 0), pose: (0, 0, 0), metadataSource: "test")
    },
    Variant(testDescription: "vexu side by side", mode: "side-by-side") {
      $0.extendedUsage = VideoExtendedUsage(
        SpatialMetadata(), packing: PackingLayout(.sideBySide))
    },
    Variant(
      testDescription: "vexu top-bottom, right eye first, against st3d", mode: "top-bottom",
      flags: ["right-view-first"]
    ) {
      $0.stereoscopicMode = .leftRight
      $0.extendedUsage = VideoExtendedUsage(
        SpatialMetadata(), packing: PackingLayout(.topBottom, rightViewFirst: true))
    },
    Variant(testDescription: "vexu left eye", mode: "left") {
      $0.extendedUsage = try usage(.leftEye)
    },
    Variant(testDescription: "vexu right eye", mode: "right") {
      $0.extendedUsage = try usage(.rightEye)
    },
    Variant(testDescription: "vexu both eyes, no packing, no layers") {
      $0.extendedUsage = try usage([.leftEye, .rightEye])
    },
  ]

  @Test(
    "the caps have the packing of two eyes, or the single eye, and the tags the sphere",
    arguments: variants)
  func multiview(variant: Variant) async throws {
    let (plain, path) = (folder.path("plain.mov"), folder.path("changed.mov"))
    try await TestMovie.make(
      plain,
      "videotestsrc num-buffers=3 ! video/x-raw,width=128,height=64,framerate=30/1 ! "
        + "x265enc speed-preset=ultrafast ! m.video_0 mvhevcmux name=m")
    try MovieFile(plain).rebuildVideo(at: path, entry: variant.change)
    let pipeline = try pipeline(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! fakesink name=sink")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    try await play(pipeline)
    let caps = try #require(tap.buffers.first?.caps.first)
    #expect(tap.buffers.count == 3)
    #expect(caps.string("multiview-mode") == variant.mode)
    #expect(caps.flagNames("multiview-flags") == variant.flags)
    let tags = tap.events.compactMap(\.tags).last { !$0.isGlobal }
    for name in ["stereo-projection", "spherical-bounds", "spherical-pose"] {
      #expect(tags?.string(name) == variant.tags[name], "\(name)")
    }
    // Only eyes that can be extracted are announced.
    let problem = try await failure(
      of: "filesrc location=\(path) ! mvhevcdemux name=d d.left ! fakesink")
    #expect(!problem.message.isEmpty)
  }
}
