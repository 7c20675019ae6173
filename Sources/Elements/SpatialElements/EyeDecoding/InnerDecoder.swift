// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC

/// A codec whose plain decoders decode flattened streams, and what is known of them.
struct PlainCodec: Sendable {
  /// Its name, for messages.
  let name: String
  /// Its media type.
  let mediaType: String
  /// FFmpeg's decoder.
  let softwareDecoder: String
  /// Decoders that keep a reference whose marking changes from long-term to short-term. Hardware
  /// decoders lose it: those derived from `GstH265Decoder` (va, nvcodec, d3d11, v4l2) as well as
  /// NVIDIA's own parser in `nvh265dec` of GStreamer 1.22, which then outputs wrong pictures.
  var keepRemarkedReferences: Set<String> = []
  /// Decoders that output wrong pictures, or have such a decoder inside themselves.
  var unsuitable: Set<String> = []

  /// H.265.
  static let h265 = PlainCodec(
    name: "H.265", mediaType: "video/x-h265", softwareDecoder: "avdec_h265",
    keepRemarkedReferences: ["avdec_h265", "libde265dec"])
  /// H.264. openh264dec decodes streams with B pictures wrongly.
  static let h264 = PlainCodec(
    name: "H.264", mediaType: "video/x-h264", softwareDecoder: "avdec_h264",
    unsuitable: ["openh264dec", "mvcautodec"])

  /// Returns the error for what cannot be decoded for lack of a decoder.
  func missing(_ what: String) -> ElementError {
    ElementError(
      .missingPlugin,
      "\(what); the Debian package gstreamer1.0-libav has one, \(softwareDecoder).")
  }
}

/// The plain decoder between the other two parts of a bin that decodes both eyes. It is chosen when
/// the element starts and replaced if the stream needs another one.
final class InnerDecoder: Sendable {
  /// Requirements of a stream on its decoder beyond its codec.
  struct Needs: Sendable {
    /// The caps of the stream, if known.
    var caps: Caps?
    /// Whether the stream uses long-term reference pictures as short-term ones, see
    /// `FlattenWarning`.
    var remarksReferences = false
  }

  let codec: PlainCodec
  private unowned let bin: any BinImplementation
  private let flattening: Element
  private let pairing: Element
  private let state = Locked(State())

  private struct State {
    var decoder: Element?
    var isStrict = false
    var needs = Needs()
  }

  init(
    _ codec: PlainCodec, in bin: any BinImplementation, between flattening: Element,
    and pairing: Element
  ) {
    self.codec = codec
    self.bin = bin
    self.flattening = flattening
    self.pairing = pairing
  }

  /// The elements whose part this is.
  private static var bins: Set<String> { [mvhevcDec.name, mvcDec.name] }

  private var media: Caps { Caps(codec.mediaType, ["alignment": "au"]) }

  /// Whether the decoder loses references in streams that change their marking.
  var isStrict: Bool { state.current.isStrict }

  /// Inserts the highest-ranking decoder that starts: a hardware decoder may be registered without
  /// its device.
  ///
  /// - Throws: an ``ElementError`` if there is none, after the missing-plugin message has been
  ///   posted.
  func choose() throws {
    guard change(for: Needs(), isRunning: false, drain: {}) else {
      bin.postMissingDecoder(for: Caps(codec.mediaType))
      throw codec.missing("There is no decoder for \(codec.name) (\(codec.mediaType))")
    }
  }

  /// Replaces the decoder by the highest-ranking one that meets the stream's needs. Returns false
  /// if there is none; the old one then stays. Call it only in the thread that feeds the decoder.
  ///
  /// - Parameter drain: makes the old decoder output all its pictures before it is removed.
  func change(for needs: Needs, drain: () -> Void) -> Bool {
    change(for: needs, isRunning: true, drain: drain)
  }

  /// Replaces the decoder by one that accepts these caps.
  ///
  /// - Parameter drain: makes the old decoder output all its pictures before it is removed.
  /// - Throws: an ``ElementError`` if there is none, after the missing-plugin message has been
  ///   posted.
  func require(_ caps: Caps, drain: () -> Void) throws {
    guard change(for: Needs(caps: caps), drain: drain) else { throw refusal(of: caps) }
  }

  /// Posts the missing-plugin message for a stream that no decoder accepts, and returns the error.
  func refusal(of caps: Caps) -> ElementError {
    bin.postMissingDecoder(for: caps)
    return codec.missing(
      "There is no decoder for this \(codec.name) stream (\(Self.summary(caps)))")
  }

  /// Returns the properties that decoders have limits for, in words.
  private static func summary(_ caps: Caps) -> String {
    guard let structure = caps.first else { return "of unknown format" }
    var facts: [String] = []
    if let width = structure.int("width"), let height = structure.int("height") {
      facts.append("\(width)x\(height)")
    }
    if let profile = structure.string("profile") { facts.append("profile \(profile)") }
    if let level = structure.string("level") { facts.append("level \(level)") }
    return facts.isEmpty ? "of unknown size and profile" : facts.joined(separator: ", ")
  }

  private func change(for needs: Needs, isRunning: Bool, drain: () -> Void) -> Bool {
    let needs = state.withLock { state in
      Needs(
        caps: needs.caps,
        remarksReferences: needs.remarksReferences || state.needs.remarksReferences)
    }
    for factory in ElementFactory.videoDecoders(for: needs.caps ?? media) {
      let isStrict = !codec.keepRemarkedReferences.contains(factory.name)
      guard !Self.bins.contains(factory.name), !codec.unsuitable.contains(factory.name),
        !needs.remarksReferences || !isStrict,
        let decoder = candidate(factory, needs)
      else { continue }
      if let old = state.withLock({ $0.decoder.take() }) {
        drain()
        bin.removePart(old)
      }
      do {
        try insert(decoder, isRunning: isRunning)
      } catch {
        bin.log.warning(bin, "\(factory.name) cannot be used: \(error)")
        continue
      }
      bin.log.info(bin, "decoding with \(factory.name)")
      state.withLock { $0 = State(decoder: decoder, isStrict: isStrict, needs: needs) }
      return true
    }
    return false
  }

  /// Returns a decoder that starts and can be linked between the other parts; nil if it cannot.
  private func candidate(_ factory: ElementFactory, _ needs: Needs) -> Element? {
    guard let decoder = factory.make(), let sink = decoder.staticPad("sink"),
      let source = decoder.staticPad("src")
    else { return nil }
    if factory.name == codec.softwareDecoder {
      // FFmpeg decodes as many pictures at once as it has threads, by default one more than there
      // are processors; here an access unit is two pictures. It warns about more than 16 threads.
      decoder.set("max-threads", String(min(16, 2 * Processors.count + 1)))
    }
    defer { decoder.setState(.null) }
    guard decoder.setState(.ready), source.possibleCaps.canIntersect(Caps("video/x-raw")) else {
      return nil
    }
    // Not only some of them: decoders check what they get against their limits.
    if let caps = needs.caps, !sink.accepts(caps) { return nil }
    return decoder
  }

  /// Tells the pairing part how many frames may wait after the decoder: as many as the stream's
  /// decoded picture buffer holds.
  func noteHeldPictures(_ sets: SingleLayerParameterSets) {
    guard let unit = sets.sequenceParameterSets.first,
      let ordering = try? SequenceParameterSet(nalUnit: unit).dpb
    else { return }
    pairing.implementation(EyePairingElement.self)?.heldCount.withLock {
      $0 = ordering.maxDecPicBufferingMinus1 + 1
    }
  }

  private func insert(_ decoder: Element, isRunning: Bool) throws {
    try bin.addPart(decoder)
    do {
      try flattening.link("src", to: decoder, "sink")
      try decoder.link("src", to: pairing, "sink")
      guard !isRunning || decoder.followParentState() else {
        throw ElementError(.failedStream, "\(decoder.name) does not start.")
      }
    } catch {
      bin.removePart(decoder)
      throw error
    }
  }

  func remove() {
    let decoder = state.withLock { state in
      defer { state = State() }
      return state.decoder
    }
    if let decoder { bin.removePart(decoder) }
  }
}
