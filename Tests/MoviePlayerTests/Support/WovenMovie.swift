// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF
import StereoVideo

/// Movies of both eyes, and of sound.
struct WovenMovie {
  /// How often the stream of 12 frames is repeated; of 24 if it is predicted.
  var repetitions = 4
  /// In 1/90000 s.
  var frameDuration: UInt32 = 3000
  /// PCM of one channel at 8000 Hz, as long as the video.
  var hasAudio = false
  var baseEye = Eye.left
  /// How many frames later than they could all are shown, as in MP4 files without negative
  /// composition offsets; the edit makes up for it.
  var delay = 0
  /// Whether the right eye is predicted from the left one.
  var isPredicted = false
  /// Changes what is said of the samples.
  var changeEntry: (inout VisualSampleEntry) throws -> Void = { _ in }
  /// Changes a sample, which has this number.
  var changeSample: (inout [UInt8], Int) throws -> Void = { _, _ in }

  /// How many frames are repeated.
  var period: Int { isPredicted ? 24 : 12 }
  var frameCount: Int { repetitions * period }

  func bytes() throws -> [UInt8] {
    let stream = try isPredicted ? WovenStream.predicted() : WovenStream(baseEye: baseEye)
    var movie = MovieWriter(container: .quickTime)
    var entry = VisualSampleEntry(
      width: UInt16(stream.size.width), height: UInt16(stream.size.height),
      hvcC: stream.records.base, lhvC: stream.records.layered)
    try changeEntry(&entry)
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
      let unit = stream.units[number % period]
      var sample = unit.bytes
      try changeSample(&sample, number)
      let decode = Int64(number) * Int64(frameDuration)
      let shown = Int64(number - number % period + unit.displayOrder + delay) * Int64(frameDuration)
      try movie.append(
        SampleDescription(
          size: UInt32(sample.count), decodeTime: decode, duration: frameDuration,
          compositionOffset: Int32(shown - decode), isSync: unit.isSync), to: video)
      bytes += sample
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
