// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A part of a stream that has a name.
public struct Chapter: Equatable, Sendable {
  public let title: String
  public let start: ClockTime
  /// nil where it goes on to the next chapter, or to the end.
  public let stop: ClockTime?
}

extension Event {
  /// The chapters of a TOC event, in its order: those of its first edition, where it has editions.
  /// nil for other events.
  public var chapters: [Chapter]? {
    guard type == GST_EVENT_TOC else { return nil }
    var toc: OpaquePointer?
    gst_event_parse_toc(pointer, &toc, nil)
    guard let toc else { return nil }
    defer { gst_mini_object_unref(UnsafeMutablePointer(toc)) }
    return Chapter.chapters(of: toc)
  }
}

extension Chapter {
  /// No movie has more chapters.
  private static let most = 10_000

  /// Those of the first edition, where there are editions.
  static func chapters(of toc: OpaquePointer) -> [Chapter] {
    var entries = gst_toc_get_entries(toc)
    if let first = entries?.pointee.data.map({ OpaquePointer($0) }),
      gst_toc_entry_get_entry_type(first) == GST_TOC_ENTRY_TYPE_EDITION
    {
      entries = gst_toc_entry_get_sub_entries(first)
    }
    return chapters(entries)
  }

  private static func chapters(_ entries: UnsafeMutablePointer<GList>?) -> [Chapter] {
    var chapters: [Chapter] = []
    var place = entries
    while let item = place, chapters.count < most {
      if let chapter = item.pointee.data.flatMap({ Chapter(OpaquePointer($0)) }) {
        chapters.append(chapter)
      }
      place = item.pointee.next
    }
    return chapters
  }

  /// Nil for another entry than a chapter, and for one without a start.
  private init?(_ entry: OpaquePointer) {
    var (start, stop): (gint64, gint64) = (-1, -1)
    guard gst_toc_entry_get_entry_type(entry) == GST_TOC_ENTRY_TYPE_CHAPTER,
      gst_toc_entry_get_start_stop_times(entry, &start, &stop) != 0,
      let begin = ClockTime(exactly: start)
    else { return nil }
    var title: UnsafeMutablePointer<gchar>?
    if let tags = gst_toc_entry_get_tags(entry) {
      gst_tag_list_get_string(tags, GST_TAG_TITLE, &title)
    }
    self.title = adopt(title) ?? ""
    self.start = begin
    self.stop = ClockTime(exactly: stop).flatMap { $0 > begin ? $0 : nil }
  }
}
