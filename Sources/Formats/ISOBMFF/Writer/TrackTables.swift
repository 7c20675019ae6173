// SPDX-License-Identifier: MPL-2.0

/// The samples of a track for the movie's index, in a form as compact as in the file.
struct TrackTables: Sendable {
  private(set) var sampleCount: UInt32 = 0
  /// The size of every sample while all sizes are equal; `sizes` is then empty.
  private(set) var uniformSize: UInt32 = 0
  private(set) var sizes: [UInt32] = []
  /// Durations of all samples except the last, whose duration depends on the next sample.
  private(set) var durations = RunLengthTable<UInt32>()
  private(set) var compositionOffsets = RunLengthTable<Int32>()
  private(set) var allSync = true
  /// Sample numbers from 1; empty while `allSync`.
  private(set) var syncSamples: [UInt32] = []
  /// The `sdtp` byte of each sample; empty if no dependencies are known.
  private(set) var dependencies: [UInt8] = []
  var chunks = ChunkTable()

  private(set) var firstDecodeTime: Int64 = 0
  /// The earliest presentation time.
  private(set) var presentationStart = Int64.max
  private var presentationEndBeforeLast = Int64.min
  private var lastDecodeTime: Int64 = 0
  private var lastCompositionOffset: Int32 = 0
  private(set) var lastDuration: UInt32 = 0
  private var hasRuns = false
  /// Time at which the presentation ends although a sample lasts longer; nil if none does.
  var presentationLimit: Int64?

  /// End of the sample presented last, or of its presentation.
  var presentationEnd: Int64 {
    let end = max(
      presentationEndBeforeLast,
      lastDecodeTime + Int64(lastCompositionOffset) + Int64(lastDuration))
    return presentationLimit.map { max(presentationStart, min(end, $0)) } ?? end
  }

  /// The sum of all durations.
  var mediaDuration: UInt64 {
    UInt64(clamping: lastDecodeTime - firstDecodeTime) + UInt64(lastDuration)
  }

  /// Throws if the sample cannot be added.
  func check(_ sample: SampleDescription, in track: TrackID) throws(MovieWriterError) {
    try sample.check(
      in: track, after: sampleCount, lastDecodeTime: sampleCount > 0 ? lastDecodeTime : nil)
    guard !hasRuns && sample.count <= 1 || isEven(sample) else {
      throw .unevenRun(track, sample: sampleCount &+ 1)
    }
  }

  /// Returns whether the sample equals all others. Runs may have millions of samples and are never
  /// split, so in a track with runs all samples must be alike.
  private func isEven(_ sample: SampleDescription) -> Bool {
    sample.isSync && allSync && sizes.isEmpty
      && (sampleCount == 0 || uniformSize == sample.size)
  }

  /// Adds a sample that has passed `check`.
  mutating func append(_ sample: SampleDescription) {
    guard sample.count > 0 else { return }
    hasRuns = hasRuns || sample.count > 1
    appendTimes(of: sample)
    appendSizes(of: sample)
    appendSync(of: sample)
    appendDependency(of: sample)
    sampleCount += sample.count
  }

  private mutating func appendTimes(of sample: SampleDescription) {
    if sampleCount == 0 {
      firstDecodeTime = sample.decodeTime
    } else {
      let distance = UInt32(clamping: sample.decodeTime - lastDecodeTime)
      durations.append(distance)
      // Decode times tell nothing of how long a picture lasts that is presented in another order.
      let isReordered = lastCompositionOffset != sample.compositionOffset && lastDuration > 1
      presentationEndBeforeLast = max(
        presentationEndBeforeLast,
        lastDecodeTime + Int64(lastCompositionOffset)
          + Int64(isReordered ? lastDuration : distance))
    }
    let offset = Int64(sample.compositionOffset)
    durations.append(sample.duration, count: sample.count - 1)
    compositionOffsets.append(sample.compositionOffset, count: sample.count)
    presentationStart = min(presentationStart, sample.decodeTime + offset)
    lastDecodeTime = sample.decodeTime + Int64(sample.count - 1) * Int64(sample.duration)
    if sample.count > 1 {
      presentationEndBeforeLast = max(presentationEndBeforeLast, lastDecodeTime + offset)
    }
    lastCompositionOffset = sample.compositionOffset
    // Readers leave out a last sample that takes no time.
    lastDuration = max(sample.duration, 1)
  }

  private mutating func appendSizes(of sample: SampleDescription) {
    if sampleCount == 0 {
      uniformSize = sample.size
    } else if sizes.isEmpty, uniformSize != sample.size {
      sizes = Array(repeating: uniformSize, count: Int(sampleCount))
    }
    if !sizes.isEmpty {
      sizes.append(contentsOf: repeatElement(sample.size, count: Int(sample.count)))
    }
  }

  private mutating func appendSync(of sample: SampleDescription) {
    if allSync, !sample.isSync {
      allSync = false
      syncSamples = sampleCount > 0 ? Array(1...sampleCount) : []
    } else if !allSync, sample.isSync {
      syncSamples.append(contentsOf: (sampleCount + 1)...(sampleCount + sample.count))
    }
  }

  /// Not stored for runs: one byte per sample is too much for their millions of frames.
  private mutating func appendDependency(of sample: SampleDescription) {
    guard !hasRuns else {
      dependencies = []
      return
    }
    guard sample.dependency.rawValue != 0 || !dependencies.isEmpty else { return }
    let missing = Int(sampleCount) - dependencies.count
    dependencies.append(contentsOf: repeatElement(0, count: missing))
    dependencies.append(sample.dependency.rawValue)
  }
}

/// The positions of a track's samples: runs of contiguous samples, as `stco` and `stsc` hold them.
struct ChunkTable: Sendable {
  struct Run: Sendable {
    var firstChunk: UInt32
    var samplesPerChunk: UInt32
    /// Number of the sample entry, from 1.
    var entry: UInt32
  }

  /// Maximum chunk size, so that readers that add up the sizes within a chunk stay fast.
  private static let maximumChunkSize: UInt64 = 1 << 20

  private(set) var offsets: [UInt64] = []
  private(set) var runs: [Run] = []
  private var openSamples: UInt32 = 0
  private var openSize: UInt64 = 0
  private var entry: UInt32 = 1

  /// Sets the number of the sample entry of the samples that follow.
  mutating func use(entry: UInt32) {
    close()
    self.entry = entry
  }

  /// Adds samples at a file offset; `continues` is whether they directly follow the track's
  /// previous sample.
  mutating func append(samples: UInt32, size: UInt64, at offset: UInt64, continues: Bool) {
    if !continues || openSamples == 0 || openSize >= Self.maximumChunkSize {
      close()
      offsets.append(offset)
    }
    openSamples &+= samples
    openSize &+= size
  }

  /// Ends the open chunk, if there is one.
  mutating func close() {
    guard openSamples > 0 else { return }
    if runs.last.map({ $0.samplesPerChunk != openSamples || $0.entry != entry }) ?? true {
      runs.append(
        Run(
          firstChunk: UInt32(clamping: offsets.count), samplesPerChunk: openSamples, entry: entry))
    }
    openSamples = 0
    openSize = 0
  }
}

/// A run-length encoded list of values, as in `stts` and `ctts`.
struct RunLengthTable<Value: Equatable & Sendable>: Sendable {
  struct Run: Sendable {
    var count: UInt32
    var value: Value
  }

  private(set) var runs: [Run] = []

  /// Appends the value `count` times. The caller keeps the total within 32 bits.
  mutating func append(_ value: Value, count: UInt32 = 1) {
    guard count > 0 else { return }
    if let last = runs.indices.last, runs[last].value == value {
      runs[last].count &+= count
    } else {
      runs.append(Run(count: count, value: value))
    }
  }
}
