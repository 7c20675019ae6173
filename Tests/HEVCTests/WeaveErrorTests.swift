// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import Testing

@Suite("Weaving refuses") struct WeaveErrorTests {
  /// Weaves access units one after another; gives the error of the first that fails.
  static func error(
    _ pairs: (left: AccessUnit, right: AccessUnit)..., baseEye: Eye = .left
  ) -> WeaveError? {
    var weaver = Weaver(baseEye: baseEye)
    for (left, right) in pairs {
      do throws(WeaveError) {
        _ = try weaver.weave(
          left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
          right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
      } catch {
        return error
      }
    }
    return nil
  }

  let left = Result { try Stream.main8.accessUnits(.left) }
  let right = Result { try Stream.main8.accessUnits(.right) }

  @Test("a missing partner, naming the eye", arguments: Eye.allCases)
  func missingPartner(eye: Eye) throws {
    let empty = AccessUnit(bytes: [], nalUnits: [])
    let there = try left.get()[0]
    let error = Self.error((eye == .left ? empty : there, eye == .left ? there : empty))
    #expect(error == .missingPartner(eye))
    #expect(error?.description.contains("\(eye) eye has no picture") == true)
  }

  @Test("two pictures in one access unit")
  func severalPictures() throws {
    let units = try right.get()
    let bytes = units[0].bytes + units[1].bytes
    let both = AccessUnit(bytes: bytes, nalUnits: AnnexB.nalUnits(in: bytes.span.bytes))
    #expect(Self.error((try left.get()[0], both)) == .severalPictures(.right, count: 2))
  }

  @Test("a stream that is layered already")
  func layered() throws {
    let woven = try accessUnits(of: weave(left.get(), right.get()))
    #expect(Self.error((woven[0], try right.get()[0])) == .alreadyLayered(.left, layerID: 1))
  }

  @Test("different sizes, coded or visible")
  func sizes() throws {
    let other = try Stream.slices.accessUnits(.right)[0]
    guard case .differentSizes(let one, let two)? = Self.error((try left.get()[0], other)) else {
      Issue.record("not refused as differentSizes")
      return
    }
    #expect((one.width, one.height) == (96, 64))
    #expect((two.width, two.height) == (160, 96))
    guard
      case .differentSizes? = Self.error(
        (try Still.plain.accessUnit(), try Still.window.accessUnit()))
    else {
      Issue.record("a different conformance window is not refused")
      return
    }
  }

  @Test("different chroma formats")
  func chroma() throws {
    let error = Self.error((try Still.plain.accessUnit(), try Still.chroma422.accessUnit()))
    #expect(error == .differentChromaFormats(left: 1, right: 2))
  }

  @Test("different bit depths")
  func depths() throws {
    let other = try Stream.main10.accessUnits(.right)[0]
    #expect(Self.error((try left.get()[0], other)) == .differentBitDepths(left: 8, right: 10))
  }

  @Test("a format without a multiview profile")
  func format() throws {
    let unit = try Still.chroma422.accessUnit()
    #expect(Self.error((unit, unit)) == .unsupportedFormat(chromaFormatIDC: 2, bitDepth: 8))
  }

  @Test("a random access picture of one eye only")
  func randomAccess() throws {
    let (left, right) = (try left.get(), try right.get())
    let error = Self.error((left[0], right[0]), (left[1], right[6]))
    #expect(error == .unpairedRandomAccess(left: .trailR, right: .idrNLP))
  }

  @Test("different picture order counts")
  func order() throws {
    let (left, right) = (try left.get(), try right.get())
    let error = Self.error((left[0], right[0]), (left[1], right[2]))
    #expect(error == .differentPictureOrderCounts(left: 4, right: 2))
  }

  @Test("a picture that only one eye skips after a random access")
  func types() throws {
    let (left, right) = (
      try Stream.main10.accessUnits(.left), try Stream.main10.accessUnits(.right)
    )
    let leading = try #require(left.firstIndex { Self.sliceTypes($0) == [.raslN] })
    var other = right[leading]
    for slice in other.nalUnits where other.bytes[slice.lowerBound] >> 1 == 8 {
      other.bytes[slice.lowerBound] = 0
    }
    var weaver = Weaver(baseEye: .left)
    func weave(_ left: AccessUnit, _ right: AccessUnit) throws(WeaveError) -> WovenAccessUnit {
      try weaver.weave(
        left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
        right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
    }
    for index in 0..<leading { _ = try weave(left[index], right[index]) }
    #expect(throws: WeaveError.differentFrameTypes(left: .raslN, right: .trailN)) {
      try weave(left[leading], other)
    }
  }

  private static func sliceTypes(_ unit: AccessUnit) -> Set<NALUnitType> {
    Set(unit.nalUnits.map { NALUnitType(rawValue: unit.bytes[$0.lowerBound] >> 1) }.filter(\.isVCL))
  }

  @Test("different sizes of picture order counts")
  func orderSizes() throws {
    let error = Self.error((try Still.plain.accessUnit(), try Still.poclsb.accessUnit()))
    #expect(error == .differentPictureOrderCountSizes(left: 8, right: 6))
  }

  @Test("different temporal sub-layers")
  func subLayers() throws {
    let error = Self.error((try Still.plain.accessUnit(), try Still.sublayers.accessUnit()))
    #expect(error == .differentTemporalSubLayers(left: 1, right: 2))
  }

  @Test("slices without their parameter sets, naming eye and set")
  func parameterSets() throws {
    let (left, right) = (try left.get(), try right.get())
    #expect(Self.error((left[1], right[1])) == .missingParameterSet(.left, "PPS 0"))
    #expect(Self.error((left[0], right[1])) == .missingParameterSet(.right, "PPS 0"))
  }

  @Test("a NAL unit range outside the data")
  func range() throws {
    var unit = try left.get()[0]
    unit.nalUnits.append(0..<unit.bytes.count + 1)
    #expect(Self.error((unit, try right.get()[0])) == .rangeOutsideData(.left))
  }

  @Test("a pair, and its new parameter sets are in the stream all the same")
  func setsOfRefusedPair() throws {
    let (left, right) = (try Still.plain.accessUnits(), try Still.pair.accessUnits())
    var weaver = Weaver(baseEye: .left)
    func weave(_ left: AccessUnit, _ right: AccessUnit) throws(WeaveError) -> WovenAccessUnit {
      try weaver.weave(
        left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
        right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
    }
    #expect(try weave(left[0], right[0]).parameterSetsChanged)
    let other = try Still.window.accessUnit()
    #expect(throws: WeaveError.self) { _ = try weave(other, right[0]) }
    let slice = try #require(other.nalUnits.last)
    let bare = AccessUnit(bytes: other.bytes, nalUnits: [slice])
    let woven = try weave(bare, other)
    #expect(woven.parameterSetsChanged)
    let record = try HEVCDecoderConfigurationRecord(woven.parameterSets)
    let sps = try #require(record.arrays.first { $0.type == .sequenceParameterSet }?.nalUnits.first)
    #expect(try SequenceParameterSet(nalUnit: sps).visibleSize == (60, 48))
  }

  @Test("no more pictures until both eyes are at the next IDR picture")
  func recovery() throws {
    let (left, right) = (try left.get(), try right.get())
    var weaver = Weaver(baseEye: .left)
    func weave(_ l: Int, _ r: Int) throws(WeaveError) -> WovenAccessUnit {
      let (left, right) = (left[l], right[r])
      return try weaver.weave(
        left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
        right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
    }
    _ = try weave(0, 0)
    #expect(throws: WeaveError.self) { _ = try weave(1, 2) }
    #expect(try weave(6, 6).type.isIDR)
    #expect(try weave(7, 7).pictureOrderCount == 4)
  }
}
