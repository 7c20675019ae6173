// SPDX-License-Identifier: MPL-2.0

/// The `stbl` box of a track (ISO/IEC 14496-12 8.5), with its children in AVFoundation's order.
struct SampleTableBoxes {
  let track: MovieWriter.Track
  let timing: TrackTiming
  let container: MovieContainer

  private var tables: TrackTables { track.tables }

  func write(to writer: inout BoxWriter) {
    writer.reserve(tables.sizes.count * 4 + tables.dependencies.count + 4096)
    writer.box("stbl") {
      writeSampleEntry(to: &$0)
      writePreroll(to: &$0)
      writeDecodeTimes(to: &$0)
      writeCompositionOffsets(to: &$0)
      writeSyncSamples(to: &$0)
      writeDependencies(to: &$0)
      writeChunks(to: &$0)
    }
  }

  private func writeSampleEntry(to writer: inout BoxWriter) {
    writer.fullBox("stsd") {
      let entries = track.sampleEntries
      $0.write(UInt32(clamping: entries.count))
      for entry in entries {
        if let protection = track.description.protection {
          protection.write(entry, to: &$0) { write(entry, to: &$0) }
        } else {
          write(entry, to: &$0)
        }
      }
    }
  }

  private func write(_ entry: SampleEntry, to writer: inout BoxWriter) {
    switch entry {
    case .video(let entry): entry.write(to: &writer, container: container)
    case .audio(let entry): entry.write(to: &writer, container: container)
    case .other(let entry): entry.write(to: &writer)
    }
  }

  /// Writes `roll`: the number of samples to decode before the wanted one (ISO/IEC 14496-12 10.1).
  private func writePreroll(to writer: inout BoxWriter) {
    guard case .audio(let entry) = track.description.sampleEntry, tables.sampleCount > 0,
      let distance = entry.rollDistance
    else { return }
    writer.fullBox("sgpd", version: 1) {
      $0.write("roll" as FourCC)
      $0.write(UInt32(2))
      $0.write(UInt32(1))
      $0.write(distance)
    }
    writer.fullBox("sbgp") {
      $0.write("roll" as FourCC)
      $0.write(UInt32(1))
      $0.write(tables.sampleCount)
      $0.write(UInt32(1))
    }
  }

  private func writeDecodeTimes(to writer: inout BoxWriter) {
    var durations = tables.durations
    if tables.sampleCount > 0 { durations.append(tables.lastDuration) }
    writer.fullBox("stts") {
      $0.write(UInt32(clamping: durations.runs.count))
      for run in durations.runs {
        $0.write(run.count)
        $0.write(run.value)
      }
    }
  }

  /// Writes `ctts` with signed offsets, and `cslg`, which QuickTime requires for signed offsets.
  private func writeCompositionOffsets(to writer: inout BoxWriter) {
    let runs = tables.compositionOffsets.runs
    let shift = timing.compositionShift
    guard runs.contains(where: { Int64($0.value) != shift }) else { return }
    writer.fullBox("ctts", version: 1) {
      $0.write(UInt32(clamping: runs.count))
      for run in runs {
        $0.write(run.count)
        $0.write(Int32(clamping: Int64(run.value) - shift))
      }
    }
    guard container == .quickTime else { return }
    let least = Int64(runs.map(\.value).min() ?? 0) - shift
    let greatest = Int64(runs.map(\.value).max() ?? 0) - shift
    let end = tables.presentationEnd - tables.presentationStart
    let values = [max(0, -least), least, greatest, 0, end]
    let wide = values.contains { Int32(exactly: $0) == nil }
    writer.fullBox("cslg", version: wide ? 1 : 0) {
      for value in values {
        if wide {
          $0.write(value)
        } else {
          $0.write(Int32(clamping: value))
        }
      }
    }
  }

  private func writeSyncSamples(to writer: inout BoxWriter) {
    guard !tables.allSync else { return }
    writer.fullBox("stss") {
      $0.write(UInt32(clamping: tables.syncSamples.count))
      for number in tables.syncSamples {
        $0.write(number)
      }
    }
  }

  private func writeDependencies(to writer: inout BoxWriter) {
    guard !tables.dependencies.isEmpty else { return }
    writer.fullBox("sdtp") { $0.write(tables.dependencies) }
  }

  private func writeChunks(to writer: inout BoxWriter) {
    var chunks = tables.chunks
    chunks.close()
    writer.fullBox("stsc") {
      $0.write(UInt32(clamping: chunks.runs.count))
      for run in chunks.runs {
        $0.write(run.firstChunk)
        $0.write(run.samplesPerChunk)
        $0.write(run.entry)
      }
    }
    writer.fullBox("stsz") {
      $0.write(tables.sizes.isEmpty ? tables.uniformSize : 0)
      $0.write(tables.sampleCount)
      for size in tables.sizes {
        $0.write(size)
      }
    }
    let wide = (chunks.offsets.last ?? 0) > UInt32.max
    writer.fullBox(wide ? "co64" : "stco") {
      $0.write(UInt32(clamping: chunks.offsets.count))
      for offset in chunks.offsets {
        $0.write(offset, wide: wide)
      }
    }
  }
}

extension OtherSampleEntry {
  func write(to writer: inout BoxWriter) {
    writer.box(type) { $0.write(content) }
  }
}

extension AudioSampleEntry {
  /// Pre-roll in samples: one for AAC's overlapping windows; 80 ms of 20 ms packets for Opus.
  fileprivate var rollDistance: Int16? {
    switch coding {
    case .aac: -1
    case .opus: -4
    default: nil
    }
  }
}
