import CGStreamer
import GStreamer
import ISOBMFF

/// The search in push mode for the index that a fragmented file may end with.
struct IndexSearch {
  /// In bytes.
  let fileSize: UInt64
  /// Where reading goes on afterwards.
  let back: UInt64
  /// From where on upstream has been asked for the file's end.
  var start: UInt64
}

extension MVHEVCDemux {
  /// Most indexes are all in so many bytes at the file's end.
  private static let tailSize: UInt64 = 1 << 16
  /// More is not fetched before a movie begins: that would be an index of a million fragments.
  private static let maximumSize: UInt32 = 1 << 24

  /// Makes upstream go to the end of a file of fragments whose start does not say where these are;
  /// false where that makes no sense, or has been done.
  func beginSearch() -> Bool {
    guard !push.hasSearched, push.fragments == nil, !isComplete, !push.hasEnded, canSeekUpstream
    else { return false }
    push.hasSearched = true
    let query = Query.duration(GST_FORMAT_BYTES)
    guard sink.queryPeer(query), let size = query.duration, size > push.queue.end else {
      return false
    }
    let search = IndexSearch(
      fileSize: size, back: push.queue.start, start: size - min(size, Self.tailSize))
    guard seekUpstream(to: search.start) else { return false }
    push.search = search
    return true
  }

  /// Takes what has come of the file's end, and goes back when it is all there; false where there
  /// is no search.
  func isSearching() throws -> Bool {
    guard let search = push.search else { return false }
    let tailStart = search.fileSize - min(search.fileSize, 16)
    let tail = push.queue.part(tailStart, 16)
    guard tail != nil || push.hasEnded else { return true }
    if let size = tail.flatMap({ FragmentRandomAccess.size(fromTail: $0.bytes) }),
      size <= search.fileSize, size <= Self.maximumSize
    {
      let start = search.fileSize - UInt64(size)
      // Once only: a file may say something else the next time.
      if start < search.start, search.start + Self.tailSize >= search.fileSize,
        seekUpstream(to: start)
      {
        push.search?.start = start
        return true
      }
      push.fragments = index(at: start, fileSize: search.fileSize)
    }
    push.search = nil
    push.hasEnded = false
    guard seekUpstream(to: search.back) else {
      throw ElementError(.demux, "The input was sought, and does not go back to its start.")
    }
    return true
  }

  /// Reads the index out of what has come; nil where it is none.
  private func index(at start: UInt64, fileSize: UInt64) -> FragmentIndex? {
    var parser = MovieParser(fileSize: fileSize)
    parser.seek(to: start)
    while let event = try? parser.next() {
      switch event {
      case .randomAccess(let index): return .randomAccess(index)
      case .needBytes(let range):
        guard
          (try? push.queue.withBytes(
            at: range.lowerBound, { parser.supply($0, at: range.lowerBound) }))
            == true
        else { return nil }
      default: return nil
      }
    }
    return nil
  }
}
