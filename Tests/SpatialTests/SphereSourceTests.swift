// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import Reprojection
import StereoTestScene
import StereoVideo
import TestKit
import Testing

/// `stereotestsrc` with a projection: the same world in each, described downstream by tags.
struct SphereSourceTests {
  private static let (width, height) = (240, 136)

  private struct View {
    let yaw, pitch, degrees: Double
    var roll = 0.0
  }

  /// What the view has to be, of one eye, in RGBx; and where no neighbour differs much, so that
  /// what is found between pixels is what is there.
  private func truth(
    _ view: View, _ world: SphereWorld, _ eye: Eye, _ frame: Int
  ) throws -> (pixels: [UInt8], isCalm: [Bool]) {
    let (width, height) = (Self.width, Self.height)
    let geometry = try PictureGeometry(
      .rectilinear(horizontalFieldOfView: view.degrees), width: width, height: height)
    let rotation = Rotation(
      view: SphereOrientation(yaw: view.yaw, pitch: view.pitch, roll: view.roll))
    var pixels: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let place = PicturePosition(x: Double(x), y: Double(y))
        let own = try #require(geometry.direction(of: place))
        let (red, green, blue) = world.color(of: rotation(own), eye: eye, frame: frame)
        pixels += [red, green, blue, 255]
      }
    }
    let isCalm = (0..<width * height).map { pixel in
      [-1, 1, -width, width].allSatisfy { step in
        guard pixels.indices.contains((pixel + step) * 4) else { return true }
        return (0..<3).allSatisfy {
          abs(Int(pixels[pixel * 4 + $0]) - Int(pixels[(pixel + step) * 4 + $0])) < 12
        }
      }
    }
    return (pixels, isCalm)
  }

  @Test(
    "a view of each projection shows the world in that direction, in both eyes", .tags(.long),
    arguments: ["equirectangular", "half-equirectangular", "fisheye", "parametric"])
  func views(projection: String) async throws {
    let isWhole = projection == "equirectangular"
    let world = SphereWorld(isWhole ? .omnidirectional : .ahead)
    var views = [
      View(yaw: 0, pitch: 0, degrees: 90), View(yaw: 25, pitch: -30, degrees: 60, roll: 20),
    ]
    if isWhole {
      // The seam, and both poles.
      views += [
        View(yaw: 180, pitch: 0, degrees: 80), View(yaw: 10, pitch: 90, degrees: 70),
        View(yaw: -100, pitch: -80, degrees: 60),
      ]
    }
    for view in views {
      let size = isWhole ? "width=1440,height=1440" : "width=900,height=1800"
      let frames = try await record(
        "stereotestsrc num-buffers=2 projection=\(projection) ! "
          + "video/x-raw,format=RGBx,multiview-mode=top-bottom,\(size) ! sphericalview "
          + "yaw=\(view.yaw) pitch=\(view.pitch) roll=\(view.roll) field-of-view=\(view.degrees) ! "
          + "video/x-raw,width=\(Self.width),height=\(2 * Self.height) ! "
          + "fakesink name=sink sync=false"
      )[0]
      let pixels = try #require(frames.last).pixels()
      for (index, eye) in Eye.allCases.enumerated() {
        let (wanted, isCalm) = try truth(view, world, eye, 1)
        let start = index * wanted.count
        var (sum, count, all) = (0.0, 0.0, 0.0)
        for pixel in isCalm.indices {
          for part in 0..<3 {
            let difference =
              Double(pixels[start + 4 * pixel + part]) - Double(wanted[4 * pixel + part])
            all += difference * difference
            if isCalm[pixel] { (sum, count) = (sum + difference * difference, count + 1) }
          }
        }
        let decibels = 10 * log10(255 * 255 * count / max(sum, 1))
        let everywhere = 10 * log10(255 * 255 * Double(isCalm.count * 3) / max(all, 1))
        #expect(count > Double(isCalm.count) * 3 * 0.5)
        #expect(decibels > 46, "\(projection) \(view) \(eye): \(decibels)")
        #expect(everywhere > 25, "\(projection) \(view) \(eye): \(everywhere)")
      }
    }
  }

  @Test(
    "every format and packing shows the two eyes of the scene",
    arguments: StereoTestSourceModes.formats, StereoTestSourceModes.modes)
  func formats(format: String, mode: String) async throws {
    let scene = try #require(SphereScene(.equirectangular(.full), width: 64, height: 32))
    let (across, down) = (mode == "side-by-side" ? 2 : 1, mode == "top-bottom" ? 2 : 1)
    let frames = try await record(
      "stereotestsrc num-buffers=2 projection=equirectangular ! video/x-raw,format=\(format),"
        + "multiview-mode=\(mode),width=\(64 * across),height=\(32 * down) ! "
        + "videoconvert ! video/x-raw,format=RGB ! fakesink name=sink sync=false")[0]
    #expect(frames.count == 2)
    for (number, frame) in frames.enumerated() {
      let pixels = try frame.pixels()
      #expect(pixels.count == 64 * 32 * 3 * across * down)
      let eyes: [Eye] =
        switch mode {
        case "left": [.left]
        case "right": [.right]
        case "frame-by-frame": [number == 0 ? .left : .right]
        default: Eye.allCases
        }
      for (place, eye) in eyes.enumerated() {
        var worst = 0
        for y in 0..<32 {
          for x in 0..<64 {
            let direction = try #require(
              scene.geometry.direction(of: PicturePosition(x: Double(x), y: Double(y))))
            let color = scene.world.color(
              of: direction, eye: eye, frame: mode == "frame-by-frame" ? 0 : number)
            // Of the whole, what both chroma and luma have.
            let green = Int(color.green)
            let start =
              ((y + (down > 1 ? place * 32 : 0)) * 64 * across + x + (across > 1 ? place * 64 : 0))
              * 3
            let isEven = x % 2 == 0 && y % 2 == 0
            if isEven || format.contains("R") {
              worst = max(worst, abs(Int(pixels[start + 1]) - green))
            }
          }
        }
        // Chroma between samples is videoconvert's guess.
        #expect(worst <= (format.contains("R") ? 0 : 110), "\(format) \(mode) \(worst)")
      }
    }
  }

  @Test(
    "tags describe the projection",
    arguments: [
      ("projection=equirectangular", "equirectangular", 360.0),
      ("projection=half-equirectangular", "half-equirectangular", 180),
      ("projection=fisheye fisheye-field-of-view=200", "fisheye", 200),
      ("projection=parametric", "parametric", 180),
    ])
  func tags(properties: String, name: String, degrees: Double) async throws {
    let pipeline = try pipeline(
      "stereotestsrc name=s num-buffers=2 \(properties) ! video/x-raw,width=64,height=32 ! fakesink"
    )
    let tap = try Tap(pipeline.element(named: "s")?.staticPad("src"))
    try await play(pipeline)
    let order = tap.items.map { item in
      if case .event(let event) = item { event.name } else { "buffer" }
    }
    #expect(Array(order.prefix(5)) == ["stream-start", "caps", "segment", "tag", "buffer"])
    #expect(order.filter { $0 == "tag" }.count == 1)
    let tags = try #require(tap.events.compactMap(\.tags).first)
    #expect(tags.string("stereo-projection") == name)
    #expect(tags.double("stereo-horizontal-field-of-view") == degrees)
    #expect(tags.double("stereo-baseline") == 63.5)
    #expect(tags.double("spherical-fisheye-field-of-view") == (name == "fisheye" ? degrees : nil))
  }

  @Test("the flat scene has no tags, and its caps do not change")
  func flat() async throws {
    for properties in ["", "projection=none", "projection=rectilinear"] {
      let pipeline = try pipeline("stereotestsrc name=s num-buffers=1 \(properties) ! fakesink")
      let tap = try Tap(pipeline.element(named: "s")?.staticPad("src"))
      try await play(pipeline)
      #expect(tap.events.allSatisfy { $0.tags == nil })
      let caps = try #require(tap.buffers.first?.caps.first)
      #expect(caps.int("width") == 1920 && caps.int("height") == 540)
    }
  }

  @Test(
    "an eye has its projection's aspect ratio by default",
    arguments: [
      ("equirectangular", "", 1920, 480), ("half-equirectangular", "", 1920, 960),
      ("fisheye", ",multiview-mode=top-bottom", 960, 1920),
      ("equirectangular", ",multiview-mode=left,width=600", 600, 300),
    ])
  func shapes(projection: String, caps: String, width: Int, height: Int) async throws {
    let frames = try await record(
      "stereotestsrc num-buffers=1 projection=\(projection) ! video/x-raw\(caps) ! "
        + "fakesink name=sink")[0]
    let found = try #require(frames.first?.caps.first)
    #expect(found.int("width") == width && found.int("height") == height)
  }

  @Test("sizes that hold no eyes and projections without a scene are refused with a reason")
  func refused() async throws {
    for (properties, caps, reason) in [
      ("projection=fisheye", "width=33,height=16", "does not hold eyes"),
      ("projection=equirectangular", "width=16,height=16", "does not hold eyes"),
    ] {
      let failure = try await failure(
        of: "stereotestsrc \(properties) ! video/x-raw,\(caps) ! fakesink")
      #expect(failure.message.contains(reason), "\(failure.message)")
    }
  }

  @Test("a seek gives the same bytes as playing")
  func seek() async throws {
    let description =
      "stereotestsrc num-buffers=40 projection=half-equirectangular ! "
      + "video/x-raw,format=BGRx,width=96,height=48 ! fakesink name=sink sync=false"
    let played = try await record(description)[0]
    let pipeline = try pipeline(description)
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    tap.forget()
    gst_element_seek_simple(
      pipeline.pointer, GST_FORMAT_TIME,
      GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue), 1_000_000_000)
    #expect(pipeline.waitForState())
    let sought = try #require(tap.buffers.first)
    #expect(sought.buffer.offset == 30)
    let isSame = try sought.pixels() == played[30].pixels()
    #expect(isSame)
    let isOther = try sought.pixels() != played[29].pixels()
    #expect(isOther)
    pipeline.setState(.null)
  }
}

enum StereoTestSourceModes {
  static let formats = [
    "I420", "NV12", "I420_10LE", "RGB", "BGR", "RGBx", "BGRx", "xRGB", "xBGR",
  ]
  static let modes = ["side-by-side", "top-bottom", "frame-by-frame", "left", "right"]
}
