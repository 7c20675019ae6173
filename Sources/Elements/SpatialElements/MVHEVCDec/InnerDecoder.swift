// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC

/// The decoder for plain H.265 between the other two parts of `mvhevcdec`: chosen when the element
/// starts, and another one where the stream turns out to need it.
final class InnerDecoder: Sendable {
  /// What a stream asks of a decoder beyond plain H.265.
  struct Needs: Sendable {
    /// The caps of the stream, where they are known.
    var caps: Caps?
    /// The stream takes long-term reference pictures for short-term ones, see `FlattenWarning`.
    var remarksReferences = false
  }

  /// The C class of decoders that are given one picture with its references at a time: va, nvcodec,
  /// d3d11, v4l2. It does not find a reference again whose marking changes from long to short.
  private static let strictClass = "GstH265Decoder"

  private static var media: Caps { Caps("video/x-h265", ["alignment": "au"]) }

  private unowned let bin: MVHEVCDec
  private let flattening: Element
  private let pairing: Element
  private let state = Locked(State())

  private struct State {
    var decoder: Element?
    var isStrict = false
    var needs = Needs()
  }

  init(in bin: MVHEVCDec, between flattening: Element, and pairing: Element) {
    self.bin = bin
    self.flattening = flattening
    self.pairing = pairing
  }

  /// Whether the decoder loses references of streams that remark them.
  var isStrict: Bool { state.current.isStrict }

  /// Puts the highest-ranking decoder that starts in its place: a hardware decoder may be there
  /// without its device.
  ///
  /// - Throws: an ``ElementError`` where there is none, for which the missing-plugin message has been
  ///   posted.
  func choose() throws {
    guard change(for: Needs(), isRunning: false, drain: {}) else {
      bin.postMissingDecoder(for: Caps("video/x-h265"))
      throw Self.missing("There is no decoder for H.265 (video/x-h265)")
    }
  }

  static func missing(_ what: String) -> ElementError {
    ElementError(
      .missingPlugin, "\(what); the Debian package gstreamer1.0-libav has one, avdec_h265.")
  }

  /// Puts the highest-ranking decoder that has what the stream needs in the place of the one that is
  /// there; false where there is none, and the old one stays. Only for the thread that feeds the
  /// decoder.
  ///
  /// - Parameter drain: has the old one give all pictures that it has, which ends its use.
  func change(for needs: Needs, drain: () -> Void) -> Bool {
    change(for: needs, isRunning: true, drain: drain)
  }

  private func change(for needs: Needs, isRunning: Bool, drain: () -> Void) -> Bool {
    let needs = state.withLock { state in
      Needs(
        caps: needs.caps,
        remarksReferences: needs.remarksReferences || state.needs.remarksReferences)
    }
    for factory in ElementFactory.videoDecoders(for: needs.caps ?? Self.media) {
      let isStrict = factory.derives(from: Self.strictClass)
      guard factory.name != mvhevcDec.name, !needs.remarksReferences || !isStrict,
        let decoder = candidate(factory, needs)
      else { continue }
      if let old = state.withLock({ $0.decoder.take() }) {
        drain()
        bin.removePart(old)
      }
      do {
        try insert(decoder, isRunning: isRunning)
      } catch {
        MVHEVCDec.log.warning(bin, "\(factory.name) cannot be used: \(error)")
        continue
      }
      MVHEVCDec.log.info(bin, "decoding with \(factory.name)")
      state.withLock { $0 = State(decoder: decoder, isStrict: isStrict, needs: needs) }
      return true
    }
    return false
  }

  /// A decoder that starts, and can stand between the other parts.
  private func candidate(_ factory: ElementFactory, _ needs: Needs) -> Element? {
    guard let decoder = factory.make(), let sink = decoder.staticPad("sink"),
      let source = decoder.staticPad("src")
    else { return nil }
    if factory.name == "avdec_h265" {
      // FFmpeg decodes as many pictures at once as it has threads, of itself one more than there are
      // processors; here two pictures are one access unit. It warns of more than 16.
      decoder.set("max-threads", String(min(16, 2 * Processors.count + 1)))
    }
    defer { decoder.setState(.null) }
    guard decoder.setState(.ready), source.possibleCaps.canIntersect(Caps("video/x-raw")) else {
      return nil
    }
    if let caps = needs.caps, !sink.possibleCaps.canIntersect(caps) { return nil }
    return decoder
  }

  /// Says what the flattened stream may keep waiting behind the decoder: as many pictures as its
  /// picture buffer has.
  func noteHeldPictures(_ sets: SingleLayerParameterSets) {
    guard let unit = sets.sequenceParameterSets.first,
      let ordering = try? SequenceParameterSet(nalUnit: unit).dpb
    else { return }
    pairing.implementation(EyePairing.self)?.heldCount.withLock {
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
