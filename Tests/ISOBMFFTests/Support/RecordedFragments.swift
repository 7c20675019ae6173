// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

/// A recording in three fragments of four pictures, the bytes of each being its number, and, where
/// it is wanted, of sound: frames of four bytes, five to a picture.
struct RecordedFragments {
  private(set) var whole: MovieWriter
  /// What is on the disk before the movie is finished.
  private(set) var file: [UInt8]
  let track: TrackID
  private static let framesPerPicture: UInt32 = 5

  init(_ container: MovieContainer, hasAudio: Bool = false) throws {
    var whole = MovieWriter(
      finalising: container,
      metadata: MovieMetadata(creationTime: 1_000_000, items: MovieMetadata.spatialItems))
    var fragments = FragmentWriter(
      format: .movie(container), metadata: whole.metadata, position: whole.position)
    var description = TrackDescription(
      .video(VisualSampleEntry(width: 64, height: 32, hvcC: [1, 2, 3])), timescale: 30,
      language: "fra")
    description.orientation = try #require(PictureOrientation(clockwiseRotation: 90))
    let track = try whole.addTrack(description)
    #expect(try fragments.addTrack(description) == track)
    var audio: TrackID?
    if hasAudio {
      let description = TrackDescription(
        .audio(
          AudioSampleEntry(
            coding: .pcm(PCMFormat(bitsPerSample: 16)), channelCount: 2,
            sampleRate: 150)), timescale: 150)
      audio = try whole.addTrack(description)
      _ = try fragments.addTrack(description)
    }
    var file = whole.header
    for number in 0..<3 {
      var samples = (0..<4).map { index in
        let picture = SampleDescription(
          size: 10, decodeTime: Int64(number * 4 + index) - 1, duration: 1,
          compositionOffset: 1, isSync: index == 0,
          dependency: index == 0 ? .independent : index == 3 ? .disposable : .dependent)
        return (track, picture, [UInt8](repeating: UInt8(number * 4 + index), count: 10))
      }
      if let audio {
        var frames = SampleDescription(
          size: 4, decodeTime: Int64(number) * 4 * Int64(Self.framesPerPicture), duration: 1)
        frames.count = 4 * Self.framesPerPicture
        let bytes = (0..<frames.count * 4).map { UInt8($0) }
        samples.append((audio, frames, bytes))
      }
      for (track, sample, _) in samples { try fragments.append(sample, to: track) }
      if number == 0 {
        let segment = try fragments.initializationSegment(hasFileType: false)
        whole.skip(UInt64(segment.count))
        file += segment
      }
      let fragment = try #require(try fragments.finishFragment())
      whole.skip(UInt64(fragment.header.count))
      file += fragment.header
      for (track, sample, bytes) in samples {
        #expect(whole.position == UInt64(file.count))
        try whole.append(sample, to: track)
        file += bytes
      }
    }
    (self.whole, self.file, self.track) = (whole, file, track)
  }

  /// Skips `gap` bytes, and adds a picture there.
  mutating func appendPicture(after gap: UInt64) throws {
    whole.skip(gap)
    try whole.append(SampleDescription(size: 10, decodeTime: 20, duration: 1), to: track)
  }

  /// The file when it is finished.
  var finished: [UInt8] {
    get throws {
      let tail = try whole.finish()
      return (file + tail.index).patched(tail.patch)
    }
  }
}

extension [UInt8] {
  func patched(_ patch: MovieTail.Patch) -> [UInt8] {
    var bytes = self
    let start = Int(patch.offset)
    bytes.replaceSubrange(start..<start + patch.bytes.count, with: patch.bytes)
    return bytes
  }
}

/// Pictures are numbered by their bytes, and come one a time unit with a keyframe every fourth.
func expectPictures(_ file: [UInt8], _ count: Int) throws {
  let track = try #require(try ParsedFile(pulling: file).movie?.tracks.first)
  #expect(track.samples.count == count)
  let start = track.edits.first?.mediaTime ?? 0
  for (index, sample) in track.samples.all.enumerated() {
    #expect(sample.presentationTime - start == Int64(index))
    #expect(sample.isSync == (index % 4 == 0))
    #expect(file[Int(sample.offset)] == UInt8(index))
  }
}
