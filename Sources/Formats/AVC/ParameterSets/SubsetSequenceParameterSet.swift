// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// `subset_seq_parameter_set_rbsp()`, H.264 (7.3.2.1.3), of a stream of two views: the SPS of the
/// dependent view.
package struct SubsetSequenceParameterSet: Hashable, Sendable {
  /// The parameters that an SPS has, too.
  package let sps: SequenceParameterSet
  /// `view_id` of the dependent view.
  package private(set) var viewID = 0
  /// Whether list 0 and list 1 of anchor pictures end with the base picture.
  package private(set) var anchorReferences = [false, false]
  /// Whether those of other pictures do.
  package private(set) var otherReferences = [false, false]

  /// Profiles with the extension of MVC: Multiview High and Stereo High.
  private static let profiles: Set<Int> = [118, 128]

  /// Reads a subset SPS NAL unit.
  ///
  /// - Throws: ``MVCError`` if it is damaged or describes other than two views.
  package init(nalUnit: [UInt8]) throws(MVCError) {
    do throws(SyntaxError) {
      sps = try SequenceParameterSet(nalUnit: nalUnit)
    } catch {
      throw .syntax(error)
    }
    guard sps.profile != 83, sps.profile != 86 else { throw .scalableVideoCoding }
    guard Self.profiles.contains(sps.profile) else { throw .unsupportedProfile(sps.profile) }
    var reader = BitReader(
      sps.rbsp, structure: "seq_parameter_set_mvc_extension", position: sps.data.upperBound)
    var ids: [Int] = []
    var references: [[[Int]]] = []
    do throws(SyntaxError) {
      try reader.skip(1, "bit_equal_to_one")
      for _ in 0...(try reader.ue("num_views_minus1", in: 0...1023)) {
        ids.append(try reader.ue("view_id", in: 0...1023))
      }
      if ids.count == 2 { references = try Self.references(&reader) }
    } catch {
      throw .syntax(error)
    }
    guard ids.count == 2 else { throw .viewCount(ids.count) }
    viewID = ids[1]
    if let other = references.joined().joined().first(where: { $0 != ids[0] }) {
      throw .otherReferenceView(viewID: other)
    }
    anchorReferences = references[0].map { !$0.isEmpty }
    otherReferences = references[1].map { !$0.isEmpty }
  }

  /// Reads the views that the second view refers to: for anchor and other pictures, of both lists.
  private static func references(_ reader: inout BitReader) throws(SyntaxError) -> [[[Int]]] {
    var result: [[[Int]]] = []
    for _ in 0..<2 {
      var lists: [[Int]] = []
      for _ in 0..<2 {
        var list: [Int] = []
        for _ in 0..<(try reader.ue("num_anchor_refs_l0", in: 0...1)) {
          list.append(try reader.ue("anchor_ref_l0", in: 0...1023))
        }
        lists.append(list)
      }
      result.append(lists)
    }
    return result
  }
}
