// SPDX-License-Identifier: MPL-2.0

/// The index of a movie: its `moov` box (ISO/IEC 14496-12 8.2.1).
public struct Movie: Sendable {
  /// Units a second of the movie's durations and edit lists; never 0.
  public internal(set) var timescale: UInt32 = 0
  /// In units of the timescale; nil where it is not known.
  public internal(set) var duration: UInt64?
  /// Seconds since 1904-01-01 00:00 UTC; 0 is not known.
  public internal(set) var creationTime: UInt64 = 0
  public internal(set) var matrix = TransformMatrix.identity
  /// In the file's order, without those that cannot be read.
  public internal(set) var tracks: [Track] = []
  /// Samples come in fragments, behind this index (`mvex`).
  public internal(set) var isFragmented = false
  /// With fragments, in units of the timescale; nil where it is not known (`mehd`).
  public internal(set) var fragmentedDuration: UInt64?
  /// The items of `meta` and `udta`, QuickTime's and iTunes' alike.
  public internal(set) var metadata: [MetadataItem] = []
  /// The boxes of `udta`, as they are.
  public internal(set) var userData: [OpaqueBox] = []
  /// Every other box of `moov`, in the file's order.
  public internal(set) var otherBoxes: [OpaqueBox] = []
  /// What is wrong with the file but can be done without: broken tracks that were left out,
  /// metadata that could not be read. At most 64 of them.
  public internal(set) var issues: [ISOBMFFError] = []
  /// What holds for samples for which a fragment says nothing (`trex`).
  var fragmentDefaults: [TrackID: TrackRun.Defaults] = [:]

  /// Adds a fragment's samples to those of its tracks, so that they can be looked up there.
  /// Fragments are to be added once each, in the file's order.
  public mutating func append(_ fragment: MovieFragment) {
    for trackFragment in fragment.trackFragments {
      guard let index = tracks.firstIndex(where: { $0.id == trackFragment.trackID }) else {
        continue
      }
      for run in trackFragment.runs {
        tracks[index].samples.append(run)
      }
    }
  }
}

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

/// What a file says of its own format: the `ftyp` box (ISO/IEC 14496-12 4.3).
public struct FileType: Equatable, Sendable {
  /// `qt  `, `mp42`, `isom` and so on.
  public var majorBrand: FourCC
  public var minorVersion: UInt32
  /// Every specification that the file says it follows.
  public var compatibleBrands: [FourCC]

  /// QuickTime rather than ISO base media.
  public var isQuickTime: Bool { majorBrand == "qt  " }

  init(content: [UInt8], at offset: UInt64) throws(ISOBMFFError) {
    var box = BoxReader(content, type: "ftyp", path: "ftyp", base: offset)
    majorBrand = try box.readFourCC("major_brand")
    minorVersion = try box.read("minor_version")
    compatibleBrands = []
    while box.remaining >= 4 {
      compatibleBrands.append(try box.readFourCC("compatible_brands"))
    }
  }
}

/// Where the samples of a track are: the `dref` box in its `dinf` (ISO/IEC 14496-12 8.7).
///
/// Samples in other files are refused: their names come from the file, and reading them would let a
/// movie choose what is read.
struct DataReferences {
  /// The numbers, from 1 on, of the references that lead out of the file.
  private var external: Set<UInt16> = []

  /// All samples are in this file.
  init() {}

  /// Reads a `dinf` box.
  init(_ dinf: BoxReader) throws(ISOBMFFError) {
    var dinf = dinf
    while var dref = try dinf.nextBox() {
      guard dref.type == "dref" else { continue }
      _ = try dref.readVersion()
      try dref.skip(4, "entry_count")
      var number: UInt16 = 0
      while var reference = try dref.nextBox(), number < .max {
        number += 1
        let isHere = try reference.readVersion().flags & 1 != 0
        // Writers exist that leave the flag out, and the name too.
        if !isHere, reference.remaining > 0 { external.insert(number) }
      }
    }
  }

  /// Throws where the samples of a sample entry are in another file.
  func check(_ entry: BoxReader) throws(ISOBMFFError) {
    guard !external.isEmpty else { return }
    var entry = entry
    try entry.skip(6, "reserved")
    let number: UInt16 = try entry.read("data_reference_index")
    guard external.contains(number) else { return }
    throw entry.error("its samples are in another file, which is not read")
  }
}
