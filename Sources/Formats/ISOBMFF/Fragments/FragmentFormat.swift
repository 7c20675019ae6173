// SPDX-License-Identifier: MPL-2.0

/// What a fragmented file is for, which decides its brands and how its times are written.
public enum FragmentFormat: Equatable, Sendable {
  /// A file of its own: any number of tracks, composition offsets that are not negative, and an
  /// edit list that takes the difference to the first picture off, as most players read best.
  case movie(MovieContainer)
  /// A CMAF track file (ISO/IEC 23000-19) of one track: signed composition offsets, by which
  /// fragments begin with their earliest picture, and no edit list.
  case cmaf

  /// The dialect of the boxes.
  public var container: MovieContainer {
    switch self {
    case .movie(let container): container
    case .cmaf: .mp4
    }
  }

  /// The content of `ftyp`: the major brand, its version, the compatible brands.
  private var brands: (major: FourCC, compatible: [FourCC]) {
    switch self {
    case .movie(.quickTime): ("qt  ", ["qt  "])
    case .movie(.mp4): ("iso6", ["iso6", "isom", "mp42"])
    case .cmaf: ("cmf2", ["iso6", "cmf2", "cmfc"])
    }
  }

  func writeFileType(to writer: inout BoxWriter) {
    writer.box("ftyp") {
      $0.write(brands.major)
      $0.write(UInt32(0))
      for brand in brands.compatible { $0.write(brand) }
    }
  }

  /// `styp`, in front of a segment's first fragment (ISO/IEC 14496-12 8.16.2).
  ///
  /// - Parameter isLast: no segment follows.
  static func writeSegmentType(isLast: Bool, to writer: inout BoxWriter) {
    writer.box("styp") {
      $0.write("msdh" as FourCC)
      $0.write(UInt32(0))
      for brand in ["msdh", "cmfs"] as [FourCC] { $0.write(brand) }
      if isLast { $0.write("lmsg" as FourCC) }
    }
  }
}
