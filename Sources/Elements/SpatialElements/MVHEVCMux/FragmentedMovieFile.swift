// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// A fragmented file. Each fragment has its own index, so the file can be played while it grows and
/// if it is cut off. On request it becomes an ordinary movie with one index at the end.
final class FragmentedMovieFile: MovieFileWriter {
  /// The end of a fragment or chunk: before a sample of the leading track, and at that sample's
  /// time in the other tracks.
  private struct Cut {
    let track: Int
    let index: Int
    /// Running time at which the next fragment is presented, or the next chunk decoded.
    let time: RunningTime
    /// Whether the fragment continues in another chunk.
    var isInFragment = false
    /// Whether the cut is made without waiting for the other tracks: too much data is pending, or
    /// the format changes.
    var isForced = false
  }

  private struct Track {
    let id: TrackID
    var samples: [PendingSample] = []
    /// Whether any sample has arrived.
    var hasBegun = false
    /// Sample entry that applies from the next sample on; nil if the entry does not change.
    var nextEntry: SampleEntry?
    /// Number of pending samples that are known not to start a fragment.
    var scanned = 1
    var hasEnded = false
    /// Running time before which no further sample is decoded.
    var silentUntil = RunningTime.min

    /// Whether the track has no samples and need not be waited for.
    var isSilent: Bool { samples.isEmpty && silentUntil > .min }

    func isComplete(until time: RunningTime) -> Bool {
      hasEnded || silentUntil >= time || (samples.last.map { $0.decodeTime >= time } ?? false)
    }
  }

  /// Size in bytes at which a fragment is closed even if the next sample is no sync sample.
  private static let maximumSize = 1 << 28

  private let options: Options
  private var writer: FragmentWriter
  /// The index of the finished movie.
  private var whole: MovieWriter?
  private var tracks: [Track]
  private var size = 0
  /// Presentation time of the open fragment's start, as running time.
  private var start: RunningTime?
  /// Decode time of the open chunk's first sample, as running time.
  private var chunkStart: RunningTime?
  /// Whether the open chunk is not the first one of its fragment.
  private var continuesFragment = false
  private var isInitialized = false
  private let demands: Locked<SplitRequests>
  private let output: CoalescingOutput

  override var byteCount: UInt64 { whole?.position ?? writer.position }

  init(
    _ options: Options, metadata: MovieMetadata, tracks: [TrackDescription],
    origin: RunningTime, demands: Locked<SplitRequests>, output: CoalescingOutput
  ) throws {
    self.options = options
    self.demands = demands
    self.output = output
    if options.isFinalised {
      whole = MovieWriter(finalising: options.format.container, metadata: metadata)
    }
    var writer = FragmentWriter(
      format: options.format, metadata: metadata,
      firstSequenceNumber: options.firstSequenceNumber, hasDuration: options.hasDuration,
      hasEditLists: options.hasEditLists,
      hasRandomAccessIndex: options.hasRandomAccessIndex, position: whole?.position ?? 0)
    self.tracks = try tracks.map { Track(id: try writer.addTrack($0)) }
    self.writer = writer
    super.init(tracks: tracks, origin: origin, creationTime: metadata.creationTime)
    for track in tracks { _ = try whole?.addTrack(track) }
  }

  override func replaceSampleEntry(_ entry: SampleEntry, of track: Int) throws {
    if options.headerUpdate == .caps, whole == nil, tracks[track].hasBegun {
      tracks[track].nextEntry = entry
    } else if !isInitialized {
      try writer.setSampleEntry(entry, of: tracks[track].id)
    }
    try whole?.setSampleEntry(entry, of: tracks[track].id)
  }

  override func replaceMetadata(_ metadata: MovieMetadata) { whole?.metadata = metadata }

  override func append(_ sample: PendingSample, to track: Int) throws {
    tracks[track].hasBegun = true
    tracks[track].samples.append(sample)
    size += sample.buffer.size
    if let entry = tracks[track].nextEntry { try begin(entry, of: track) }
    try writeReady()
  }

  /// Ends the fragment before a track's last sample, which is the first with a new sample entry and
  /// needs another initialization segment before it.
  private func begin(_ entry: SampleEntry, of track: Int) throws {
    tracks[track].nextEntry = nil
    let index = tracks[track].samples.count - 1
    let time = tracks[track].samples[index].presentationTime
    try write(
      until: Cut(track: track, index: index, time: time, isForced: true), isUrgent: false)
    try writer.setSampleEntry(entry, of: tracks[track].id)
    demands.withLock { $0.header = true }
  }

  override func endPresentation(of track: Int, at time: Int64) throws {
    try whole?.endPresentation(of: tracks[track].id, at: time)
  }

  override func pass(_ time: RunningTime, of track: Int) throws {
    tracks[track].silentUntil = max(tracks[track].silentUntil, time)
    try writeReady()
  }

  override func end(_ track: Int) throws {
    tracks[track].hasEnded = true
    try writeReady()
  }

  override func complete(isUrgent: Bool) throws {
    try write(until: nil, isUrgent: isUrgent)
    if let whole {
      try output.write(try whole.finish(), isUrgent: isUrgent)
    } else if options.hasRandomAccessIndex {
      try output.write(Buffer(writer.randomAccessIndex()))
    }
    try updateHeader()
  }

  /// Writes the final values of the initialization segment, as `header-update-mode` requests. A
  /// finalised file has its own index instead.
  private func updateHeader() throws {
    guard isInitialized, whole == nil, options.headerUpdate != .none else { return }
    let header = Buffer(try writer.finalInitializationSegment())
    header.flags.insert(.header)
    switch options.headerUpdate {
    case .none: break
    case .rewrite: try output.patch(at: 0, header)
    case .update: try output.write(header)
    case .caps: try output.announce(streamHeader: header)
    }
  }

  private func writeReady() throws {
    while let cut = nextCut() {
      guard cut.isForced || tracks.allSatisfy({ $0.isComplete(until: cut.time) }) else { return }
      try write(until: cut, isUrgent: false)
    }
  }

  /// Returns the next cut, decided by the leading track: the first one that has not ended, and is
  /// not silent, so video if possible.
  private func nextCut() -> Cut? {
    guard let index = tracks.firstIndex(where: { !$0.hasEnded && !$0.isSilent }),
      let first = tracks[index].samples.first
    else { return nil }
    let start = self.start ?? first.presentationTime
    self.start = start
    let wanted = start + options.duration
    let samples = tracks[index].samples
    let demands = demands.current
    let chunkStart = self.chunkStart ?? first.decodeTime
    self.chunkStart = chunkStart
    let chunkEnd = options.chunkDuration.map { chunkStart + $0 } ?? .max
    while tracks[index].scanned < samples.count {
      let sample = samples[tracks[index].scanned]
      if sample.description.isSync,
        sample.presentationTime >= wanted || demands.isSplit(at: sample.presentationTime)
      {
        return Cut(track: index, index: tracks[index].scanned, time: sample.presentationTime)
      }
      if sample.decodeTime >= chunkEnd {
        return Cut(
          track: index, index: tracks[index].scanned, time: sample.decodeTime, isInFragment: true)
      }
      tracks[index].scanned += 1
    }
    guard size > Self.maximumSize, samples.count > 1, let last = samples.last else { return nil }
    return Cut(
      track: index, index: samples.count - 1, time: last.presentationTime, isForced: true)
  }

  /// Writes a fragment or chunk of the samples up to a cut, or of all samples if it is nil.
  private func write(until cut: Cut?, isUrgent: Bool) throws {
    var data: [Buffer] = []
    var next: [TrackID: Int64] = [:]
    var starts: [RunningTime] = []
    let counts = tracks.indices.map { index in
      guard let cut, index != cut.track else { return cut?.index ?? tracks[index].samples.count }
      return tracks[index].samples.firstIndex { $0.decodeTime >= cut.time }
        ?? tracks[index].samples.count
    }
    for (index, count) in counts.enumerated() {
      let id = tracks[index].id
      for sample in tracks[index].samples.prefix(count) {
        try writer.append(sample.description, to: id)
        data.append(sample.buffer)
        starts.append(sample.presentationTime)
      }
      if tracks[index].samples.count > count {
        next[id] = tracks[index].samples[count].description.decodeTime
      }
    }
    let written = tracks.indices.map { tracks[$0].samples.prefix(counts[$0]) }
    if !data.isEmpty {
      if !isInitialized {
        try initialize()
      } else if !continuesFragment {
        try repeatHeader()
      }
    }
    var fragmentOptions = FragmentOptions()
    fragmentOptions.continuesFragment = continuesFragment
    if let fragment = try writer.finishFragment(fragmentOptions, nextDecodeTimes: next) {
      try register(fragment, written)
      let header = Buffer(fragment.header)
      header.flags.insert(.header)
      if continuesFragment || !(fragment.parts.first?.startsWithSync ?? true) {
        header.flags.insert(.deltaUnit)
      }
      if !options.isFinalised { header.pts = starts.min().map { ClockTime(clamping: $0) } }
      header.offset = UInt64(fragment.sequenceNumber)
      try output.write(header)
      for (index, buffer) in data.enumerated() {
        var flags: BufferFlags = .deltaUnit
        if index == data.count - 1 {
          flags.insert(.marker)
          if options.isFinalised || isUrgent { flags.insert(.syncAfter) }
        }
        try output.write(sample: buffer, flags)
      }
      try output.flush()
    }
    for (index, count) in counts.enumerated() {
      size -= tracks[index].samples.prefix(count).reduce(0) { $0 + $1.buffer.size }
      tracks[index].samples.removeFirst(count)
      tracks[index].scanned = 1
    }
    chunkStart = nil
    continuesFragment = cut?.isInFragment ?? false
    if let cut, !cut.isInFragment {
      start = cut.time
      demands.withLock { $0.begin(at: cut.time) }
    }
  }

  /// Writes the initialization segment, before the first fragment.
  private func initialize() throws {
    guard !isInitialized else { return }
    isInitialized = true
    demands.withLock { $0.header = false }
    let segment = try writer.initializationSegment(hasFileType: !options.isFinalised)
    if let header = whole?.header { try output.write(Buffer(header)) }
    whole?.skip(UInt64(segment.count))
    let buffer = Buffer(segment)
    buffer.flags.insert([.header, .discont])
    if !options.isFinalised { try output.announce(streamHeader: buffer) }
    try output.write(buffer)
  }

  /// Writes the initialization segment again if it was requested. A finalised file has only one.
  private func repeatHeader() throws {
    let isWanted = demands.withLock { demands in
      defer { demands.header = false }
      return demands.header
    }
    guard isWanted, whole == nil else { return }
    let buffer = Buffer(try writer.initializationSegment())
    buffer.flags.insert([.header, .discont])
    try output.announce(streamHeader: buffer)
    try output.write(buffer)
  }

  /// Adds the samples of a fragment, with their offsets, to the finished movie's index.
  private func register(
    _ fragment: Fragment, _ samples: [ArraySlice<PendingSample>]
  ) throws {
    guard whole != nil else { return }
    whole?.skip(UInt64(fragment.header.count))
    for (track, samples) in zip(tracks, samples) {
      for sample in samples { try whole?.append(sample.description, to: track.id) }
    }
  }
}
