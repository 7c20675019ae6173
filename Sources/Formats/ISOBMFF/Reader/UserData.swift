// SPDX-License-Identifier: MPL-2.0

/// The content of a `udta` box.
struct UserData {
  private(set) var boxes: [OpaqueBox] = []
  private(set) var items: [MetadataItem] = []

  init(_ box: BoxReader, issues: inout IssueLog) {
    var box = box
    while let child = issues.optional({ () throws(ISOBMFFError) in try box.nextBox() }) ?? nil {
      boxes.append(child.opaque)
      if child.type == "meta" {
        issues.optional { () throws(ISOBMFFError) in items += try MetadataItem.items(in: child) }
      } else if let item = MetadataItem.userText(child) {
        items.append(item)
      }
    }
  }
}
