// SPDX-License-Identifier: MPL-2.0

/// The reason why a movie cannot be written.
@nonexhaustive
public enum MovieWriterError: Error, Equatable, Sendable {
  /// The timescale of a track is 0.
  case timescaleZero(TrackID)
  /// A track was added after the first sample.
  case trackAddedTooLate
  /// The movie has no such track.
  case unknownTrack(TrackID)
  /// The new sample entry is of another media type, such as audio instead of video.
  case mediaTypeChanged(TrackID)
  /// A sample's decode time is before that of the previous sample.
  case decodeTimeBackwards(TrackID, sample: UInt32, previous: Int64, this: Int64)
  /// The interval between two samples does not fit into 32 bits.
  case durationTooLarge(TrackID, sample: UInt32, duration: UInt64)
  /// The magnitude of a composition offset is above 2^30.
  case compositionOffsetTooLarge(TrackID, sample: UInt32, offset: Int32)
  /// A decode time or a duration is beyond 2^61.
  case timeTooLarge(TrackID, sample: UInt32)
  /// The number of samples does not fit into 32 bits.
  case tooManySamples(TrackID)
  /// A sample differs from the others in a track with runs.
  case unevenRun(TrackID, sample: UInt32)
  /// The first picture is presented before the movie's start, and there is no edit list to cut it.
  case beforeStart(TrackID, time: Int64)
  /// The sample entry was replaced while samples of the old one are in the open fragment.
  case fragmentOpen
  /// The samples of a fragment are too large for its offsets.
  case fragmentTooLarge(UInt64)
  /// The media data is larger than 2^63 bytes.
  case fileTooLarge
  /// The movie's timescale is 0.
  case movieTimescaleZero
  /// The size of a box does not fit into 32 bits.
  case boxTooLarge(FourCC)
}

extension MovieWriterError: CustomStringConvertible {
  /// The problem, with the track and sample number, and how to avoid it.
  public var description: String {
    switch self {
    case .timescaleZero(let track):
      "\(track): the timescale is 0; set it to the number of time units per second"
    case .trackAddedTooLate:
      "a track was added after the first sample; add all tracks first"
    case .unknownTrack(let track):
      "\(track) was not added to this movie"
    case .fragmentOpen:
      "the sample entry was replaced while its samples are in the open fragment; finish the"
        + " fragment first"
    case .mediaTypeChanged(let track):
      "\(track): the new sample entry has a different media type (video, audio, other)"
    case .decodeTimeBackwards(let track, let sample, let previous, let this):
      "\(track), sample \(sample): the decode time \(this) is before that of the previous sample,"
        + " \(previous); add samples in decoding order"
    case .durationTooLarge(let track, let sample, let duration):
      "\(track), sample \(sample): the duration of \(duration) time units exceeds the limit of a"
        + " sample table, 4294967295; use a smaller timescale"
    case .compositionOffsetTooLarge(let track, let sample, let offset):
      "\(track), sample \(sample): the composition offset \(offset) exceeds the limit of 1073741824"
        + " time units; use a smaller timescale"
    case .timeTooLarge(let track, let sample):
      "\(track), sample \(sample): the time does not fit into 62 bits"
    case .tooManySamples(let track):
      "\(track): more than 4294967295 samples"
    case .unevenRun(let track, let sample):
      "\(track), sample \(sample): in a track with runs of samples, all samples must have the same"
        + " size and be sync samples"
    case .beforeStart(let track, let time):
      "\(track): its first sample is presented \(time.magnitude) time units before the movie starts"
    case .fragmentTooLarge(let size):
      "the fragment has \(size) bytes of samples; the maximum is 1 GiB; use shorter ones"
    case .fileTooLarge:
      "the file would be larger than 2^63 bytes"
    case .movieTimescaleZero:
      "the movie's timescale is 0; set it to the number of time units per second"
    case .boxTooLarge(let type):
      "the box \(type) would be larger than 4 GiB"
    }
  }
}
