// SPDX-License-Identifier: MPL-2.0

import HEVC
public import ISOBMFF

extension VisualSampleEntry {
  /// Whether the records say that the samples hold several views in layers.
  public var hasLayeredViews: Bool {
    let sets = LayeredContent.configuration(of: self)?.parameterSets ?? []
    let vps = sets.last { NALUnitHeader($0.span.bytes)?.type == .videoParameterSet }
    guard lhvC != nil, let vps = vps.flatMap({ try? VideoParameterSet(nalUnit: $0) }) else {
      return false
    }
    return LayeredStreamInformation(vps, displays: nil).viewCount > 1
  }
}
