// SPDX-License-Identifier: MPL-2.0

/// Why a movie cannot be written.
public enum MovieWriterError: Error, Equatable, Sendable {
  /// A track whose times have no unit.
  case timescaleZero(TrackID)
  /// A track that was added after the first sample.
  case trackAddedTooLate
  /// A track that this movie does not have.
  case unknownTrack(TrackID)
  /// A new sample entry that makes, say, an audio track of a video track.
  case mediaKindChanged(TrackID)
  /// A sample that would be decoded before the one in front of it.
  case decodeTimeBackwards(TrackID, sample: UInt32, previous: Int64, this: Int64)
  /// A distance between two samples that does not fit 32 bits.
  case durationTooLarge(TrackID, sample: UInt32, duration: UInt64)
  /// A composition offset beyond 2^30.
  case compositionOffsetTooLarge(TrackID, sample: UInt32, offset: Int32)
  /// A decode time or a length beyond 2^61.
  case timeTooLarge(TrackID, sample: UInt32)
  /// More samples than 32 bits can count.
  case tooManySamples(TrackID)
  /// A sample unlike the others in a track with runs.
  case unevenRun(TrackID, sample: UInt32)
  /// A first picture that is shown before the start of a movie that has no edit list to cut it.
  case beforeStart(TrackID, time: Int64)
  /// A new sample entry while samples of the old kind wait in the fragment that is open.
  case fragmentOpen
  /// A fragment whose samples have too many bytes for its offsets.
  case fragmentTooLarge(UInt64)
  /// Media data beyond 2^63 bytes.
  case fileTooLarge
  /// A movie whose times have no unit.
  case movieTimescaleZero
  /// A box that 32 bits cannot say the size of.
  case boxTooLarge(FourCC)
}

extension MovieWriterError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .timescaleZero(let track):
      "\(track): the timescale is 0; it has to be the number of time units a second"
    case .trackAddedTooLate:
      "a track was added after the first sample; add all tracks before"
    case .unknownTrack(let track):
      "\(track) was not added to this movie"
    case .fragmentOpen:
      "the sample entry of samples that are not written yet was replaced; finish the fragment before"
    case .mediaKindChanged(let track):
      "\(track): the new sample entry is of another kind (video, audio, other) than the old one"
    case .decodeTimeBackwards(let track, let sample, let previous, let this):
      "\(track), sample \(sample): the decode time \(this) lies before \(previous), where the"
        + " sample before it starts; samples have to come in decoding order"
    case .durationTooLarge(let track, let sample, let duration):
      "\(track), sample \(sample): it would last \(duration) time units, more than the"
        + " 4294967295 of a sample table; use a smaller timescale"
    case .compositionOffsetTooLarge(let track, let sample, let offset):
      "\(track), sample \(sample): the composition offset \(offset) is beyond 1073741824 time"
        + " units; use a smaller timescale"
    case .timeTooLarge(let track, let sample):
      "\(track), sample \(sample): the time does not fit 62 bits"
    case .tooManySamples(let track):
      "\(track): more than 4294967295 samples"
    case .unevenRun(let track, let sample):
      "\(track), sample \(sample): in a track with runs of samples all have to be of one size"
        + " and sync samples"
    case .beforeStart(let track, let time):
      "\(track): its first sample is presented \(time.magnitude) time units before the movie starts"
    case .fragmentTooLarge(let size):
      "a fragment would have \(size) bytes of samples; at most a gigabyte goes into one"
    case .fileTooLarge:
      "the file would be larger than 2^63 bytes"
    case .movieTimescaleZero:
      "the movie's timescale is 0; it has to be the number of time units a second"
    case .boxTooLarge(let type):
      "the box \(type) would be larger than 4 GiB"
    }
  }
}
