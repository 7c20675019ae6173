// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The layers of a stream and the eye each is for, according to its parameter sets.
public struct LayeredStreamInformation: Hashable, Sendable {
  /// One layer.
  public struct Layer: Hashable, Sendable {
    /// `nuh_layer_id`
    public var nuhLayerID: Int
    /// ViewId
    public var viewID: Int
    /// ViewOrderIdx
    public var viewOrderIndex = 0
    /// Whether this is an alpha or depth layer, which has no pictures for an eye.
    public var isAuxiliary: Bool
    /// The eye of the layer; nil if it is not for an eye.
    public var eye: Eye?
  }

  /// Whether pictures of the dependent layer refer to those of the base layer.
  public enum InterLayerPrediction: Hashable, Sendable {
    /// None do; ``Unweaver`` extracts the dependent layer.
    case never
    /// Each slice signals it. In the output of ``Weaver``, none do.
    case perSlice
    /// All may; the stream needs ``Flattener``.
    case always
  }

  /// The layers, the base layer first.
  public private(set) var layers: [Layer]
  /// Whether the stream has two views that can both be extracted. If not, only its base layer is
  /// read.
  public private(set) var isStereo = false
  /// Whether pictures of the dependent layer refer to those of the base layer.
  public private(set) var interLayerPrediction = InterLayerPrediction.never
  /// Whether the stream does not signal which view is for which eye, so that the base layer is
  /// assumed to be the left eye.
  public private(set) var isEyeOrderGuessed = false
  /// A message for the user: why only the base layer is read, or that the eyes are a guess; nil if
  /// there is nothing to report.
  public private(set) var warning: String?

  /// The eye in the base layer; nil for a stream with a single view.
  public var baseEye: Eye? { layers.first?.eye }
  /// Number of views with pictures in the stream.
  public var viewCount: Int {
    Set(layers.filter { !$0.isAuxiliary }.map(\.viewOrderIndex)).count
  }

  /// Creates the information from `vps` and the 3D reference displays information `displays`, which
  /// is nil if the stream has none.
  public init(_ vps: VideoParameterSet, displays: ThreeDReferenceDisplaysInformation?) {
    guard let multilayer = vps.multilayer else {
      layers = [Layer(nuhLayerID: 0, viewID: 0, isAuxiliary: false)]
      if let error = vps.multilayerError {
        warning = "only the base layer is read, since the VPS extension is unreadable: \(error)"
      } else if vps.maxLayersMinus1 > 0 {
        warning = "only the base layer is read, since the VPS does not describe the others"
      }
      return
    }
    layers = multilayer.layers.map {
      Layer(
        nuhLayerID: $0.nuhLayerID, viewID: $0.viewID, viewOrderIndex: $0.viewOrderIndex,
        isAuxiliary: $0.isAuxiliary)
    }
    if let reason = Self.reasonAgainst(multilayer) {
      warning = "only the base layer is read, since the stream has \(reason)"
      assignBaseEye(displays)
      return
    }
    isStereo = true
    if multilayer.layers[1].directReferenceLayers != 0 {
      let isDefault = multilayer.pair?.defaultReferenceLayersActive == true
      interLayerPrediction = isDefault ? .always : .perSlice
    }
    assignEyes(displays)
  }

  /// Returns why the stream is not a stereo stream, or nil if it is.
  private static func reasonAgainst(_ multilayer: VideoParameterSetExtension) -> String? {
    let auxiliary = multilayer.layers.compactMap(\.auxiliaryKind)
    if !auxiliary.isEmpty {
      return "auxiliary layers, which are left out: "
        + auxiliary.joined(separator: ", ")
    }
    if multilayer.layers.count > 2 {
      return "\(multilayer.layers.count) layers; at most two are supported"
    }
    if multilayer.layers[1].viewOrderIndex == multilayer.layers[0].viewOrderIndex {
      return "a second layer of the same view (scalable coding)"
    }
    if multilayer.layers[1].nuhLayerID != 1 {
      return "its second view in layer \(multilayer.layers[1].nuhLayerID)"
    }
    return multilayer.pair == nil ? "unsupported layer sets" : nil
  }

  /// Sets the eye of the base layer if the other views are left out.
  private mutating func assignBaseEye(_ displays: ThreeDReferenceDisplaysInformation?) {
    guard viewCount > 1 else { return }
    let display = displays?.displays.first
    let isRight =
      display?.rightViewID == layers[0].viewID && display?.leftViewID != layers[0].viewID
    isEyeOrderGuessed = !isRight && display?.leftViewID != layers[0].viewID
    layers[0].eye = isRight ? .right : .left
    guard isEyeOrderGuessed, let reason = warning else { return }
    warning = reason + "; the eye of the base layer is not signalled, it is taken for the left"
  }

  private mutating func assignEyes(_ displays: ThreeDReferenceDisplaysInformation?) {
    let ids = layers.map(\.viewID)
    if let display = displays?.displays.first, display.leftViewID != display.rightViewID,
      let left = ids.firstIndex(of: display.leftViewID),
      let right = ids.firstIndex(of: display.rightViewID), left != right
    {
      layers[left].eye = .left
      layers[right].eye = .right
      return
    }
    isEyeOrderGuessed = true
    warning = "the stream does not signal the views' eyes; the base layer is taken for the left eye"
    layers[0].eye = .left
    layers[1].eye = .right
  }
}

extension VideoParameterSetExtension.Layer {
  /// Kind of an auxiliary layer, for messages; nil for pictures of a view (H.265 Table F.2).
  fileprivate var auxiliaryKind: String? {
    guard isAuxiliary else { return nil }
    return switch (scalabilityIDs[0], scalabilityIDs[3]) {
    case (0, 1): "alpha"
    case (0, 2), (1..., 0): "depth"
    default: "of type \(scalabilityIDs[3])"
    }
  }
}

extension ThreeDReferenceDisplaysInformation {
  /// Reads the first such message in `nalUnits`, ignoring other NAL units; nil if there is none.
  public init?(nalUnits: [[UInt8]]) {
    for unit in nalUnits {
      guard NALUnitHeader(unit.span.bytes)?.type == .prefixSEI,
        let messages = try? SEIMessage.messages(in: unit.span.bytes)
      else { continue }
      for message in messages where message.type == .threeDReferenceDisplays {
        guard let information = try? Self(payload: message.payload) else { continue }
        self = information
        return
      }
    }
    return nil
  }
}
