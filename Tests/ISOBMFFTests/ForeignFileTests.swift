// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import StereoVideo
import TestKit
import Testing

import struct FuzzTargets.SplitMix

@Suite(.enabled(if: Media.isPresent, "the folder ../shared/media is absent"))
struct ForeignFileTests {
  private struct Golden: Decodable {
    let width, height, accessUnits: Int
    let fragmented: Bool
    let container: String
    let heroEye, projectionKind: String?
    let horizontalFieldOfViewThousandthsDegree, baselineMicrometres: UInt32
    let disparityAdjustmentTenThousandths: Int32
  }

  /// Elementary streams have entries too, of another form.
  private struct Entry: Decodable {
    let movie: Golden?

    init(from decoder: any Decoder) throws {
      movie = try? Golden(from: decoder)
    }
  }

  @Test("the facts of golden.json are read", .tags(.judge), arguments: Media.all)
  func facts(name: String) throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let all = try decoder.decode(
      [String: Entry].self, from: Data(try Media.bytes("golden.json")))
    let golden = try #require(all[name]?.movie)
    let bytes = try Media.bytes(name)
    let file = try ParsedFile(pulling: bytes)
    let movie = try #require(file.movie)
    #expect(movie.issues.isEmpty)
    #expect(file.fileType?.isQuickTime == (golden.container == "mov"))
    #expect(movie.isFragmented == golden.fragmented)
    #expect(movie.tracks.count == 1)
    let track = try #require(movie.tracks.first)
    #expect(track.handlerType == "vide")
    #expect(track.samples.count == golden.accessUnits)
    #expect(track.size.width >> 16 == golden.width)
    guard case .video(let entry) = track.sampleEntries.first else {
      Issue.record("not a video track")
      return
    }
    #expect(entry.codec == "hvc1")
    #expect(Int(entry.width) == golden.width)
    #expect(Int(entry.height) == golden.height)
    #expect(entry.extendedUsage?.views == [.leftEye, .rightEye])
    #expect(entry.packing == nil)
    #expect(
      entry.spatialMetadata
        == SpatialMetadata(
          heroEye: golden.heroEye.flatMap(Eye.init(rawValue:)),
          horizontalFieldOfView: HorizontalFieldOfView(
            thousandthsOfDegree: golden.horizontalFieldOfViewThousandthsDegree),
          baseline: Baseline(micrometres: golden.baselineMicrometres),
          disparityAdjustment: DisparityAdjustment(
            tenThousandths: golden.disparityAdjustmentTenThousandths),
          projection: golden.projectionKind.flatMap(ProjectionKind.init(fourCC:))))
    let tree = BoxTree(bytes)
    let path = "moov/trak/mdia/minf/stbl/stsd/hvc1/"
    #expect(entry.hvcC == tree[path + "hvcC"])
    #expect(entry.lhvC == tree[path + "lhvC"])
    #expect(entry.fields == (golden.fragmented ? nil : .progressive))
    #expect(entry.otherBoxes.isEmpty)
  }

  @Test(
    "samples lie where FFmpeg finds them, at its times", .tags(.judge),
    .enabled(if: Python.hasAV, "no Python with PyAV; see GST_SPATIAL_PYTHON"),
    arguments: Media.all)
  func samples(name: String) throws {
    let file = try ParsedFile(pulling: try Media.bytes(name))
    let samples = try #require(file.movie?.tracks.first?.samples)
    // Without an edit list FFmpeg shifts all times by the most negative offset.
    let expected = try Python.run(
      """
      import av, sys
      with av.open(sys.argv[1]) as movie:
          packets = [p for p in movie.demux() if p.size]
          start = min(p.pts for p in packets)
          for p in packets:
              print(p.pos, p.size, p.pts - start, p.duration, p.is_keyframe)
      """, [Media.folder.appending(path: name).path])
    let found = samples.all.map {
      let sync = $0.isSync ? "True" : "False"
      return "\($0.offset) \($0.size) \($0.presentationTime) \($0.duration) \(sync)\n"
    }
    #expect(found.joined() == expected)
  }

  @Test("a fragmented file's sidx leads to its fragment")
  func segmentIndex() throws {
    let file = try ParsedFile(pulling: try Media.bytes(Media.fragmented))
    let index = try #require(file.segmentIndexes.first)
    #expect(index.timescale == 11520)
    #expect(index.reference(at: 1000)?.offset == file.fragments.first?.offset)
    #expect(index.reference(at: 1000)?.startsWithSync == true)
  }

  @Test("pulled, pushed, and pushed in chunks of any size: the same file", arguments: Media.all)
  func pushing(name: String) throws {
    let bytes = try Media.bytes(name)
    let pulled = try ParsedFile(pulling: bytes)
    var generator = SplitMix(state: 7)
    let sizes: [() -> Int] = [
      { 1 }, { 7 }, { 4096 }, { bytes.count }, { Int.random(in: 1...100_000, using: &generator) },
    ]
    for size in sizes {
      let pushed = try ParsedFile(pushing: bytes, chunkSizes: size)
      #expect(pushed.fileType == pulled.fileType)
      #expect(pushed.movie?.tracks[0].samples.all == pulled.movie?.tracks[0].samples.all)
      #expect(pushed.movie?.tracks[0].sampleEntries == pulled.movie?.tracks[0].sampleEntries)
      #expect(pushed.mediaData == pulled.mediaData)
      #expect(pushed.segmentIndexes == pulled.segmentIndexes)
      #expect(pushed.otherBoxes == pulled.otherBoxes)
    }
  }
}
