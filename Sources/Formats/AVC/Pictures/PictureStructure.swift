// SPDX-License-Identifier: MPL-2.0

/// The parity of a field.
package enum Parity: Int, Sendable, CaseIterable {
  case top = 0
  case bottom = 1

  /// The opposite parity.
  package var opposite: Parity { self == .top ? .bottom : .top }
}

/// A frame, or one of its fields.
package enum PictureStructure: Hashable, Sendable {
  case frame
  case field(Parity)

  /// The fields it consists of.
  package var parities: [Parity] {
    switch self {
    case .frame: [.top, .bottom]
    case .field(let parity): [parity]
    }
  }

  /// Whether it has the field of this parity.
  package func contains(_ parity: Parity) -> Bool {
    self == .frame || self == .field(parity)
  }

  /// Whether it is a field.
  package var isField: Bool { self != .frame }
}

/// A value for each field of a frame.
package struct FieldPair<Value> {
  package var top: Value
  package var bottom: Value

  package init(_ top: Value, _ bottom: Value) {
    self.top = top
    self.bottom = bottom
  }

  package subscript(parity: Parity) -> Value {
    get { parity == .top ? top : bottom }
    set { if parity == .top { top = newValue } else { bottom = newValue } }
  }
}

extension FieldPair: Equatable where Value: Equatable {}
extension FieldPair: Hashable where Value: Hashable {}
extension FieldPair: Sendable where Value: Sendable {}

/// How a field is marked as a reference, H.264 (8.2.5).
package enum ReferenceMarking: Sendable {
  case unused
  case shortTerm
  case longTerm
}

/// An entry of a reference list: a frame or field.
package struct Reference: Hashable, Sendable {
  /// ``ReferenceFrame/id`` of the frame.
  package var frame: Int
  package var structure: PictureStructure
}
