// SPDX-License-Identifier: MPL-2.0

/// Where a box stands among others. It becomes text only for errors: a file may have millions of
/// boxes.
final class BoxPath: Sendable {
  /// What a box is called in a path.
  enum Name: Sendable {
    case text(String)
    /// The type, and the number among boxes of it where that matters: `trak[1]`.
    case type(FourCC, number: Int?)
  }

  private let parent: BoxPath?
  private let name: Name

  init(_ name: Name, in parent: BoxPath?) {
    self.name = name
    self.parent = parent
  }

  /// The names of the box's ancestors and its own: `moov/trak[0]/mdia`.
  var text: String { Self.text(name, in: parent) }

  static func text(_ name: Name, in parent: BoxPath?) -> String {
    let own =
      switch name {
      case .text(let text): text
      case .type(let type, nil): type.description
      case .type(let type, let number?): "\(type)[\(number)]"
      }
    return parent.map { "\($0.text)/\(own)" } ?? own
  }
}
