// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import StereoVideo
import Testing

/// Caps, structures, tags, segments and times: what goes in comes out.
struct ValueTests {
  init() { initialize() }

  @Test("each kind of value can be read from caps as it was set")
  func roundTrip() throws {
    let caps = Caps(
      "video/x-test",
      [
        "bool": true, "int": -7, "uint": .uint(.max), "int64": .int64(.min),
        "uint64": .uint64(.max), "double": .double(0.1), "string": "höhe",
        "fraction": .fraction(Fraction(30000, 1001)), "range": .intRange(-1...(.max)),
        "list": .strings(["a", "b"]), "array": .array([1, 2]),
        "buffer": .buffer(Buffer([1, 2, 3])),
      ])
    let structure = try #require(caps.first)
    #expect(structure.name == "video/x-test")
    #expect(structure.bool("bool") == true)
    #expect(structure.int("int") == -7)
    #expect(structure.int("uint") == Int(UInt32.max))
    #expect(structure.int("int64") == Int.min)
    #expect(structure.int("uint64") == nil)
    guard case .uint64(.max) = structure["uint64"] else {
      Issue.record("uint64")
      return
    }
    #expect(structure.double("double") == 0.1)
    #expect(structure.string("string") == "höhe")
    #expect(structure.fraction("fraction") == Fraction(30000, 1001))
    guard case .intRange(let range) = structure["range"] else {
      Issue.record("range")
      return
    }
    #expect(range == -1...(.max))
    guard case .list(let list) = structure["list"], case .array(let array) = structure["array"]
    else {
      Issue.record("list or array")
      return
    }
    #expect(list.count == 2)
    #expect(array.count == 2)
    #expect(structure.buffer("buffer")?.bytes == [1, 2, 3])
    #expect(structure["absent"] == nil)
    #expect(structure.string("int") == nil)
    #expect(structure.allFields.map(\.key).count == 12)
  }

  @Test("a structure lives as long as the view of it, whatever it was taken from")
  func views() throws {
    func temporary() -> StructureView? {
      Caps("video/x-test", ["text": .string(String(repeating: "x", count: 100))]).first
    }
    let views = (0..<100).compactMap { _ in temporary() }
    for view in views { #expect(view.string("text")?.count == 100) }
  }

  @Test("text that is no caps gives nil; text that is gives the same caps")
  func parsing() throws {
    #expect(Caps(parsing: "video/x-raw, width=(") == nil)
    let caps = try #require(Caps(parsing: "video/x-raw,width=[1,5];audio/x-raw"))
    #expect(caps.structures.map(\.name) == ["video/x-raw", "audio/x-raw"])
    #expect(try #require(Caps(parsing: caps.description)).isEqual(to: caps))
    #expect(!caps.isFixed)
    #expect(Caps.any.isAny)
    #expect(Caps.empty.isEmpty)
    #expect(Caps.any.first == nil)
  }

  @Test("fixating takes the nearest value, and sets a field that is missing")
  func fixating() throws {
    let caps = try #require(Caps(parsing: "video/x-raw,width=[100,200],format={A,B}"))
    let fixed = caps.fixating("width", .int(500)).fixating("format", "B")
      .fixating("framerate", .fraction(Fraction(25, 1))).fixated()
    let structure = try #require(fixed.first)
    #expect(structure.int("width") == 200)
    #expect(structure.string("format") == "B")
    #expect(structure.fraction("framerate") == Fraction(25, 1))
    #expect(fixed.isFixed)
    #expect(caps.first?.has("framerate") == false)
    #expect(Caps.empty.fixating("width", 1).isEmpty)
    #expect(Caps.any.fixated().isAny)
  }

  @Test("changing fields makes new caps; the old ones stay")
  func changing() throws {
    let caps = try #require(Caps(parsing: "video/x-raw,width=1;video/x-h265,width=2"))
    let changed = caps.with(["height": 3], removing: ["width"])
    for structure in changed.structures {
      #expect(!structure.has("width"))
      #expect(structure.int("height") == 3)
    }
    #expect(caps.first?.int("width") == 1)
    #expect(caps.isSubset(of: .any))
    #expect(!caps.canIntersect(changed.with(["width": 9])))
  }

  @Test("flags of caps are read by name")
  func flagNames() throws {
    let caps = try #require(
      Caps(parsing: "video/x-raw,f=(GstVideoMultiviewFlagsSet)4001:ffffffff"))
    #expect(caps.first?.flagNames("f").sorted() == ["half-aspect", "right-view-first"])
    #expect(caps.first?.flagNames("g") == [])
  }

  @Test("tags are set, read, merged and scoped")
  func tags() throws {
    let tags = TagList()
    #expect(tags.isEmpty)
    tags.set(GST_TAG_TITLE, "Boats")
    tags.set(GST_TAG_TITLE, "Ships")
    TagDeclaration("gst-spatial-test", .double, nick: "test", blurb: "a number for tests")
      .register()
    TagDeclaration("gst-spatial-test", .string, nick: "again", blurb: "a second registration")
      .register()
    tags.set("gst-spatial-test", .double(1.5))
    #expect(tags.string(GST_TAG_TITLE) == "Ships")
    #expect(tags.double("gst-spatial-test") == 1.5)
    #expect(tags.string("gst-spatial-test") == nil)
    let other = TagList()
    other.set(GST_TAG_TITLE, "Trains")
    #expect(tags.merging(other).string(GST_TAG_TITLE) == "Trains")
    #expect(other.merging(tags).string(GST_TAG_TITLE) == "Ships")
    #expect(!tags.isGlobal)
    tags.isGlobal = true
    #expect(tags.isGlobal)
    #expect(TagList.languageCode("de") == "deu")
    #expect(TagList.languageCode("xx-nonsense") == nil)
  }

  @Test("running and stream times follow the segment, and nil is outside it")
  func segment() {
    var segment = Segment()
    segment.segment.start = 1000
    segment.segment.stop = 5000
    segment.segment.base = 10
    segment.segment.time = 7000
    #expect(segment.runningTime(1000) == 10)
    #expect(segment.runningTime(500) == nil)
    #expect(segment.signedRunningTime(500) == -490)
    #expect(segment.streamTime(2000) == 8000)
    #expect(Segment().position == 0)
    #expect(Segment().signedRunningTime(.max) == nil)
    segment.segment.rate = 0.000_001
    #expect(segment.signedRunningTime(.max / 2) == nil || segment.runningTime(.max / 2) == nil)
  }

  @Test("nil stands for no time")
  func times() {
    let buffer = Buffer([1, 2, 3])
    #expect(buffer.pts == nil)
    buffer.pts = 0
    #expect(buffer.pts == 0)
    buffer.pts = nil
    #expect(buffer.pts == nil)
    #expect(buffer.pointer.pointee.pts == .max)
  }

  @Test("parts of a buffer refer to its memory; parts outside it are nil")
  func regions() throws {
    let buffer = Buffer([1, 2, 3, 4])
    let part = try #require(buffer.sharedRegion(offset: 1, size: 2))
    #expect(part.bytes == [2, 3])
    #expect(buffer.sharedRegion(offset: 3, size: 2) == nil)
    #expect(buffer.sharedRegion(offset: -1, size: 1) == nil)
    #expect(buffer.sharedRegion(offset: .max, size: .max) == nil)
    #expect(buffer.sharedRegion(offset: 4, size: 0)?.size == 0)
    #expect(Buffer(size: -1) == nil)
    #expect(Buffer(size: .max) == nil)
    let joined = Buffer()
    joined.append(buffer, offset: 2, size: 2)
    joined.append([9])
    joined.append(buffer, offset: 3, size: 9)
    #expect(joined.bytes == [3, 4, 9])
  }

  @Test("a shared buffer is copied before it is written")
  func writable() {
    let buffer = Buffer([1, 2])
    #expect(buffer.isWritable)
    #expect(buffer.writable() === buffer)
    let other = Buffer(retaining: buffer.pointer)
    #expect(!buffer.isWritable)
    let copy = other.writable()
    #expect(copy.pointer != buffer.pointer)
    #expect(copy.bytes == [1, 2])
  }
}
