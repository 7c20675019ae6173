// SPDX-License-Identifier: MPL-2.0

extension ResolvedGraph.Element {
  /// The file that the element's `location` names, with the place that names it.
  ///
  /// Addresses are none, nor are names of numbered files, in which `%05d` stands for the number.
  public var namedFile: (path: String, location: SourceLocation)? {
    guard let property = properties.first(where: { $0.name == "location" }),
      case .text(.known(let path), _) = property.value, !path.isEmpty, !path.contains("://")
    else { return nil }
    // These take names as they are.
    let isLiteral = ["filesrc", "filesink"].contains(type.text)
    guard isLiteral || !path.contains("%") else { return nil }
    return (path, property.location)
  }
}
