// SPDX-License-Identifier: MPL-2.0

/// The `trak` box of a track.
struct TrackBoxes {
  let id: TrackID
  let track: MovieWriter.Track
  let timing: TrackTiming
  let container: MovieContainer
  let creationTime: UInt64
  /// References by the track IDs in the file.
  let references: [TrackReference]

  private var description: TrackDescription { track.description }

  func write(to writer: inout BoxWriter) {
    writer.box("trak") {
      writeTrackHeader(to: &$0)
      writeApertures(to: &$0)
      writeEdits(to: &$0)
      writeReferences(to: &$0)
      $0.box("mdia") {
        writeMediaHeader(to: &$0)
        writeHandler(to: &$0)
        if let tag = description.languageTag { $0.fullBox("elng") { $0.write(cString: tag) } }
        $0.box("minf") {
          writeMediaInformation(to: &$0)
          SampleTableBoxes(track: track, timing: timing, container: container).write(to: &$0)
        }
      }
      MovieMetadata(items: description.metadata, userData: description.userData)
        .write(to: &$0, container: container)
      if let box = description.sphericalVideoV1?.box { $0.box(box) }
    }
  }

  /// Writes `tkhd` (ISO/IEC 14496-12 8.3.2).
  private func writeTrackHeader(to writer: inout BoxWriter) {
    let wide = timing.duration > UInt32.max || creationTime > UInt32.max
    // In the movie, and in QuickTime also in its preview and poster.
    let uses: UInt32 = container == .quickTime ? 0xE : 0x2
    let flags = uses | (description.isEnabled ? 1 : 0)
    writer.fullBox("tkhd", version: wide ? 1 : 0, flags: flags) {
      $0.write(creationTime, wide: wide)
      $0.write(creationTime, wide: wide)
      $0.write(id.rawValue)
      $0.write(UInt32(0))
      $0.write(timing.duration, wide: wide)
      $0.write(zeros: 10)
      $0.write(description.alternateGroup)
      $0.write(isAudio ? 0x100 : 0 as UInt16)
      $0.write(UInt16(0))
      let size = visualEntry?.displaySize ?? FixedPointSize(width: 0, height: 0)
      TransformMatrix(description.orientation, of: size).write(to: &$0)
      size.write(to: &$0)
    }
  }

  private var visualEntry: VisualSampleEntry? {
    if case .video(let entry) = description.sampleEntry { entry } else { nil }
  }

  private var isAudio: Bool {
    if case .audio = description.sampleEntry { true } else { false }
  }

  /// Writes `tapt`: the sizes in QuickTime's three aperture modes.
  private func writeApertures(to writer: inout BoxWriter) {
    guard container == .quickTime, let visualEntry else { return }
    writer.box("tapt") {
      $0.fullBox("clef") { visualEntry.displaySize.write(to: &$0) }
      $0.fullBox("prof") { visualEntry.productionSize.write(to: &$0) }
      $0.fullBox("enof") { visualEntry.encodedSize.write(to: &$0) }
    }
  }

  /// Writes `edts` (ISO/IEC 14496-12 8.6.6).
  private func writeEdits(to writer: inout BoxWriter) {
    guard timing.hasEdits else { return }
    var edits: [(duration: UInt64, mediaTime: Int64)] = []
    if timing.emptyDuration > 0 {
      edits.append((timing.emptyDuration, -1))
    }
    edits.append((timing.editDuration, Int64(clamping: timing.mediaTime)))
    let wide = edits.contains { $0.duration > UInt32.max || $0.mediaTime > Int32.max }
    writer.box("edts") { edts in
      edts.fullBox("elst", version: wide ? 1 : 0) {
        $0.write(UInt32(clamping: edits.count))
        for edit in edits {
          $0.write(edit.duration, wide: wide)
          if wide {
            $0.write(edit.mediaTime)
          } else {
            $0.write(Int32(clamping: edit.mediaTime))
          }
          $0.write(UInt32(0x1_0000))
        }
      }
    }
  }

  /// Writes `tref` (ISO/IEC 14496-12 8.3.3).
  private func writeReferences(to writer: inout BoxWriter) {
    guard !references.isEmpty else { return }
    writer.box("tref") { tref in
      var written: Set<FourCC> = []
      for type in references.map(\.type) where written.insert(type).inserted {
        tref.box(type) {
          for reference in references where reference.type == type {
            $0.write(reference.track.rawValue)
          }
        }
      }
    }
  }

  /// Writes `mdhd` (ISO/IEC 14496-12 8.4.2).
  private func writeMediaHeader(to writer: inout BoxWriter) {
    let duration = track.tables.mediaDuration
    let wide = duration > UInt32.max || creationTime > UInt32.max
    writer.fullBox("mdhd", version: wide ? 1 : 0) {
      $0.write(creationTime, wide: wide)
      $0.write(creationTime, wide: wide)
      $0.write(description.timescale)
      $0.write(duration, wide: wide)
      $0.write(LanguageCode.packed(description.language))
      $0.write(UInt16(0))
    }
  }

  private func writeHandler(to writer: inout BoxWriter) {
    let (type, name): (FourCC, String) =
      switch description.sampleEntry {
      case .video: ("vide", "Video Handler")
      case .audio: ("soun", "Sound Handler")
      case .other(let entry): (entry.handlerType, "Media Handler")
      }
    writeHandler(
      componentType: "mhlr", type: type, name: description.handlerName ?? name, to: &writer)
  }

  /// Writes `hdlr`. QuickTime's variant has a component type and a Pascal string for the name; in
  /// ISO/IEC 14496-12 8.4.3 they are 0 and a C string.
  private func writeHandler(
    componentType: FourCC, type: FourCC, name: String, to writer: inout BoxWriter
  ) {
    writer.fullBox("hdlr") {
      $0.write(container == .quickTime ? componentType : FourCC(rawValue: 0))
      $0.write(type)
      $0.write(zeros: 12)
      if container == .quickTime {
        $0.write(pascalString: name)
      } else {
        $0.write(cString: name)
      }
    }
  }

  private func writeMediaInformation(to writer: inout BoxWriter) {
    switch description.sampleEntry {
    case _ where description.mediaHeader != nil:
      if let box = description.mediaHeader { writer.box(box) }
    case .video:
      writer.fullBox("vmhd", flags: 1) {
        guard container == .quickTime else { return $0.write(zeros: 8) }
        // QuickTime's usual graphics mode: dither copy, with a grey operation colour.
        $0.write(UInt16(0x40))
        for _ in 0..<3 {
          $0.write(UInt16(0x8000))
        }
      }
    case .audio:
      writer.fullBox("smhd") { $0.write(zeros: 4) }
    case .other where container == .quickTime:
      writer.box("gmhd") { gmhd in
        gmhd.fullBox("gmin") {
          $0.write(UInt16(0x40))
          for _ in 0..<3 {
            $0.write(UInt16(0x8000))
          }
          $0.write(zeros: 4)
        }
      }
    case .other:
      writer.fullBox("nmhd") { _ in }
    }
    if container == .quickTime {
      writeHandler(componentType: "dhlr", type: "alis", name: "Data Handler", to: &writer)
    }
    // One data reference: this file.
    writer.box("dinf") { dinf in
      dinf.fullBox("dref") { dref in
        dref.write(UInt32(1))
        dref.fullBox(container == .quickTime ? "alis" : "url ", flags: 1) { _ in }
      }
    }
  }
}

/// The `mvhd` box (ISO/IEC 14496-12 8.2.2).
struct MovieHeader {
  /// Timescale of the movie's durations and edit lists, in units per second.
  let timescale: UInt32
  /// Duration in units of the timescale; 0 if fragments follow.
  let duration: UInt64
  /// Seconds since 1904-01-01.
  let creationTime: UInt64
  let nextTrackNumber: UInt32

  func write(to writer: inout BoxWriter) {
    let wide = duration > UInt32.max || creationTime > UInt32.max
    writer.fullBox("mvhd", version: wide ? 1 : 0) {
      $0.write(creationTime, wide: wide)
      $0.write(creationTime, wide: wide)
      $0.write(timescale)
      $0.write(duration, wide: wide)
      $0.write(UInt32(0x1_0000))
      $0.write(UInt16(0x100))
      $0.write(zeros: 10)
      TransformMatrix.identity.write(to: &$0)
      $0.write(zeros: 24)
      $0.write(nextTrackNumber)
    }
  }
}
