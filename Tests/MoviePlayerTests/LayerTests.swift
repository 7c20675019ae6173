// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import HEVC
import ISOBMFF
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// Streams whose layers are not simply two eyes, or do not say which eye is which.
struct LayerTests {
  /// What a changed stream is called, what changes it, and what is to come of it.
  struct Variant: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let baseEye: Eye
    let name: String
    let isMono: Bool
    let warning: String
    var hasThirdLayer = false
    let change: @Sendable (inout VideoParameterSet) -> Void
  }

  private static let variants = [
    Variant(
      testDescription: "an alpha layer", baseEye: .right, name: "left", isMono: true,
      warning: "left out: alpha"
    ) { $0.distinguishLayers(by: 3) },
    Variant(
      testDescription: "a depth layer beside two eyes", baseEye: .right, name: "right",
      isMono: false, warning: "left out: depth", hasThirdLayer: true
    ) { vps in
      vps.addLayer(viewOrderIndex: 0)
      vps.multilayer?.scalabilityMask = 1 << 1 | 1 << 3
      vps.multilayer?.layers[2].scalabilityIDs[3] = 2
    },
    Variant(
      testDescription: "three views", baseEye: .left, name: "left", isMono: false,
      warning: "3 layers", hasThirdLayer: true
    ) { $0.addLayer(viewOrderIndex: 2) },
    Variant(
      testDescription: "a second layer of the same view", baseEye: .left, name: "left",
      isMono: true, warning: "scalable"
    ) { $0.distinguishLayers(by: 2) },
  ]

  private static let deliveries = [Delivery.read, .pushed(upTo: 1000)]

  @Test(
    "other layers than two eyes are read as the base layer, with a warning",
    arguments: variants, deliveries)
  func baseOnly(variant: Variant, delivery: Delivery) throws {
    let plain = try Session.play(try WovenMovie(baseEye: variant.baseEye).bytes(), .read)
    let expected = plain[variant.baseEye.rawValue]
    var movie = WovenMovie(baseEye: variant.baseEye)
    movie.changeEntry = { try $0.changeVPS { variant.change(&$0) } }
    movie.changeSample = { sample, _ in
      if variant.hasThirdLayer { try VideoParameterSet.addThirdLayer(to: &sample) }
    }
    let bytes = try movie.bytes()
    let recording = try Session.play(bytes, delivery)
    #expect(recording.names == [variant.name, "video_0"] && recording.end == .endOfStream)
    #expect(recording.warnings.map(\.kind) == [.layers])
    let message = try #require(recording.warnings.first?.message)
    #expect(message.contains(variant.warning))
    let eye = recording[variant.name]
    #expect(eye.samples.map(\.line) == expected.samples.map(\.line))
    guard case .eye(let format)? = eye.format, case .eye(let whole)? = expected.format else {
      throw Failure("no format of an eye")
    }
    #expect(format.isMono == variant.isMono)
    #expect(
      format.parameterSets.sequenceParameterSets == whole.parameterSets.sequenceParameterSets)
    #expect(format.parameterSets.pictureParameterSets == whole.parameterSets.pictureParameterSets)
    // The samples as they are, all layers of them.
    let file = try MovieFile(bytes: bytes)
    #expect(recording["video_0"].contents == (try file.samples("vide")))
    guard case .samples(let samples)? = recording["video_0"].format,
      case .video(let entry) = samples.entry
    else { throw Failure("no format of video") }
    #expect(try entry.configuration == file.videoEntry().configuration)
    // The same without a container.
    let stream = try #require(SeedMovie(bytes)).byteStream
    let elementary = try Session.play(stream, delivery)
    #expect(elementary.warnings.map(\.message) == [message])
    #expect(
      elementary[variant.name].contents.prefix(12).map(Self.slices)
        == expected.contents.prefix(12).map(Self.slices))
  }

  @Test(
    "without 3D reference displays information, the base eye is the left one, with a warning",
    arguments: deliveries)
  func guess(delivery: Delivery) throws {
    let plain = try Session.play(try WovenMovie(baseEye: .right).bytes(), .read)
    var movie = WovenMovie(baseEye: .right)
    movie.changeEntry = { try $0.removeMessages() }
    let recording = try Session.play(try movie.bytes(), delivery)
    #expect(recording.names == ["left", "right", "video_0"])
    #expect(recording.warnings.map(\.kind) == [.layers])
    #expect(recording.warnings.first?.message.contains("taken for the left eye") == true)
    #expect(recording["left"].samples.map(\.line) == plain["right"].samples.map(\.line))
    #expect(recording["right"].samples.map(\.line) == plain["left"].samples.map(\.line))
  }

  @Test(
    "3D reference displays information also counts in the samples",
    arguments: [false, true], deliveries)
  func messageInBand(isRepeated: Bool, delivery: Delivery) throws {
    var movie = WovenMovie(baseEye: .right)
    let plain = try Session.play(try movie.bytes(), .read)
    let record = try HEVCDecoderConfigurationRecord(
      bytes: try WovenStream(baseEye: .right).records.base)
    let message = try #require(record.arrays.first { $0.type == .prefixSEI }?.nalUnits.first)
    movie.changeEntry = { try $0.removeMessages() }
    movie.changeSample = { sample, number in
      guard number == 0 || isRepeated else { return }
      sample = big(UInt32(message.count)) + message + sample
    }
    let recording = try Session.play(try movie.bytes(), delivery)
    #expect(recording.warnings.isEmpty)
    for eye in ["left", "right"] {
      let (some, all) = (recording[eye], plain[eye])
      #expect(some.contents.map(Self.slices) == all.contents.map(Self.slices), "\(eye)")
      #expect(some.samples.map(\.presentationTime) == all.samples.map(\.presentationTime))
    }
  }

  /// The pictures of an access unit with length prefixes, without messages.
  private static func slices(_ sample: [UInt8]) -> [[UInt8]] {
    let units = (try? LengthPrefixed.nalUnits(in: sample.span.bytes)) ?? []
    return units.map { Array(sample[$0]) }.filter {
      NALUnitHeader($0.span.bytes)?.type.isVCL == true
    }
  }
}
