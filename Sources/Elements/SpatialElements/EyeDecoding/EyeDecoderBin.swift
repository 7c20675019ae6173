// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The ghost pads of a bin of three elements that decodes both eyes: the stream is flattened,
/// decoded by a plain decoder, and the frames are paired again.
struct EyeDecoderBin: Sendable {
  /// The parts of the bin between its start and stop.
  struct Parts {
    fileprivate let flattening: Element
    fileprivate let decoder: InnerDecoder
    fileprivate let pairing: Element
    /// Lets the first part forget the decoder.
    fileprivate let release: () -> Void
  }

  private let sink: GhostPad
  private let left: GhostPad
  private let right: GhostPad

  /// The pads, to be added to the bin.
  var all: [GhostPad] { [sink, left, right] }

  /// Creates the pads `sink`, `left` and `right` from the bin's templates of these names.
  init(_ instance: ElementInstance) throws {
    sink = try GhostPad(instance, template: "sink")
    left = try GhostPad(instance, template: "left")
    right = try GhostPad(instance, template: "right")
  }

  /// Creates the parts.
  ///
  /// - Parameters:
  ///   - bin: the bin.
  ///   - declaration: the element that flattens.
  ///   - codec: the plain codec that results.
  ///   - prepare: sets up the element that flattens, before it starts.
  func start<Flattening: FlatteningElement>(
    _ bin: some BinImplementation, _ declaration: ElementDeclaration<Flattening>,
    _ codec: PlainCodec, prepare: (Flattening) -> Void
  ) throws -> Parts {
    let flattening = try declaration.makePart()
    let pairing = try eyePairing.makePart()
    let first = flattening.implementation(Flattening.self)
    let decoder = InnerDecoder(codec, in: bin, between: flattening, and: pairing)
    let parts = Parts(flattening: flattening, decoder: decoder, pairing: pairing) {
      first?.decoder.withLock { $0 = nil }
    }
    if let first { prepare(first) }
    first?.decoder.withLock { $0 = decoder }
    pairing.implementation(EyePairingElement.self)?.sendUpstream.withLock {
      $0 = { [weak first] event in first?.sendUpstream(event) ?? false }
    }
    do {
      for part in [flattening, pairing] { try bin.addPart(part) }
      try decoder.choose()
      try sink.setTarget(flattening.staticPad("sink"))
      try left.setTarget(pairing.staticPad("left"))
      try right.setTarget(pairing.staticPad("right"))
    } catch {
      stop(bin, parts)
      throw error
    }
    return parts
  }

  /// Removes the parts.
  func stop(_ bin: some BinImplementation, _ parts: consuming Parts) {
    for pad in all { try? pad.setTarget(nil) }
    parts.release()
    parts.decoder.remove()
    for part in [parts.flattening, parts.pairing] { bin.removePart(part) }
  }
}

/// Eyes to decode, as a property.
enum ViewChoice: Int32, EnumType {
  case both = 0
  case left = 1
  case right = 2
  case base = 3

  static let typeName = "GstMVHEVCDecView"

  var names: (nick: String, description: String) {
    switch self {
    case .both: ("both", "Both eyes")
    case .left: ("left", "The left eye")
    case .right: ("right", "The right eye")
    case .base: ("base", "The eye in the base layer; the dependent layer is ignored")
    }
  }

  /// Returns the property `view` of an element that decodes both eyes, stored at `path`.
  static func view<Owner: HasSettings>(
    at path: WritableKeyPath<Owner.Settings, ViewChoice>
  ) -> Property<Owner> {
    .choice(
      "view", nick: "View",
      blurb: "Eyes to decode; unless both, the other eye's pad gets EOS at once",
      default: .both, at: path)
  }
}
