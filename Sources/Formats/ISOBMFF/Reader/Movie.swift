// SPDX-License-Identifier: MPL-2.0

/// The index of a movie: its `moov` box (ISO/IEC 14496-12 8.2.1).
public struct Movie: Sendable {
  /// Timescale of the movie's durations and edit lists, in units per second; never 0.
  public internal(set) var timescale: UInt32 = 0
  /// Duration in units of the timescale; nil if unknown.
  public internal(set) var duration: UInt64?
  /// Seconds since 1904-01-01 00:00 UTC; 0 if unknown.
  public internal(set) var creationTime: UInt64 = 0
  /// The matrix of `mvhd`, which applies to all pictures of the movie.
  public internal(set) var matrix = TransformMatrix.identity
  /// The tracks in file order, without those that cannot be read.
  public internal(set) var tracks: [Track] = []
  /// Whether samples follow in fragments after this index (`mvex`).
  public internal(set) var isFragmented = false
  /// Duration including fragments, in units of the timescale (`mehd`); nil if unknown.
  public internal(set) var fragmentedDuration: UInt64?
  /// The items of `meta` and `udta`, in QuickTime's and in iTunes' form.
  public internal(set) var metadata: [MetadataItem] = []
  /// The boxes of `udta`, unparsed.
  public internal(set) var userData: [OpaqueBox] = []
  /// All other boxes of `moov`, in file order.
  public internal(set) var otherBoxes: [OpaqueBox] = []
  /// Data at the top level of the file, as far as its reader has recorded them.
  public var fileLevelBoxes = FileLevelBoxes()
  /// Recoverable defects of the file, such as unreadable metadata and broken tracks, which are left
  /// out. At most 64.
  public internal(set) var issues: [ISOBMFFError] = []
  /// Defaults for sample fields that fragments omit (`trex`).
  var fragmentDefaults: [TrackID: TrackRun.Defaults] = [:]

  /// Adds the samples of a fragment to its tracks, so that they can be looked up there. Add each
  /// fragment once, in file order.
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
  /// Parses the content of a `moov` box.
  ///
  /// - Parameters:
  ///   - content: everything after the box's header. It is kept, because samples are looked up in
  ///     it.
  ///   - offset: offset of the content in the file, in bytes.
  /// - Throws: ``ISOBMFFError`` if the box is broken or none of its tracks can be read.
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
    for track in tracks.indices { tracks[track].place(by: matrix) }
  }

  /// Reads `mvhd` (ISO/IEC 14496-12 8.2.2).
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

  /// Reads `mvex` (ISO/IEC 14496-12 8.8.1 to 8.8.3).
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

/// The format that a file claims to have: the `ftyp` box (ISO/IEC 14496-12 4.3).
public struct FileType: Equatable, Sendable {
  /// The major brand: `qt  `, `mp42`, `isom` and so on.
  public var majorBrand: FourCC
  /// Version of the specification that the major brand stands for; informative only.
  public var minorVersion: UInt32
  /// The brands of all specifications that the file claims to conform to.
  public var compatibleBrands: [FourCC]

  /// Whether the file is QuickTime rather than ISO base media.
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

/// The location of a track's samples: the `dref` box in its `dinf` (ISO/IEC 14496-12 8.7).
///
/// Samples in other files are rejected: the file names come from the movie, so reading them would
/// let a movie choose which files are opened.
struct DataReferences {
  /// The numbers, from 1, of the references to other files.
  private var external: Set<UInt16> = []

  /// Creates references for a track whose samples are all in this file.
  init() {}

  /// Parses a `dinf` box.
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
        // Some writers omit both the flag and the name.
        if !isHere, reference.remaining > 0 { external.insert(number) }
      }
    }
  }

  /// Throws if the samples of the sample entry are in another file.
  func check(_ entry: BoxReader) throws(ISOBMFFError) {
    guard !external.isEmpty else { return }
    var entry = entry
    try entry.skip(6, "reserved")
    let number: UInt16 = try entry.read("data_reference_index")
    guard external.contains(number) else { return }
    throw entry.error("its samples are in another file, which is not read")
  }
}
