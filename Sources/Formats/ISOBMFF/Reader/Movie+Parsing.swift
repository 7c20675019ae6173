// SPDX-License-Identifier: MPL-2.0

extension Movie {
  /// Reads the content of a `moov` box.
  ///
  /// - Parameters:
  ///   - content: everything behind the box's header. It is kept: samples are looked up in it.
  ///   - offset: where the content begins, in bytes from the file's start.
  /// - Throws: an ``ISOBMFFError`` where the box is broken, or no track in it can be read.
  public init(content: [UInt8], at offset: UInt64 = 0) throws(ISOBMFFError) {
    var box = BoxReader(content, type: "moov", path: "moov", base: offset)
    var log = IssueLog()
    var trackCount = 0
    var firstTrackError: ISOBMFFError?
    while let child = try box.nextBox() {
      switch child.type {
      case "mvhd":
        try readHeader(child)
      case "trak":
        let box = child.numbered(trackCount)
        trackCount += 1
        do throws(ISOBMFFError) {
          tracks.append(try Track(box, issues: &log))
        } catch {
          firstTrackError = firstTrackError ?? error
          log.add(error)
        }
      case "mvex":
        isFragmented = true
        log.optional { () throws(ISOBMFFError) in try readFragmentDefaults(child) }
      case "meta":
        log.optional { () throws(ISOBMFFError) in metadata += try MetadataItem.items(in: child) }
        otherBoxes.append(child.opaque)
      case "udta":
        let content = UserData(child, issues: &log)
        userData += content.boxes
        metadata += content.items
      case "cmov":
        throw child.error("the movie's index is compressed, which is not supported")
      default:
        otherBoxes.append(child.opaque)
      }
    }
    if tracks.isEmpty, let firstTrackError {
      throw firstTrackError
    }
    guard timescale > 0 else {
      throw box.error("the movie has no mvhd box with a timescale above 0")
    }
    issues = log.issues
  }

  /// ISO/IEC 14496-12 8.2.2.
  private mutating func readHeader(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    let wide = try box.readVersion().version == 1
    creationTime = try box.read("creation_time", wide: wide)
    _ = try box.read("modification_time", wide: wide)
    timescale = try box.read("timescale")
    let length = try box.read("duration", wide: wide)
    duration = length == (wide ? UInt64.max : UInt64(UInt32.max)) ? nil : length
    try box.skip(16, "rate, volume and reserved")
    matrix = try TransformMatrix(&box)
  }

  /// ISO/IEC 14496-12 8.8.1 to 8.8.3.
  private mutating func readFragmentDefaults(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    while var child = try box.nextBox() {
      switch child.type {
      case "mehd":
        let wide = try child.readVersion().version == 1
        fragmentedDuration = try child.read("fragment_duration", wide: wide)
      case "trex":
        _ = try child.readVersion()
        let id = TrackID(rawValue: try child.read("track_ID"))
        var defaults = TrackRun.Defaults()
        defaults.sampleEntryIndex = max(
          0, Int(try child.read("default_sample_description_index", as: UInt32.self)) - 1)
        defaults.duration = try child.read("default_sample_duration")
        defaults.size = try child.read("default_sample_size")
        defaults.flags = try child.read("default_sample_flags")
        fragmentDefaults[id] = defaults
      default:
        break
      }
    }
  }
}
