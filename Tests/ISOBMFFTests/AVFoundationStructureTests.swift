// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

/// Movies written with the values of AVFoundation's files have their boxes, field by field.
@Suite(.enabled(if: Media.isPresent, "the folder ../shared/media is absent"))
struct AVFoundationStructureTests {
  /// What a file of one video track says of each sample, by the test's own reading.
  private func samples(_ tree: BoxTree, stbl: String) throws -> [SampleDescription] {
    let sizes = try #require(tree[stbl + "stsz"])
    let dependencies = try #require(tree[stbl + "sdtp"])
    let offsets = try #require(tree[stbl + "ctts"])
    let duration = try #require(tree[stbl + "stts"]).suffix(4)
    var compositionOffsets: [Int32] = []
    for run in stride(from: 8, to: offsets.count, by: 8) {
      let value = BoxTree.number(offsets[run + 4..<run + 8])
      let count = Int(BoxTree.number(offsets[run..<run + 4]))
      compositionOffsets += Array(repeating: Int32(truncatingIfNeeded: value), count: count)
    }
    return compositionOffsets.enumerated().map { index, offset in
      let delta = BoxTree.number(duration)
      return SampleDescription(
        size: UInt32(BoxTree.number(sizes[12 + 4 * index..<16 + 4 * index])),
        decodeTime: Int64(delta) * Int64(index), duration: UInt32(delta),
        compositionOffset: offset, isSync: index == 0,
        dependency: SampleDependency(rawValue: dependencies[4 + index]))
    }
  }

  private func rewrite(
    _ name: String, container: MovieContainer, heroEye: Eye?, fieldOfView: UInt32,
    projection: ProjectionKind?, change: (inout VisualSampleEntry) -> Void
  ) throws -> (theirs: BoxTree, ours: BoxTree) {
    let theirs = BoxTree(try Media.bytes(name))
    let entryPath = "moov/trak/mdia/minf/stbl/stsd/hvc1"
    let fields = try #require(theirs[entryPath])
    var entry = VisualSampleEntry(
      width: UInt16(BoxTree.number(fields[24..<26])),
      height: UInt16(BoxTree.number(fields[26..<28])),
      hvcC: try #require(theirs[entryPath + "/hvcC"]), lhvC: theirs[entryPath + "/lhvC"])
    entry.extendedUsage = VideoExtendedUsage(
      SpatialMetadata(
        heroEye: heroEye, baseline: Baseline(micrometres: 19240),
        disparityAdjustment: DisparityAdjustment(tenThousandths: 200), projection: projection))
    entry.horizontalFieldOfView = HorizontalFieldOfView(thousandthsOfDegree: fieldOfView)
    change(&entry)

    let times = try #require(theirs["moov/mvhd"])
    let timescale = UInt32(BoxTree.number(times[12..<16]))
    let created = Int64(BoxTree.number(times[4..<8])) - 2_082_844_800
    var movie = MovieWriter(
      container: container, movieTimescale: timescale,
      metadata: MovieMetadata(creationTime: created))
    var track = TrackDescription(.video(entry), timescale: timescale)
    track.handlerName = "Core Media Video"
    let id = try movie.addTrack(track)
    var file = movie.header
    for sample in try samples(theirs, stbl: "moov/trak/mdia/minf/stbl/") {
      try movie.append(
        sample, Array(repeating: 0, count: Int(sample.size)), to: id, file: &file)
    }
    return (theirs, BoxTree(try movie.complete(file)))
  }

  @Test("a .mov has AVFoundation's boxes, order, versions, flags and values")
  func quickTime() throws {
    let (theirs, ours) = try rewrite(
      Media.rightBase, container: .quickTime, heroEye: nil, fieldOfView: 64000,
      projection: .rectilinear
    ) {
      $0.colour = ColourInformation(
        primaries: 1, transferCharacteristics: 1, matrixCoefficients: 1)
    }
    // The sample group of NAL unit types is optional, and the handlers name their maker.
    let optional = ["sgpd", "sbgp"].map { "moov/trak/mdia/minf/stbl/" + $0 }
    #expect(ours.paths == theirs.paths.filter { !optional.contains($0) })
    for leaf in theirs.leaves where !optional.contains(leaf.path) && leaf.path != "mdat" {
      if leaf.path.hasSuffix("hdlr") {
        #expect(ours[leaf.path]?.prefix(12) == leaf.payload.prefix(12))
      } else if leaf.path.hasSuffix("ctts") {
        // AVFoundation's .mov has signed offsets in version 0, as QuickTime reads it; ISO base
        // media, and AVFoundation's .mp4, call that version 1.
        #expect(ours[leaf.path]?.first == 1)
        #expect(ours[leaf.path]?.dropFirst() == leaf.payload.dropFirst())
      } else {
        #expect(ours[leaf.path] == leaf.payload, "\(leaf.path)")
      }
    }
  }

  @Test("an .mp4 has AVFoundation's boxes, order, versions, flags and values")
  func mp4() throws {
    let (theirs, ours) = try rewrite(
      Media.leftBase, container: .mp4, heroEye: .left, fieldOfView: 63400, projection: nil
    ) {
      $0.compressorName = ""
      $0.chromaLocation = ChromaLocation(topField: 0, bottomField: 0)
    }
    let optional = ["sgpd", "sbgp"].map { "moov/trak/mdia/minf/stbl/" + $0 }
    // Their mdat has a 64-bit header in place of our spare box.
    #expect(ours.paths.filter { $0 != "free" } == theirs.paths.filter { !optional.contains($0) })
    for leaf in theirs.leaves where !optional.contains(leaf.path) && leaf.path != "mdat" {
      if leaf.path == "moov/trak/tkhd" {
        #expect(ours[leaf.path]?.dropFirst(4) == leaf.payload.dropFirst(4))
      } else {
        #expect(ours[leaf.path] == leaf.payload, "\(leaf.path)")
      }
    }
  }
}
