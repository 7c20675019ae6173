// SPDX-License-Identifier: MPL-2.0

extension VisualSampleEntry {
  /// Every box of the entry but its `configuration`, as MP4 has them: what a track says of its
  /// pictures beyond what decodes them.
  public var extensions: [OpaqueBox] {
    var writer = BoxWriter()
    writeExtensions(to: &writer, container: .mp4)
    return OpaqueBox.all(in: writer.bytes)
  }

  /// Adds boxes as if the entry had been read with them behind its own.
  ///
  /// What is wrong with one of them is no error: that box is kept as it is.
  public mutating func add(_ boxes: [OpaqueBox]) {
    var reader = BoxReader(boxes.flatMap(\.bytes), type: codec, path: codec.description)
    var issues = IssueLog()
    readBoxes(of: &reader, issues: &issues)
  }
}
