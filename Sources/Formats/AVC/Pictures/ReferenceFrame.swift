// SPDX-License-Identifier: MPL-2.0

/// A frame, a pair of fields or a single field that is or may become a reference, as the decoding
/// process of its own view or of the flattened stream sees it.
struct ReferenceFrame: Sendable {
  /// A number that no other frame of either view has.
  let id: Int
  /// FrameNum, H.264 (8.2.4.1).
  var frameNum: Int
  /// TopFieldOrderCnt and BottomFieldOrderCnt; nil for a field that is not decoded.
  var counts = FieldPair<Int?>(nil, nil)
  /// Number to add to its counts so that they continue those before operation 5.
  var shift = 0
  var marking = FieldPair(ReferenceMarking.unused, .unused)
  /// LongTermFrameIdx; valid if a field is a long-term reference.
  var longTermIndex = 0
  /// Whether it is only inferred from a gap of `frame_num` ("non-existing").
  var isInferred = false
  /// Whether slices of it referred to the other view.
  var usesInterView = false

  /// The view that it belongs to.
  var view: MVCView { id & 1 == 0 ? .base : .dependent }

  /// PicOrderCnt of the frame, or of its only field.
  var orderCount: Int {
    min(counts.top ?? .max, counts.bottom ?? .max)
  }

  /// Whether a field is a reference.
  var isReference: Bool { marking.top != .unused || marking.bottom != .unused }

  /// Whether a field is marked so.
  func hasField(_ kind: ReferenceMarking) -> Bool {
    marking.top == kind || marking.bottom == kind
  }

  /// Whether all fields of `structure` are marked so.
  func isMarked(_ kind: ReferenceMarking, _ structure: PictureStructure = .frame) -> Bool {
    structure.parities.allSatisfy { marking[$0] == kind }
  }

  /// Marks the fields of `structure`.
  mutating func mark(_ kind: ReferenceMarking, _ structure: PictureStructure = .frame) {
    for parity in structure.parities { marking[parity] = kind }
  }

  /// Marks the fields that are marked `kind` as unused.
  mutating func unmark(_ kind: ReferenceMarking) {
    for parity in Parity.allCases where marking[parity] == kind { marking[parity] = .unused }
  }

  /// FrameNumWrap for a picture with this `frame_num` (8-27).
  func wrappedNumber(current: Int, maximum: Int) -> Int {
    frameNum > current ? frameNum - maximum : frameNum
  }
}

/// The picture numbers of a picture's references, H.264 (8.2.4.1).
struct PictureNumbering: Sendable {
  /// `frame_num` of the picture.
  let frameNum: Int
  /// MaxFrameNum
  let maxFrameNum: Int
  let structure: PictureStructure

  /// CurrPicNum
  var current: Int { structure.isField ? 2 * frameNum + 1 : frameNum }
  /// MaxPicNum
  var maximum: Int { structure.isField ? 2 * maxFrameNum : maxFrameNum }

  /// PicNum or LongTermPicNum of a field or frame whose FrameNumWrap or LongTermFrameIdx is given.
  func number(_ value: Int, _ reference: PictureStructure) -> Int {
    structure.isField ? 2 * value + (reference == structure ? 1 : 0) : value
  }
}
