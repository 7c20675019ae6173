// SPDX-License-Identifier: MPL-2.0

public import HEVC

/// Layers that are not those of two eyes.
extension VideoParameterSet {
  /// Makes the layers differ in one dimension of scalability alone, and no longer in their views.
  public mutating func distinguishLayers(by dimension: Int) {
    multilayer?.scalabilityMask = 1 << dimension
    multilayer?.layers[1].scalabilityIDs[1] = 0
    multilayer?.layers[1].scalabilityIDs[dimension] = 1
  }

  /// Adds a third layer with a view.
  public mutating func addLayer(viewOrderIndex: Int) {
    maxLayersMinus1 = 2
    maxLayerID = 2
    layerSets = [0b111]
    multilayer?.pair = nil
    multilayer?.layers.append(
      .init(
        nuhLayerID: 2, viewOrderIndex: viewOrderIndex, viewID: viewOrderIndex,
        directReferenceLayers: 1))
  }

  /// Repeats the NAL units of layer 1 as a third layer.
  ///
  /// - Parameter sample: NAL units with a length of four bytes before each.
  public static func addThirdLayer(to sample: inout [UInt8]) throws {
    for range in try LengthPrefixed.nalUnits(in: sample.span.bytes) {
      var unit = Array(sample[range])
      guard NALUnitHeader(unit.span.bytes)?.layerID == 1 else { continue }
      unit[1] = unit[1] & 7 | 2 << 3
      sample += withUnsafeBytes(of: UInt32(unit.count).bigEndian, Array.init) + unit
    }
  }
}
