// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Why H.264 MVC, or one view of it, cannot be decoded by a plain decoder.
@nonexhaustive
public enum MVCError: Error, Hashable, Sendable {
  /// The stream uses Scalable Video Coding (Annex G, F since 2024).
  case scalableVideoCoding
  /// The picture uses slice groups (flexible macroblock ordering).
  case sliceGroups
  /// The picture uses data partitioning (NAL unit types 2 to 4).
  case dataPartitioning
  /// The stream codes its colour planes separately.
  case separateColourPlanes
  /// The profile of the dependent view is not one of two views of equal size: profile 118 or 128.
  case unsupportedProfile(Int)
  /// The stream has more or fewer than two views.
  case viewCount(Int)
  /// The dependent view refers to another view than the base view.
  case otherReferenceView(viewID: Int)
  /// The views differ in a property that must be equal to share one SPS.
  case differentParameters(String)
  /// The pictures of an access unit differ in picture order count or in field structure, so they
  /// do not belong together.
  case differentPictures
  /// Both views together need more reference frames than the decoded picture buffer holds.
  case tooManyReferenceFrames(count: Int)
  /// A picture refers to more parameter sets than there are ids.
  case tooManyParameterSets
  /// The dependent view refers to the base view and so cannot be extracted alone.
  case interViewPrediction
  /// The picture cannot be decoded because decoding started after its references.
  case missingReferences
  /// The parameter sets changed without an IDR picture.
  case parameterSetChange
  /// No access unit of the dependent view belongs to that of the base view.
  case unpaired
  /// More is waiting than the budget allows, or there is no end of an access unit within it.
  case budgetExceeded(limit: Int)
  /// A parameter set that slices refer to has not been received.
  case missingParameterSet(String)
  /// The lengths before the NAL units are wrong.
  case lengths(String)
  /// A parameter set or slice header is invalid.
  case syntax(SyntaxError)
}

extension MVCError: CustomStringConvertible {
  /// Message for the user.
  public var description: String {
    switch self {
    case .scalableVideoCoding:
      return "the stream is Scalable Video Coding (SVC), not Multiview Video Coding (MVC)"
    case .sliceGroups: return "the pictures use slice groups (FMO), which no MVC profile allows"
    case .dataPartitioning:
      return "the pictures use data partitioning, which no MVC profile allows"
    case .separateColourPlanes: return "separately coded colour planes are not supported"
    case .unsupportedProfile(let profile):
      return "profile \(profile) of the dependent view is not supported; Stereo High (128) and "
        + "Multiview High (118) are"
    case .viewCount(let count):
      return "the stream has \(count) views; only streams of two views are supported"
    case .otherReferenceView(let id):
      return "the dependent view refers to view \(id), which is not the base view"
    case .differentParameters(let what):
      return "the views differ in \(what), so one decoder cannot decode both"
    case .differentPictures:
      return "the pictures of both views in an access unit do not belong together"
    case .tooManyReferenceFrames(let count):
      return "both views together keep \(count) reference frames, more than the 16 that a decoder "
        + "holds"
    case .tooManyParameterSets: return "a picture refers to more parameter sets than H.264 allows"
    case .interViewPrediction:
      return "the dependent view is predicted from the base view; both have to be decoded"
    case .missingReferences:
      return "the picture refers to pictures before the start of decoding"
    case .parameterSetChange: return "the parameter sets changed in the middle of a sequence"
    case .unpaired: return "an access unit of one view has no counterpart in the other"
    case .budgetExceeded(let limit):
      return "more than \(limit) bytes have to be kept; is this an H.264 stream?"
    case .missingParameterSet(let what):
      return "slices refer to \(what), which has not been received"
    case .lengths(let text): return text
    case .syntax(let error): return error.description
    }
  }
}

/// A property of a stream that makes some pictures of the dependent view differ from those of an
/// MVC decoder, or the order of output differ from L R L R.
@nonexhaustive
public enum MVCWarning: CaseIterable, Hashable, Sendable {
  /// Implicit weights with an inter-view reference, which H.7.4.2.2 forbids.
  case implicitWeights
  /// Temporal direct prediction from an inter-view picture (forbidden by H.7.4.3), or from a
  /// picture that itself used its inter-view reference (not defined).
  case temporalDirect
  /// List 1 begins with an inter-view picture that its own view still uses as a reference, so that
  /// colZeroFlag (8.4.1.2.2) may differ.
  case colocatedInterViewReference
  /// Motion vector scaling is rounded differently, since distances are doubled.
  case roundedDistances
  /// Odd picture order counts among even ones: until the next IDR picture, the order of output is
  /// uncertain.
  case oddPictureOrderCount
  /// Slice data of CAVLC had to be moved inside its bytes, which destroys I_PCM macroblocks.
  case movedSliceData
  /// A picture refers to pictures that were not received.
  case missingReferences
}

extension MVCWarning: CustomStringConvertible {
  /// Message for the user.
  public var description: String {
    switch self {
    case .implicitWeights:
      return "the dependent view uses implicit weights with the base view, which H.264 forbids"
    case .temporalDirect:
      return "the dependent view uses temporal direct prediction from the base view, which H.264 "
        + "forbids"
    case .colocatedInterViewReference:
      return "the dependent view begins list 1 with a base picture that is still in use; some of "
        + "its blocks may be wrong"
    case .roundedDistances:
      return "motion vectors of far references are scaled with another rounding"
    case .oddPictureOrderCount:
      return "picture order counts are not all even; the eyes may be out of order until the next "
        + "IDR picture"
    case .movedSliceData:
      return "a slice header cannot be aligned; uncompressed macroblocks of the slice are wrong"
    case .missingReferences: return "pictures refer to pictures that were not received"
    }
  }
}

/// Returns the result of `body`, with a syntax error as ``MVCError/syntax(_:)``.
func readingSyntax<Result>(
  _ body: () throws(SyntaxError) -> Result
) throws(MVCError) -> Result {
  do throws(SyntaxError) {
    return try body()
  } catch {
    throw .syntax(error)
  }
}
