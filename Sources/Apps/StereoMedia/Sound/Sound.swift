// SPDX-License-Identifier: MPL-2.0

/// How sound is sampled.
public struct SoundFormat: Equatable, Sendable, CustomStringConvertible {
  /// In hertz: 8000 to 192,000.
  public let sampleRate: Int
  /// 1, 2 for left and right, or 6 for 5.1: front left, front right, front centre, low frequencies,
  /// rear left, rear right.
  public let channelCount: Int

  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/outOfRange``.
  public init(sampleRate: Int = 48_000, channelCount: Int = 2) throws {
    guard (8000...192_000).contains(sampleRate) else {
      throw StereoMediaError(
        .outOfRange, "a sample rate is from 8000 to 192000 hertz, not \(sampleRate)")
    }
    guard [1, 2, 6].contains(channelCount) else {
      throw StereoMediaError(.outOfRange, "sound has 1, 2 or 6 channels, not \(channelCount)")
    }
    (self.sampleRate, self.channelCount) = (sampleRate, channelCount)
  }

  /// Such as `2 channels of 48000 Hz`.
  public var description: String {
    "\(channelCount) channel\(channelCount == 1 ? "" : "s") of \(sampleRate) Hz"
  }

  /// As gst-launch writes it, of 32-bit floats one channel after the other.
  var caps: String {
    let mask = channelCount == 6 ? ",channel-mask=(bitmask)0x3f" : ""
    return "audio/x-raw,format=F32LE,layout=interleaved,rate=\(sampleRate),"
      + "channels=\(channelCount)" + mask
  }

  /// How long so many samples of each channel last.
  func duration(of count: Int) -> Duration {
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: sampleRate)
    return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / sampleRate)
  }
}

/// A part of a movie's sound, as samples.
public struct Sound: Sendable {
  public let format: SoundFormat
  /// When the first sample is heard, on the movie's time line.
  public let time: Duration
  /// Those of one moment one channel after the other, and so on: from -1 to 1.
  public let samples: [Float]

  /// - Parameters:
  ///   - samples: a multiple of the format's channels.
  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/invalidInput`` where some
  ///   channels have a sample more than others.
  public init(_ samples: [Float], format: SoundFormat, at time: Duration) throws {
    guard samples.count.isMultiple(of: format.channelCount) else {
      throw StereoMediaError(
        .invalidInput,
        "\(samples.count) samples are not as many of each of \(format.channelCount) channels")
    }
    self.init(whole: samples, format, time)
  }

  /// The same of as many samples of each channel.
  init(whole samples: [Float], _ format: SoundFormat, _ time: Duration) {
    (self.samples, self.format, self.time) = (samples, format, time)
  }

  /// How many samples each channel has.
  public var count: Int { samples.count / format.channelCount }
  /// How long it is heard.
  public var duration: Duration { format.duration(of: count) }

  /// Samples of each channel, by their positions: what lies outside of those that there are is left out.
  subscript(positions: Range<Int>) -> Sound {
    let range = positions.clamped(to: 0..<count)
    let channels = format.channelCount
    return Sound(
      whole: Array(samples[range.lowerBound * channels..<range.upperBound * channels]), format,
      time + format.duration(of: range.lowerBound))
  }
}
