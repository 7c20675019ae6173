// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF
import StereoVideo

/// Movies of both eyes, and of sound.
struct WovenMovie {
  /// How often the stream of 12 frames is repeated.
  var repetitions = 4
  /// In 1/90000 s.
  var frameDuration: UInt32 = 3000
  /// PCM of one channel at 8000 Hz, as long as the video.
  var hasAudio = false
  var baseEye = Eye.left
  /// How many frames later than they could all are shown, as in MP4 files without negative
  /// composition offsets; the edit makes up for it.
  var delay = 0

  var frameCount: Int { repetitions * 12 }

  func bytes() throws -> [UInt8] {
    let stream = try WovenStream(baseEye: baseEye)
    var movie = MovieWriter(container: .quickTime)
    let entry = VisualSampleEntry(
      width: UInt16(stream.size.width), height: UInt16(stream.size.height),
      hvcC: stream.records.base, lhvC: stream.records.layered)
    let video = try movie.addTrack(TrackDescription(.video(entry), timescale: 90_000))
    var audio: TrackID?
    if hasAudio {
      let entry = AudioSampleEntry(
        coding: .pcm(PCMFormat(bitsPerSample: 16)), channelCount: 1, sampleRate: 8000,
        framesPerSample: 1)
      audio = try movie.addTrack(TrackDescription(.audio(entry), timescale: 8000))
    }
    var bytes = movie.header
    for number in 0..<frameCount {
      let unit = stream.units[number % 12]
      let decode = Int64(number) * Int64(frameDuration)
      let shown = Int64(number - number % 12 + unit.displayOrder + delay) * Int64(frameDuration)
      try movie.append(
        SampleDescription(
          size: UInt32(unit.bytes.count), decodeTime: decode, duration: frameDuration,
          compositionOffset: Int32(shown - decode), isSync: unit.isSync), to: video)
      bytes += unit.bytes
      guard let audio else { continue }
      let start = number * Int(frameDuration) * 8000 / 90_000
      let end = (number + 1) * Int(frameDuration) * 8000 / 90_000
      var run = SampleDescription(size: 2, decodeTime: Int64(start), duration: 1)
      run.count = UInt32(end - start)
      try movie.append(run, to: audio)
      for frame in start..<end {
        bytes += [UInt8(truncatingIfNeeded: frame), UInt8(truncatingIfNeeded: frame >> 8)]
      }
    }
    let tail = try movie.finish()
    let place = Int(tail.patch.offset)
    bytes.replaceSubrange(place..<place + tail.patch.bytes.count, with: tail.patch.bytes)
    return bytes + tail.index
  }
}
