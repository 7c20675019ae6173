// SPDX-License-Identifier: MPL-2.0

/// Sample entries and samples of WebVTT tracks (ISO/IEC 14496-30, clause 7).
public enum WebVTTTrack {
  /// The sample entry (`wvtt`) of texts without styles or regions.
  public static let entry: OtherSampleEntry = {
    var writer = BoxWriter()
    writer.box("vttC") { $0.write(Array("WEBVTT".utf8)) }
    return OtherSampleEntry(handlerType: "text", type: "wvtt", payload: writer.bytes)
  }()

  /// A cue in a sample.
  public struct Cue: Equatable, Sendable {
    /// The same in all samples that show the cue; nil if it is in one sample.
    public var source: Int32?
    /// The settings, such as `line:10%`; empty for none.
    public var settings: String
    /// The text in WebVTT's syntax.
    public var text: String

    /// Creates a cue.
    public init(source: Int32? = nil, settings: String = "", text: String) {
      (self.source, self.settings, self.text) = (source, settings, text)
    }
  }

  /// Returns a sample that shows these cues; one that shows nothing if there are none.
  public static func sample(_ cues: [Cue]) -> [UInt8] {
    var writer = BoxWriter()
    if cues.isEmpty { writer.box("vtte") { _ in } }
    for cue in cues {
      writer.box("vttc") { writer in
        if let source = cue.source { writer.box("vsid") { $0.write(source) } }
        if !cue.settings.isEmpty { writer.box("sttg") { $0.write(Array(cue.settings.utf8)) } }
        writer.box("payl") { $0.write(Array(cue.text.utf8)) }
      }
    }
    return writer.bytes
  }

  /// Returns the cues that a sample shows. Boxes that are damaged or unknown are passed over.
  public static func cues(of sample: [UInt8]) -> [Cue] {
    OpaqueBox.all(in: sample).filter { $0.type == "vttc" }.compactMap { box in
      let fields = OpaqueBox.all(in: box.payload)
      func text(_ type: FourCC) -> String? {
        fields.first { $0.type == type }.map { String(decoding: $0.payload, as: UTF8.self) }
      }
      return text("payl").map { Cue(settings: text("sttg") ?? "", text: $0) }
    }
  }
}
