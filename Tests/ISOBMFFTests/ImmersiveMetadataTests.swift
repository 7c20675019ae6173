// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

/// Spherical metadata of Apple and of Google, and what one says in the words of the other.
struct ImmersiveMetadataTests {
  private func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }

  private func entry(_ boxes: [OpaqueBox]) -> VisualSampleEntry {
    var entry = VisualSampleEntry(codec: "hvc1", width: 3840, height: 1920)
    entry.add(boxes)
    return entry
  }

  private let front180 = ImmersiveMetadata(
    .known(.equirectangular(.frontHalf)), packing: PackingLayout(.sideBySide))

  // Made with Google's injector.
  private var injected: [OpaqueBox] {
    OpaqueBox.all(
      in: bytes(
        """
        0000000d 73743364 00000000 02
        00000068 73763364
        00000024 73766864 00000000 53706865726963616c204d6574616461746120546f6f6c00
        0000003c 70726f6a
        00000018 70726864 00000000 00000000 00000000 00000000
        0000001c 65717569 00000000 00000000 00000000 40000000 40000000
        """))
  }

  @Test("Google's injector's boxes are read, and written byte for byte")
  func injectedBoxes() throws {
    let entry = entry(injected)
    let video = try #require(entry.sphericalVideo)
    #expect(video.immersiveMetadata(entry.stereoscopicMode) == front180)
    let made = SphericalVideo.make(front180, metadataSource: "Spherical Metadata Tool")
    #expect(made.losses.isEmpty && made.stereo == .leftRight)
    #expect(try #require(made.video).payload == injected[1].payload)
  }

  @Test("180 degrees by Spherical Video V2, by V1 and by vexu are the same, and nothing is lost")
  func sameInAll() throws {
    let apple = VideoExtendedUsage.make(front180, pair: SpatialMetadata())
    #expect(apple.losses.isEmpty)
    let usage = try VideoExtendedUsage(payload: try #require(apple.box).payload)
    #expect(usage.immersiveMetadata(width: 1920, height: 1920) == front180)
    #expect(usage.metadata.projection == .halfEquirectangular)
    let text = SphericalVideoV1.make(front180, width: 1920, height: 1920, software: "a < b & c")
    #expect(text.losses.isEmpty)
    let written = try #require(text.box)
    let read = try #require(SphericalVideoV1([written.box]))
    #expect(read == written)
    #expect(read.immersiveMetadata == front180)
    #expect(read.values["CroppedAreaLeftPixels"] == "960")
    #expect(read.values["FullPanoWidthPixels"] == "3840")
    #expect(read.values["StitchingSoftware"] == "a &lt; b &amp; c")
  }

  @Test("a whole sphere for one eye has no box for stereo")
  func mono() throws {
    let whole = ImmersiveMetadata(.known(.equirectangular(.full)))
    let made = VideoExtendedUsage.make(whole, pair: nil)
    #expect(made.losses.isEmpty)
    #expect(
      try #require(made.box).payload
        == bytes("00000018 70726f6a 00000010 70726a69 00000000 65717569"))
    let reread = try VideoExtendedUsage(payload: try #require(made.box).payload)
    #expect(reread.immersiveMetadata(width: 10, height: 5) == whole)
    #expect(reread.views == nil)
    // Telling it what it says already changes nothing, and gives it no eyes.
    #expect(
      reread.updated(with: SpatialMetadata(projection: .equirectangular), packing: nil) == reread)
    let flat = reread.updated(with: SpatialMetadata(projection: .rectilinear), packing: nil)
    #expect(OpaqueBox.all(in: flat.payload).map(\.type) == ["proj"])
  }

  @Test("parts of the sphere that Apple has no name for stay with Google, and are named as lost")
  func oddBounds() throws {
    let bounds = SphereBounds(top: 1 << 28, bottom: 1 << 28, left: 1 << 30, right: 1 << 30)
    let pose = SphereOrientation(yaw: 12.5, pitch: -3, roll: 0.25)
    let odd = ImmersiveMetadata(.known(.equirectangular(bounds)), pose: pose)
    let google = SphericalVideo.make(odd, metadataSource: "")
    #expect(google.losses.isEmpty)
    let again = entry([OpaqueBox("sv3d", payload: try #require(google.video).payload)])
    #expect(again.sphericalVideo?.immersiveMetadata(google.stereo) == odd)
    let apple = VideoExtendedUsage.make(odd, pair: nil)
    #expect(apple.box == nil)
    #expect(apple.losses == [.pose(pose), .bounds(bounds)])
    #expect("\(apple.losses[1])".contains("25.0%") && "\(apple.losses[1])".contains("6.3%"))
    let text = SphericalVideoV1.make(odd, width: 1920, height: 1680, software: "")
    #expect(text.losses == [.pose(pose)])
    #expect(text.box?.bounds.isNear(bounds) == true)
  }

  @Test("half a sphere is recognised within the rounding of pixel counts")
  func nearBounds() {
    let near = SphereBounds(left: (1 << 30) - 500_000, right: (1 << 30) + 500_000)
    #expect(ImmersiveProjection.known(.equirectangular(near)).kind == .halfEquirectangular)
    let far = SphereBounds(left: (1 << 30) - (1 << 22), right: 1 << 30)
    #expect(ImmersiveProjection.known(.equirectangular(far)).kind == nil)
  }

  @Test("only Google has cubes and meshes; only Apple has the right eye on top")
  func others() throws {
    let cube = ImmersiveMetadata(.known(.cubemap(.sphericalVideo, padding: 4)))
    let made = SphericalVideo.make(cube, metadataSource: "x")
    let again = entry([OpaqueBox("sv3d", payload: try #require(made.video).payload)])
    #expect(again.sphericalVideo?.immersiveMetadata(nil) == cube)
    #expect(VideoExtendedUsage.make(cube, pair: nil).losses == [.projection(cube.projection)])
    #expect(VideoExtendedUsage.make(ImmersiveMetadata(.mesh), pair: nil).box == nil)
    let reversed = PackingLayout(.topBottom, rightViewFirst: true)
    let whole = ImmersiveMetadata(.known(.equirectangular(.full)), packing: reversed)
    #expect(SphericalVideo.make(whole, metadataSource: "").losses == [.packing(reversed)])
    let apple = VideoExtendedUsage.make(whole, pair: SpatialMetadata())
    #expect(apple.losses.isEmpty && apple.box?.packing == reversed)
  }

  @Test("the text of V1 is read as programs write it")
  func text() throws {
    func read(_ text: String) -> SphericalVideoV1? { SphericalVideoV1(text: Array(text.utf8)) }
    let loose = try #require(
      read(
        """
        <?xml version="1.0"?><rdf:SphericalVideo>
          <GSpherical:Spherical> True\t</GSpherical:Spherical><GSpherical:Stitched/>
          <GSpherical:ProjectionType>Equirectangular</GSpherical:ProjectionType>
          <GSpherical:StereoMode>top-bottom</GSpherical:StereoMode>
          <GSpherical:InitialViewHeadingDegrees>-90</GSpherical:InitialViewHeadingDegrees>
        </rdf:SphericalVideo>\0\0\0<GSpherical:StereoMode>mono</GSpherical:StereoMode>
        """))
    #expect(
      loose.immersiveMetadata
        == ImmersiveMetadata(
          .known(.equirectangular(.full)), initialView: SphereOrientation(yaw: -90),
          packing: PackingLayout(.topBottom)))
    #expect(loose.text.count == SphericalVideoV1(text: loose.text)?.text.count)
    let impossible = try #require(
      read(
        "<GSpherical:Spherical>true</GSpherical:Spherical>"
          + "<GSpherical:FullPanoWidthPixels>0</GSpherical:FullPanoWidthPixels>"
          + "<GSpherical:FullPanoHeightPixels>nan</GSpherical:FullPanoHeightPixels>"
          + "<GSpherical:InitialViewPitchDegrees>1e999</GSpherical:InitialViewPitchDegrees>"))
    #expect(impossible.bounds == .full)
    #expect(impossible.immersiveMetadata?.initialView == .front)
    #expect(read("<GSpherical:Spherical>false</GSpherical:Spherical>") == nil)
    #expect(read("<GSpherical:Spherical>true") != nil)
    #expect(read("<GSpherical:") == nil && read("") == nil)
    let wide = "<GSpherical:Spherical>true</GSpherical:Spherical>".utf16.flatMap {
      [UInt8($0 & 255), UInt8($0 >> 8)]
    }
    #expect(SphericalVideoV1(text: [0xFF, 0xFE] + wide) == nil)
    #expect(read(String(repeating: "<GSpherical:Spherical>true", count: 400_000)) == nil)
    // Fractions of a degree have no place in it.
    let view = SphereOrientation(yaw: 10.5, pitch: 5)
    let made = SphericalVideoV1.make(
      ImmersiveMetadata(.known(.equirectangular(.full)), initialView: view), width: 2, height: 1,
      software: "")
    #expect(made.losses == [.initialViewFraction(view)])
  }
}
