// SPDX-License-Identifier: MPL-2.0

/// A picture of one view with what its decoding process (8.2) says about it. A class, since it is
/// handed on often.
final class ViewPicture: Sendable {
  /// A slice with its final reference lists; nil stands for a reference that is missing.
  struct Slice: Sendable {
    let coded: CodedSlice
    let lists: [[Reference?]]
    /// Whether list 1 begins with a picture that referred to the other view.
    let colocatedUsesInterView: Bool

    var header: SliceHeader { coded.header }
  }

  let view: MVCView
  /// Id of its frame.
  let frame: Int
  let isSecondField: Bool
  /// The picture order counts of its frame, as far as decoded; they continue across operation 5.
  let counts: FieldPair<Int?>
  let slices: [Slice]
  /// The marking of the view's frames after the picture.
  let markings: [ViewState.FrameMarking]
  /// Whether doubling distances would change a DistScaleFactor.
  let isChangedByDoubling: Bool

  /// Creates the picture that `state` is decoding, after its slices, and ends it.
  init(
    _ view: MVCView, ending state: inout ViewState, _ slices: [Slice], isChangedByDoubling: Bool
  ) {
    let current = state.current
    let shift = current?.frame.shift ?? 0
    let counts = current?.frame.counts ?? FieldPair(nil, nil)
    self.view = view
    self.slices = slices
    self.isChangedByDoubling = isChangedByDoubling
    self.counts = FieldPair(counts.top.map { $0 &+ shift }, counts.bottom.map { $0 &+ shift })
    frame = current?.frame.id ?? 0
    isSecondField = current?.isSecondField ?? false
    state.finish()
    markings = state.markings
  }

  /// The first slice.
  var head: SliceHeader { slices[0].header }
  var structure: PictureStructure { head.structure }
  /// Whether all slices are intra.
  var isIntra: Bool { slices.allSatisfy { $0.header.kind.isIntra } }
  /// Picture order count of the picture.
  var orderCount: Int { structure.parities.compactMap { counts[$0] }.min() ?? 0 }

  /// Whether a list has a reference for which `isMatching` is true.
  func refers(where isMatching: (Reference?) -> Bool) -> Bool {
    slices.contains { $0.lists.contains { $0.contains(where: isMatching) } }
  }

  /// Whether a list has the frame with this id.
  func refers(to frame: Int) -> Bool { refers { $0?.frame == frame } }
}

/// The pictures of an access unit, frames or fields.
struct PicturePair: Sendable {
  let base: ViewPicture
  /// The dependent picture; nil if there is none, or none that can be decoded.
  var dependent: ViewPicture?
  /// Why the dependent picture is left out.
  var dependentError: MVCError?
  /// Whether the base picture is written as an IDR picture.
  let beginsSequence: Bool
  /// Whether the pictures precede, in output order, the one at which decoding began.
  let isLeading: Bool
  /// Whether list 1 of a dependent slice begins with the base picture, which is not intra and no
  /// reference of its own view: see ``FlattenedUnit``.
  var needsLongTermBase = false
  var warnings: Set<MVCWarning> = []
  /// The SEI NAL units of the base view that are kept.
  let sei: [[UInt8]]
}
