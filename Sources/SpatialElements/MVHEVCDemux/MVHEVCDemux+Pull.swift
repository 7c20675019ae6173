import CGStreamer
import GStreamer
import HEVC
import ISOBMFF

extension MVHEVCDemux {
  /// Reads the index of the file, and those of all its fragments.
  func open() throws {
    let start: Buffer
    do {
      start = try sink.pullRange(offset: 0, size: 16)
    } catch {
      guard error == .eos else { throw error }
      throw ElementError(.wrongType, "The input is empty.")
    }
    if ElementaryInput.isByteStream(start.bytes) {
      input = .elementaryStream(ElementaryInput(framing: .annexB))
      return
    }
    try readIndex()
    isComplete = true
    var first: ReadAhead.Window?
    if let index = layeredTrackIndex, let record = movie?.tracks[index].samples.sample(at: 0),
      let data = try? pull(record.offset, UInt64(record.size))
    {
      first = .init(offset: record.offset, buffer: data)
    }
    try expose(first: first?.buffer)
    if let track = tracks.firstIndex(where: { $0.index == layeredTrackIndex }) {
      readAhead.keep(first, for: track)
    }
  }

  /// Adds a fragment to the index.
  func append(_ fragment: MovieFragment) {
    movie?.append(fragment)
    for issue in fragment.issues { Self.log.warning(self, "\(issue)") }
    if basis == nil { basis = movie }
  }

  private func readIndex() throws {
    let query = Query.duration(GST_FORMAT_BYTES)
    fileSize = sink.queryPeer(query) ? query.duration : nil
    if fileSize == nil { fileSize = try probedSize() }
    var parser = MovieParser(fileSize: fileSize)
    do {
      while true {
        switch try parser.next() {
        case .fileType(let type): fileType = type
        case .movie(let found):
          movie = found
          if !found.isFragmented { return }
        case .fragment(let fragment):
          append(fragment)
        case .needBytes(let range):
          let size = UInt32(clamping: range.count)
          do {
            let data = try sink.pullRange(offset: range.lowerBound, size: size)
            guard data.size > 0 else { throw FlowReturn.eos }
            try data.withBytes { parser.supply($0, at: range.lowerBound) }
          } catch let flow as FlowReturn where flow == .eos {
            parser.endOfStream(at: range.lowerBound)
          }
        case .end: return
        default: break
        }
      }
    } catch let error as ISOBMFFError {
      guard movie != nil else { throw error }
      warn("The file is damaged or cut off; it is played up to there.", debug: "\(error)")
    }
  }

  /// The size of a file about which upstream says nothing: what can be read of it.
  private func probedSize() throws -> UInt64 {
    func has(_ offset: UInt64) throws -> Bool {
      do {
        return try sink.pullRange(offset: offset, size: 1).size > 0
      } catch {
        guard error != .flushing else { throw error }
        return false
      }
    }
    var low: UInt64 = 0
    var high: UInt64 = 1 << 16
    while high < 1 << 62, try has(high - 1) { (low, high) = (high, high * 2) }
    while low < high {
      let middle = low + (high - low) / 2
      if try has(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Hands out the sample that has to be decoded first of those that come next.
  func step() throws {
    var chosen: (track: Int, item: DemuxTrack.Item)?
    for (index, track) in tracks.enumerated() where !track.hasEnded {
      guard let item = try next(track) else { continue }
      if chosen == nil || item.order < chosen?.item.order ?? .max { chosen = (index, item) }
    }
    guard let chosen else {
      if try nextGroup() { return }
      throw FlowReturn.eos
    }
    let track = tracks[chosen.track]
    let isLinked = track.hasLinkedStream
    let data = isLinked ? try read(chosen.item, of: chosen.track) : nil
    // What nobody takes is not read, but ends with the file all the same.
    guard isLinked ? data != nil : chosen.item.end <= fileSize ?? .max else {
      warn(
        "The file is cut off; it is played up to there.",
        debug: "track \(track.id.rawValue): a sample at byte \(chosen.item.record.offset)")
      track.finish()
      return
    }
    if let data {
      try pass(chosen.item, of: track)
      try hand(chosen.item, data, of: track)
    } else {
      hasPlayed = true
      try pass(chosen.item, of: track)
      for stream in track.streams { try combine(stream, .notLinked) }
    }
    if chosen.item.order > 0 { try fillGaps(upTo: ClockTime(chosen.item.order)) }
  }

  /// The bytes of a sample; nil where the file ends before them.
  private func read(_ item: DemuxTrack.Item, of index: Int) throws -> Buffer? {
    guard let itemSize = Int(exactly: item.size) else { return nil }
    if let part = readAhead.part(item.record.offset, itemSize) { return part }
    let track = tracks[index]
    guard let samples = movie?.tracks[track.index].samples else { return nil }
    let size = fileSize ?? .max
    let left = size - min(size, item.record.offset)
    let wanted =
      readAhead.isWorthwhile(fileSize: size) && !track.hasKeyUnitsOnly(play)
      ? track.readSize(item) { samples.sample(at: $0).map { ($0.offset, $0.size) } } : item.size
    readAhead.keep(nil, for: index)
    do {
      let data = try pull(item.record.offset, max(item.size, min(wanted, left)))
      readAhead.count(data.size)
      guard data.size >= itemSize else { return nil }
      if data.size == itemSize { return data }
      readAhead.keep(.init(offset: item.record.offset, buffer: data), for: index)
      return data.memory(offset: 0, size: itemSize)
    } catch let flow as FlowReturn where flow == .eos {
      return nil
    }
  }

  private func pull(_ offset: UInt64, _ size: UInt64) throws -> Buffer {
    let end = offset.addingReportingOverflow(size)
    guard let size = UInt32(exactly: size), size > 0, !end.overflow,
      end.partialValue <= fileSize ?? .max
    else { throw FlowReturn.eos }
    return try sink.pullRange(offset: offset, size: size, into: readAhead.target(size: size))
  }
}
