// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import ISOBMFF
import MoviePlayer
import Packager
import StereoVideo

import struct AVC.MVCDecoderConfiguration

/// One pad of the sink, and the renditions made from its stream.
struct HLSInput {
  let stream: MuxInput
  var segment = Segment()
  var hasEnded = false
  /// The end of the last buffer, in running time.
  var position: RunningTime = 0
  /// Numbers of the renditions: the unchanged stream, then its base eye, if that is separate.
  private(set) var renditions: [Int] = []
  private(set) var isDescribed = false
  /// Metadata that the renditions cannot hold, as sentences.
  private(set) var losses: [String] = []
  /// Whether the format is no longer that of the renditions.
  private(set) var hasChanged = false
  private var baseEye: BaseEyeInput?
  /// Since when the stream comes too late to be written, and how late it was then, by the clock.
  private var lateness: (begin: RunningTime, lag: RunningTime)?
  private var frameDuration: ClockTime?

  init(_ name: String) { stream = MuxInput(name) }

  private var name: String { stream.name }

  /// Coded video that segments can hold. H.264 has its parameter sets in the sample entry: a player
  /// of `avc1` looks for none elsewhere.
  static let videoCaps: Caps = {
    let caps = MuxVideoCaps.h265.with()
    caps.append("video/x-h264", [("stream-format", "avc"), ("alignment", "au")])
    return caps
  }()

  /// Audio that segments can hold and that has a codecs parameter.
  static let audioCaps: Caps = {
    let caps = Caps("audio/mpeg", ["mpegversion": 4, "stream-format": "raw"])
    caps.append("audio/mpeg", [("mpegversion", 1), ("layer", 3)])
    for media in ["audio/x-ac3", "audio/x-eac3", "audio/x-flac", "audio/x-alac"] {
      caps.append(media, [])
    }
    caps.append("audio/x-opus", [("channel-mapping-family", .intRange(0...255))])
    return caps
  }()

  /// Makes the renditions.
  ///
  /// - Parameters:
  ///   - first: the first buffer, for streams whose caps do not say enough.
  ///   - number: the number of inputs.
  mutating func describe(
    first: Buffer, _ settings: HLSSettings, number: Int,
    add: (Rendition) throws -> Int
  ) throws {
    renditions = try describe(first, settings, number: number).map(add)
    isDescribed = true
  }

  /// Makes the rendition of a stream that needs no buffer for it.
  mutating func describe(_ rendition: Rendition, add: (Rendition) throws -> Int) throws {
    renditions = [try add(rendition)]
    isDescribed = true
  }

  /// Returns the times and flags of a buffer; nil if it is not written.
  func timing(
    of buffer: Buffer, _ shift: inout RunningTime, now: RunningTime?, isLive: () -> Bool,
    warn: (ElementError) -> Void
  ) throws -> MovieFileWriter.Timing? {
    try stream.timing(
      of: buffer, in: segment, &shift, now: now, isLive: isLive, warn: warn)
  }

  /// Notes a buffer that comes too late to be written, as the others have not waited for it.
  /// Those that were held up on their way get less late; if they do not within two seconds, the
  /// source was, and the stream continues where it would be by now.
  ///
  /// - Returns: by how much the next buffers are moved; nil if they are not.
  mutating func noteLate(_ time: RunningTime, now: RunningTime) -> RunningTime? {
    guard let (begin, lag) = lateness else {
      lateness = (now, now - time)
      return nil
    }
    guard now - begin >= RunningTime(clamping: 2 * .second) else { return nil }
    lateness = nil
    guard now - time + ClockTime.second / 2 > lag else { return nil }
    return stream.catchUp(to: now)
  }

  /// Notes a buffer that is not too late.
  mutating func noteTimely() { lateness = nil }

  /// Notes that the following buffers have other caps.
  mutating func change(to caps: Caps) {
    stream.caps = caps
    hasChanged = isDescribed
  }

  /// Whether a buffer is the first one that can be decoded after a change of format.
  mutating func startsChange(_ buffer: Buffer) -> Bool {
    let isKeyframe = !buffer.flags.contains(.deltaUnit)
    if isKeyframe, stream.hasNewParameterSets(buffer) { hasChanged = true }
    return hasChanged && (isKeyframe || stream.kind == .audio)
  }

  /// Whether buffers cannot be decoded yet, because no keyframe has come since a change of format.
  var isUndecodable: Bool { hasChanged }

  /// Makes the renditions again, as many as before.
  mutating func redescribe(
    first: Buffer, _ settings: HLSSettings, number: Int,
    replace: (Int, Rendition) throws -> Void
  ) throws {
    let made = try describe(first, settings, number: number)
    hasChanged = false
    for (index, rendition) in zip(renditions, made) { try replace(index, rendition) }
    // If the stream is no longer layered, both renditions hold the same single view.
    guard made.count < renditions.count, let only = made.first, let mono = renditions.last else {
      return
    }
    try replace(mono, only.renamed("\(name)_mono"))
  }

  private mutating func describe(
    _ first: Buffer, _ settings: HLSSettings, number: Int
  ) throws -> [Rendition] {
    guard let caps = stream.caps else { throw FlowReturn.notNegotiated }
    return stream.kind == .audio
      ? [try audio(caps, first, isFirst: number <= 1 || name == "audio_0")]
      : try describeVideo(caps, first, settings)
  }

  private func audio(_ caps: Caps, _ first: Buffer, isFirst: Bool) throws -> Rendition {
    let tags = stream.tags
    let entry = try stream.audioEntry(container: .mp4, first: first)
    guard let codecs = entry.coding.codecParameter else {
      throw ElementError(
        .format, "The audio on \(name) has no codecs parameter for playlists; encode it as AAC.",
        debug: "\(caps)")
    }
    let language = tags.string(Tag.languageCode)
    return Rendition(
      name, TrackDescription(.audio(entry), timescale: entry.sampleRate), codecs: codecs,
      .audio(
        .init(
          name: tags.string(Tag.title) ?? language ?? name, language: language,
          isDefault: isFirst)))
  }

  private mutating func describeVideo(
    _ caps: Caps, _ first: Buffer, _ settings: HLSSettings
  ) throws -> [Rendition] {
    var entry = try stream.videoEntry(first: first)
    losses = entry.addSpatialBoxes(caps, SpatialMetadata(stream.tags), SphereTags(stream.tags))
    let rate = stream.frameRate
    frameDuration = rate.frameDuration
    let hasMono = entry.hasLayeredViews && settings.hasMonoRendition
    baseEye = hasMono ? try BaseEyeInput(entry) : nil
    let whole = try video(
      name, entry, rate, isStereo: entry.hasLayeredViews,
      hasIFrames: settings.hasIFramePlaylist && !hasMono)
    guard let baseEye else { return [whole] }
    return [
      whole,
      try video(
        "\(name)_mono", baseEye.sampleEntry, rate, isStereo: false,
        hasIFrames: settings.hasIFramePlaylist),
    ]
  }

  private func video(
    _ name: String, _ entry: VisualSampleEntry, _ rate: Fraction, isStereo: Bool, hasIFrames: Bool
  ) throws -> Rendition {
    var video = Rendition.Video(
      layout: RenditionLayout(
        isStereo: isStereo, projection: try Self.projection(entry, pad: name)))
    if let numerator = UInt64(exactly: rate.numerator), numerator > 0,
      let denominator = UInt64(exactly: rate.denominator), denominator > 0
    {
      video.frameRate = FrameRate(numerator, denominator)
    }
    video.range = VideoRange(
      transferCharacteristics: entry.colour.map { Int($0.transferCharacteristics) })
    video.hasIFramePlaylist = hasIFrames
    let clock = TrackClock(framesPerSecond: rate.numerator, rate.denominator)
    return Rendition(
      name, TrackDescription(.video(entry), timescale: clock.timescale),
      codecs: try Self.codecs(entry, pad: name), .video(video))
  }

  /// Returns the codecs parameter (RFC 6381); for a layered stream, that of the base layer.
  private static func codecs(_ entry: VisualSampleEntry, pad: String) throws -> String {
    guard entry.mvcC == nil else {
      throw ElementError(
        .format,
        "The H.264 on \(pad) has two views (MVC), which no player of HLS or DASH shows; decode it "
          + "with mvcdec, and encode both eyes with mvhevcenc.")
    }
    if let bytes = entry.hvcC, let record = try? HEVCDecoderConfigurationRecord(bytes: bytes) {
      return record.codecParameter
    }
    let avcC = entry.configuration.first { $0.type == "avcC" }
    guard let avcC, let record = try? MVCDecoderConfiguration(.avcC, bytes: avcC.payload) else {
      throw ElementError(.format, "The codec_data of \(pad) is damaged.")
    }
    // Six hexadecimal digits, those of bytes 1 to 3 of the SPS (RFC 6381 3.3).
    let bytes = 1 << 24 | record.profile << 16 | record.profileCompatibility << 8 | record.level
    return "avc1." + String(bytes, radix: 16, uppercase: true).dropFirst()
  }

  private static func projection(
    _ entry: VisualSampleEntry, pad: String
  ) throws -> RenditionLayout.Projection {
    switch entry.extendedUsage?.projectionKind {
    case nil, "rect": return .rectilinear
    case "equi": return .equirectangular
    case "hequ": return .halfEquirectangular
    case "prim": return .parametricImmersive
    case let kind?:
      throw ElementError(
        .format, "HLS cannot signal the projection \(kind) of \(pad); convert it first.")
    }
  }

  // MARK: Samples

  /// Returns the samples of a buffer, and the numbers of their renditions; none before the start.
  /// If the base eye cannot be extracted, the buffer goes into the layered rendition alone.
  mutating func samples(
    _ buffer: Buffer, _ timing: MovieFileWriter.Timing
  ) throws -> [(rendition: Int, PackagedSample<Buffer>)] {
    guard let first = renditions.first, timing.presentationTime >= 0 else { return [] }
    func sample(_ content: Buffer) -> PackagedSample<Buffer> {
      var sample = PackagedSample(
        content, size: UInt32(clamping: content.size),
        presentationTime: timing.presentationTime.nanoseconds,
        decodeTime: timing.decodeTime.nanoseconds,
        duration: (timing.duration > 0 ? timing.duration : frameDuration ?? 0).nanoseconds,
        isSync: timing.isSync)
      sample.dependency = timing.dependency
      return sample
    }
    let content = try stream.sample(buffer)
    let whole = sample(content)
    var samples = [(rendition: first, whole)]
    if renditions.count > 1 {
      if baseEye == nil {
        samples.append((renditions[1], whole))
      } else if let base = try? baseEye?.sample(content) {
        samples.append((renditions[1], sample(base)))
      }
    }
    return samples
  }
}

/// Extracts the base eye of a layered stream unchanged: a rendition that needs no encoding.
struct BaseEyeInput {
  /// The sample entry without the dependent layer and stereo metadata.
  let sampleEntry: VisualSampleEntry
  private let framing: NALUnitFraming
  private var extractor = BaseLayerExtractor()

  /// - Parameter entry: the sample entry of the layered stream.
  init(_ entry: VisualSampleEntry) throws {
    do {
      let record = try HEVCDecoderConfigurationRecord(bytes: entry.hvcC ?? [])
      framing = .lengthPrefixed(lengthSize: record.lengthSize)
      try extractor.add(parameterSets: record.nalUnits)
      var single = entry
      single.configuration = [
        OpaqueBox(
          "hvcC",
          payload: try HEVCDecoderConfigurationRecord(try extractor.currentParameterSets()).bytes)
      ]
      // An immersive projection still applies to one eye.
      let projection = entry.extendedUsage?.metadata.projection
      single.extendedUsage =
        projection.flatMap { $0 == .rectilinear ? nil : VideoExtendedUsage(monoscopic: $0) }
      single.horizontalFieldOfView = nil
      single.stereoscopicMode = nil
      sampleEntry = single
    } catch let error as ElementError {
      throw error
    } catch {
      throw ElementError(.format, "The codec_data of the video is damaged: \(error)")
    }
  }

  /// Returns the base-layer picture of an access unit.
  mutating func sample(_ buffer: Buffer) throws -> Buffer {
    let framing = framing
    let sample = try buffer.withBytes { bytes -> Buffer? in
      let span = RawSpan(_unsafeBytes: bytes)
      let unit = try extractor.extract(span, nalUnits: try framing.nalUnits(in: span))
      let output = NALUnitFraming.lengthPrefixed(lengthSize: 4)
      let sample = Buffer(size: unit.picture.byteCount(framing: output))
      try sample?.withMutableBytes {
        unit.picture.write(framing: output, source: span, into: $0)
      }
      return sample
    }
    guard let sample else { throw FlowReturn.error }
    return sample
  }
}
