// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF
internal import StereoVideo

/// Representations of the same content, between which players switch (ISO/IEC 23009-1 5.3.3).
struct AdaptationSet {
  typealias Representation = MediaPresentation.Representation

  /// The same in each update of the manifest, and for the same formats in each period.
  let id: Int
  private let kind: Kind
  /// Those that have segments.
  private(set) var representations: [Representation]

  /// The properties that the representations of a set share.
  private enum Kind: Equatable {
    /// Colours of standard dynamic range may differ, as encoders choose them by the size.
    case video(
      coding: Substring, layout: RenditionLayout, range: VideoRange, frameRate: FrameRate?)
    /// Without titles, audio of the same language may be different content: `id` tells it apart.
    case audio(
      codecs: String, sampleRate: UInt32, channelCount: Int, language: String?, title: String?,
      id: String?)
    /// Texts are never alternatives of each other.
    case text(language: String?, title: String?, isForced: Bool, id: String)

    init(_ representation: Representation) {
      switch representation.content {
      case .video(let video):
        self = .video(
          coding: representation.codecs.prefix { $0 != "." }, layout: video.layout,
          range: video.range, frameRate: video.frameRate?.reduced)
      case .audio(let audio):
        self = .audio(
          codecs: representation.codecs, sampleRate: audio.sampleRate,
          channelCount: audio.channelCount, language: audio.language, title: audio.title,
          id: audio.title == nil ? representation.id : nil)
      case .text(let text):
        self = .text(
          language: text.language, title: text.title, isForced: text.isForced,
          id: representation.id)
      }
    }

    var isVideo: Bool { if case .video = self { true } else { false } }

    /// The type of the content, and the media type of its files.
    var types: (content: String, media: String) {
      switch self {
      case .video: ("video", "video/mp4")
      case .audio: ("audio", "audio/mp4")
      case .text: ("text", "application/mp4")
      }
    }

    var isStereo: Bool {
      if case .video(_, let layout, _, _) = self { layout.isStereo } else { false }
    }

    var isStandardRange: Bool {
      if case .video(_, _, let range, _) = self { range == .standard } else { false }
    }
  }

  /// Returns the sets of a period that have segments, in the order of their first representations.
  static func sets(of representations: [Representation]) -> [AdaptationSet] {
    var sets: [AdaptationSet] = []
    for representation in representations {
      let kind = Kind(representation)
      let index = sets.firstIndex { $0.kind == kind } ?? sets.count
      // Sets without segments count, so that numbers stay when segments come.
      if index == sets.count {
        sets.append(AdaptationSet(id: index, kind: kind, representations: []))
      }
      if !representation.segments.isEmpty { sets[index].representations.append(representation) }
    }
    return sets.filter { !$0.representations.isEmpty }
  }

  /// The element.
  ///
  /// - Parameters:
  ///   - start: Media time at which the period starts, in nanoseconds.
  ///   - sets: All sets of the period.
  func element(from start: UInt64, among sets: [AdaptationSet]) -> ManifestElement {
    var element = ManifestElement("AdaptationSet")
    element.add("id", String(id))
    element.add("contentType", kind.types.content)
    element.add("mimeType", kind.types.media)
    var roles = [isMain(among: sets) ? "main" : "alternate"]
    switch kind {
    case .text(let language, let title, let isForced, _):
      element.add("lang", language.flatMap(Self.language))
      addAlignment(to: &element)
      if let title { element.add(ManifestElement("Label", text: title)) }
      roles = [isForced ? "forced-subtitle" : "subtitle"]
      if representations.contains(where: \.isDefault) { roles.append("main") }
    case .audio(_, let sampleRate, let channelCount, let language, let title, _):
      element.add("lang", language.flatMap(Self.language))
      element.add("audioSamplingRate", String(sampleRate))
      addAlignment(to: &element)
      element.add(
        ManifestElement(
          "AudioChannelConfiguration",
          scheme: "urn:mpeg:dash:23003:3:audio_channel_configuration:2011",
          value: String(channelCount)))
      addProtection(to: &element)
      addMetadata(to: &element)
      if let title { element.add(ManifestElement("Label", text: title)) }
    case .video:
      addSize(to: &element)
      addAlignment(to: &element)
      addProtection(to: &element)
      addVideoProperties(to: &element, among: sets)
      addMetadata(to: &element)
    }
    for role in roles {
      element.add(ManifestElement("Role", scheme: "urn:mpeg:dash:role:2011", value: role))
    }
    for representation in representations {
      element.add(representation.element(from: start, hasSize: hasSizes))
    }
    return element
  }

  /// The first video, and the audio that players choose by default.
  private func isMain(among sets: [AdaptationSet]) -> Bool {
    let alike = sets.filter { $0.kind.types.content == kind.types.content }
    let main = alike.first { $0.representations.contains(where: \.isDefault) } ?? alike.first
    return main?.id == id
  }

  // MARK: Attributes

  private func addAlignment(to element: inout ManifestElement) {
    element.add("segmentAlignment", "true")
    // A keyframe whose leading pictures are shown first is a SAP of type 2 or 3 (ISO/IEC 14496-12
    // annex I); samples do not say which.
    let hasLeadingPictures = representations.contains {
      $0.segments.contains(where: \.hasLeadingPictures)
    }
    element.add("startWithSAP", hasLeadingPictures ? "3" : "1")
  }

  private var videos: [MediaPresentation.Video] {
    representations.compactMap {
      if case .video(let video) = $0.content { video } else { nil }
    }
  }

  /// Whether the representations differ in size.
  private var hasSizes: Bool { Set(videos.map { [$0.width, $0.height] }).count > 1 }

  private func addSize(to element: inout ManifestElement) {
    let prefix = hasSizes ? ("maxWidth", "maxHeight") : ("width", "height")
    element.add(prefix.0, (videos.map(\.width).max()).map { String($0) })
    element.add(prefix.1, (videos.map(\.height).max()).map { String($0) })
    if case .video(_, _, _, let frameRate) = kind { element.add("frameRate", frameRate?.text) }
    element.add("par", pictureAspectRatio)
  }

  /// Width to height of the largest picture, in lowest terms; nil if others differ by more than a
  /// row.
  private var pictureAspectRatio: String? {
    guard let largest = videos.max(by: { $0.width < $1.width }), let ratio = largest.displayRatio,
      videos.allSatisfy({ video in
        guard let other = video.displayRatio else { return false }
        let rows = Double(video.height) * other.value / ratio.value
        return abs(rows - Double(video.height)) <= 1
      })
    else { return nil }
    return ratio.text
  }

  /// Returns a tag if it has the form that the schema demands (`xs:language`).
  private static func language(_ tag: String) -> String? {
    let parts = tag.split(separator: "-", omittingEmptySubsequences: false)
    let isTag = parts.enumerated().allSatisfy { index, part in
      (1...8).contains(part.count)
        && part.allSatisfy { $0.isASCII && ($0.isLetter || index > 0 && $0.isNumber) }
    }
    return isTag ? tag : nil
  }

  // MARK: Descriptors

  /// The key of a set is that of all its representations.
  private func addProtection(to element: inout ManifestElement) {
    for child in representations.first?.key?.elements ?? [] { element.add(child) }
  }

  /// Without it, players do not look for ID3 tags in segments (ISO/IEC 23009-1 5.10.3).
  private func addMetadata(to element: inout ManifestElement) {
    guard representations.contains(where: \.hasMetadata) else { return }
    element.add(
      ManifestElement("InbandEventStream", scheme: TimedMetadata.scheme, value: ""))
  }

  /// Adds the properties by which players leave a set alone. Players ignore a set with an
  /// `EssentialProperty` that they do not know (ISO/IEC 23009-1 5.8.4.8): that of both eyes is one
  /// if there is one eye to choose, and that of a high dynamic range if there is a standard one.
  /// Otherwise it is a `SupplementalProperty`: every decoder shows the base eye of both, which is
  /// better than nothing.
  private func addVideoProperties(
    to element: inout ManifestElement, among sets: [AdaptationSet]
  ) {
    let videos = sets.filter(\.kind.isVideo)
    let hasOneEye = videos.contains { !$0.kind.isStereo }
    let hasStandard = videos.contains {
      $0.kind.isStandardRange && !($0.kind.isStereo && hasOneEye)
    }
    var properties: [(isEssential: Bool, scheme: String, value: String)] = []
    if kind.isStereo {
      // The pair 0: both its left and its right view (5.8.5.6).
      properties.append((hasOneEye, "urn:mpeg:dash:stereoid:2011", "l0 r0"))
    }
    let isEssential = !kind.isStandardRange && hasStandard
    for (name, point) in colourPoints {
      properties.append((isEssential, "urn:mpeg:mpegB:cicp:\(name)", String(point)))
    }
    for isEssential in [true, false] {
      for property in properties where property.isEssential == isEssential {
        element.add(
          ManifestElement(
            isEssential ? "EssentialProperty" : "SupplementalProperty", scheme: property.scheme,
            value: property.value))
      }
    }
  }

  /// Code points of ISO/IEC 23091-2 on which all representations agree, without unspecified ones.
  private var colourPoints: [(name: String, point: UInt16)] {
    let colours = videos.map(\.colour)
    let points: [(String, KeyPath<ColourInformation, UInt16>)] = [
      ("ColourPrimaries", \.primaries), ("TransferCharacteristics", \.transferCharacteristics),
      ("MatrixCoefficients", \.matrixCoefficients),
    ]
    return points.compactMap { name, path in
      let values = Set(colours.map { $0?[keyPath: path] ?? 2 })
      guard let value = values.first, values.count == 1, value != 2 else { return nil }
      return (name, value)
    }
  }
}

extension MediaPresentation.Representation {
  fileprivate var isDefault: Bool {
    switch content {
    case .video: false
    case .audio(let audio): audio.isDefault
    case .text(let text): text.isDefault
    }
  }
}

extension MediaPresentation.Video {
  private var pixel: (width: UInt64, height: UInt64) {
    guard let ratio = pixelAspectRatio, ratio.horizontalSpacing > 0, ratio.verticalSpacing > 0
    else { return (1, 1) }
    return lowestTerms(UInt64(ratio.horizontalSpacing), UInt64(ratio.verticalSpacing))
  }

  /// Width of a pixel to its height.
  var sar: String { "\(pixel.width):\(pixel.height)" }

  /// Width of the picture to its height; nil if it has no size.
  fileprivate var displayRatio: (value: Double, text: String)? {
    guard let width = UInt16(exactly: width), let height = UInt16(exactly: height), width > 0,
      height > 0
    else { return nil }
    let ratio = lowestTerms(UInt64(width) * pixel.width, UInt64(height) * pixel.height)
    return (Double(ratio.0) / Double(ratio.1), "\(ratio.0):\(ratio.1)")
  }
}

extension FrameRate {
  /// The same rate in lowest terms; nil if it is none.
  fileprivate var reduced: FrameRate? {
    guard numerator > 0, denominator > 0 else { return nil }
    let (numerator, denominator) = lowestTerms(numerator, denominator)
    return FrameRate(numerator, denominator)
  }
}

/// Returns a quotient of numbers above 0 in lowest terms.
private func lowestTerms(_ one: UInt64, _ other: UInt64) -> (UInt64, UInt64) {
  var (divisor, rest) = (one, other)
  while rest > 0 { (divisor, rest) = (rest, divisor % rest) }
  return (one / divisor, other / divisor)
}
