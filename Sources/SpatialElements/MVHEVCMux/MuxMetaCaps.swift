import GStreamer
import ISOBMFF

/// Tracks that are neither video nor audio, as `mvhevcdemux` gives them: metadata that belongs to
/// moments, time codes, texts. Their samples go into a movie as they are.
enum MuxMetaCaps {
  /// Sample entries by the names that their caps have.
  private static let types: [String: FourCC] = {
    let types: [FourCC] = [
      // Apple's and ISO's own, and cameras'.
      "mebx", "mett", "metx", "urim", "camm", "gpmd", "fdsc", "rtmd", "djmd", "dbgi", "CTMD",
      "tmcd", "text", "tx3g", "sbtt", "stxt", "stpp", "wvtt", "c608", "c708", "dfxp",
    ]
    return Dictionary(
      types.map { (DemuxVideoCaps.opaque("meta", $0), $0) }, uniquingKeysWith: { first, _ in first }
    )
  }()

  static let template: Caps = {
    let caps = Caps.empty
    for media in types.keys.sorted() { caps.append(media, []) }
    return caps
  }()

  /// The sample entry for fixed caps.
  ///
  /// - Parameter track: what the movie said of the track that the stream comes from.
  static func sampleEntry(
    _ caps: Caps, pad: String, track: PrivateTrack?
  ) throws -> OtherSampleEntry {
    guard let structure = caps.first, let type = types[structure.name],
      let payload = structure.buffer("codec_data")
    else {
      throw ElementError(
        .format, "The stream on \(pad) does not say how a movie describes it.", debug: "\(caps)")
    }
    return OtherSampleEntry(
      handlerType: track?.handlerType ?? "meta", type: type, payload: payload.bytes)
  }
}
