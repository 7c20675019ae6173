// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Packager
import StereoVideo
import Testing

/// The renditions between which players of DASH switch, and those that they leave alone.
struct AdaptationSetTests {
  @Test("renditions of other codings, rates, ranges, projections and eyes are other sets")
  func videoSets() {
    var coding = representation("coding", stereo: false)
    coding.codecs = "avc1.640020"
    let text = manifest(
      representation("one", stereo: false), representation("size", stereo: false, 320, 180),
      representation("rate", stereo: false) { $0.frameRate = FrameRate(60) },
      representation("same rate", stereo: false) { $0.frameRate = FrameRate(60, 2) },
      representation("range", stereo: false) { $0.range = .perceptualQuantizer },
      representation("projection", stereo: false) {
        $0.layout = RenditionLayout(isStereo: false, projection: .equirectangular)
      },
      representation("eyes", stereo: true), coding)
    #expect(
      adaptationSets(of: text).map(\.ids) == [
        ["one", "size", "same rate"], ["rate"], ["range"], ["projection"], ["eyes"], ["coding"],
      ])
  }

  @Test("audio of one language, coding, number of channels and title is one set")
  func audioSets() {
    let text = manifest(
      representation("a", title: "Main"), representation("b", title: "Main", isDefault: true),
      representation("c", title: "Commentary"), representation("d", language: "de", title: "Main"),
      representation("e", title: "Main", channels: 6),
      representation("f", title: "Main", codecs: "ac-3"), representation("g"),
      representation("h"))
    let found = adaptationSets(of: text)
    #expect(
      found.map(\.ids) == [["a", "b"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"]])
    #expect(
      found.map { $0.text.contains("value=\"main\"") } == [true]
        + [Bool](repeating: false, count: 6))
    #expect(found[1].text.contains("<Label>Commentary</Label>"))
    #expect(!found[5].text.contains("<Label>"))
  }

  @Test("both eyes are left alone by players without layers only if there is one eye")
  func layers() throws {
    let property = " schemeIdUri=\"urn:mpeg:dash:stereoid:2011\" value=\"l0 r0\"/>"
    let both = adaptationSets(of: manifest(representation("v", stereo: true)))
    #expect(both[0].text.contains("<SupplementalProperty" + property))
    let choice = adaptationSets(
      of:
        manifest(representation("v", stereo: true), representation("m", stereo: false)))
    #expect(choice[0].text.contains("<EssentialProperty" + property))
    #expect(!choice[1].text.contains("Property"))
    // One eye that has not come yet is no choice.
    var silent = representation("m", stereo: false)
    silent.segments = []
    let alone = adaptationSets(of: manifest(representation("v", stereo: true), silent))
    #expect(alone[0].text.contains("<SupplementalProperty" + property))
  }

  /// The kinds of sets, and whether each is essential.
  struct Range {
    var sets: [(isStereo: Bool, isHigh: Bool)]
    var essential: [Bool]
  }

  private static let ranges = [
    Range(sets: [(false, true)], essential: [false]),
    Range(sets: [(false, true), (false, false)], essential: [true, false]),
    Range(sets: [(true, true), (false, true)], essential: [true, false]),
    Range(sets: [(true, true), (true, false)], essential: [true, false]),
    Range(sets: [(true, false), (false, true)], essential: [true, false]),
    Range(sets: [(true, true), (false, true), (false, false)], essential: [true, true, false]),
  ]

  @Test("a high dynamic range is left alone only if a standard one is not", arguments: ranges)
  func range(_ row: Range) {
    let sets = row.sets
    let text = manifest(
      of: sets.enumerated().map { index, set in
        representation("\(index)", stereo: set.isStereo) {
          $0.range = set.isHigh ? .perceptualQuantizer : .standard
          $0.colour = set.isHigh ? .rec2020PQ : .rec709
        }
      })
    let found = adaptationSets(of: text).map(\.text)
    #expect(found.map { $0.contains("Essential") } == row.essential)
    for (set, text) in zip(sets, found) {
      let value = set.isHigh ? 16 : 1
      #expect(text.contains("cicp:TransferCharacteristics\" value=\"\(value)\""), "\(text)")
    }
  }

  @Test("colours are named where all renditions agree on them")
  func colour() {
    let rec601 = ColourInformation(
      primaries: 6, transferCharacteristics: 1, matrixCoefficients: 2)
    let text = manifest(
      representation("v", stereo: false) { $0.colour = .rec709 },
      representation("w", stereo: false) { $0.colour = rec601 })
    #expect(text.contains("cicp:TransferCharacteristics\" value=\"1\""))
    #expect(!text.contains("ColourPrimaries") && !text.contains("MatrixCoefficients"))
    let partly = manifest(
      representation("v", stereo: false) { $0.colour = .rec709 }, representation("w", stereo: false)
    )
    #expect(!partly.contains("cicp"))
    let unspecified = manifest(representation("v", stereo: false) { $0.colour = rec601 })
    #expect(unspecified.contains("cicp:ColourPrimaries\" value=\"6\""))
    #expect(!unspecified.contains("MatrixCoefficients"))
  }

  /// Sizes of pictures, with the widths of their pixels, and their shape.
  struct Shape {
    var sizes: [(width: Int, height: Int, pixel: UInt32)]
    var ratio: String?
  }

  private static let shapes = [
    Shape(sizes: [(1920, 1080, 1), (854, 480, 1), (426, 240, 1)], ratio: "16:9"),
    Shape(sizes: [(720, 576, 2)], ratio: "5:2"),
    Shape(sizes: [(1440, 1080, 2), (960, 360, 1)], ratio: "8:3"),
    Shape(sizes: [(1920, 1080, 1), (640, 480, 1)], ratio: nil),
  ]

  @Test("sets have a shape if all pictures have it, but for rounding", arguments: shapes)
  func shape(_ row: Shape) {
    let sizes = row.sizes
    let text = manifest(
      of: sizes.enumerated().map { index, size in
        representation("\(index)", stereo: false, size.width, size.height) {
          $0.pixelAspectRatio = PixelAspectRatio(
            horizontalSpacing: size.pixel * 2, verticalSpacing: 2)
        }
      })
    #expect(text.firstMatch(of: /par="([^"]*)"/).map { String($0.1) } == row.ratio)
    #expect(text.contains("sar=\"\(sizes[0].pixel):1\""))
  }

  @Test("segments that begin with leading pictures promise no more than they hold")
  func promise() {
    var video = representation("v", stereo: false)
    video.segments[1].hasLeadingPictures = true
    let text = manifest(video, representation("w", stereo: false))
    #expect(text.contains("startWithSAP=\"3\"") && !text.contains("startWithSAP=\"1\""))
  }

  // MARK: Of the packager

  /// A ladder of two sizes, each of both eyes and of one, with audio.
  private func ladder(_ settings: PackagerSettings, date: Int64? = nil) throws -> Disk {
    let frames = pictures(165)
    return try packaged(
      settings, date: date,
      ["video_0", "video_1"].flatMap {
        [(video($0), frames), (video($0 + "_mono", isStereo: false), frames)]
      } + [(audio("audio_0"), packets(258))])
  }

  @Test("the renditions of a ladder are alternatives with the same segments")
  func alternatives() throws {
    var settings = PackagerSettings(.onDemand, target: 2)
    settings.names.manifest = "all.mpd"
    let found = adaptationSets(of: try ladder(settings).text("all.mpd"))
    #expect(
      found.map(\.ids) == [
        ["video_0", "video_1"], ["video_0_mono", "video_1_mono"], ["audio_0"],
      ])
    for set in found.prefix(2) {
      let timelines = set.text.matches(of: /startNumber="\d+"|<S [^>]*>/).map { String($0.0) }
      #expect(timelines.count == 6 && timelines.prefix(3) == timelines.suffix(3))
      #expect(set.text.contains("startWithSAP=\"1\""))
    }
    #expect(found[2].text.contains("<Label>English</Label>"))
  }

  @Test("keyframes with leading pictures are found, also in parts", arguments: [0, 500_000_000])
  func leadingPictures(partDuration: UInt64) throws {
    // Of each keyframe but the first, the next picture in decoding order is shown before it.
    let frames = pictures(120).enumerated().map { index, sample in
      var sample = sample
      let place = index % 30
      let shown = place > 1 ? index : place == 0 ? index + 1 : index - 1
      if index >= 30 { sample.presentationTime = Int64(shown) * second / 30 }
      return sample
    }
    for (frames, type) in [(frames, 3), (pictures(120), 1)] {
      var settings = PackagerSettings(.onDemand, target: 1)
      settings.names.manifest = "all.mpd"
      settings.partDuration = partDuration
      let disk = try packaged(settings, [(video("v", iFrames: true), frames)])
      #expect(try disk.text("all.mpd").contains("startWithSAP=\"\(type)\""))
    }
  }

  @Test("parts do not make the manifest promise more than whole segments")
  func parts() throws {
    var settings = PackagerSettings(.live, target: 2)
    settings.names.manifest = "live/all 1.mpd"
    settings.partDuration = 500_000_000
    settings.hasEnd = false
    let text = try ladder(settings, date: 0).text("live/all 1.mpd")
    #expect(!text.contains("availabilityTime"))
    #expect(text.contains("suggestedPresentationDelay=\"PT6.000S\""))
    #expect(text.contains("http-head:2014\" value=\"all%201.mpd\""))
  }

  @Test("players wait longer if keyframes are further apart than segments are to be")
  func delay() throws {
    var settings = PackagerSettings(.live, target: 1)
    settings.names.manifest = "all.mpd"
    settings.hasEnd = false
    settings.playlistLength = 0
    let disk = try packaged(
      settings, date: 0, [(video("v"), pictures(270, gop: 90))])
    #expect(try disk.text("all.mpd").contains("<Latency min=\"6000\" target=\"9000\"/>"))
    settings.playlistLength = 2
    let short = try packaged(settings, date: 0, [(video("v"), pictures(270))])
    #expect(try short.text("all.mpd").contains("<Latency min=\"1333\" target=\"2000\"/>"))
  }
}
