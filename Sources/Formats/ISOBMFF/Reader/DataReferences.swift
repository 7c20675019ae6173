// SPDX-License-Identifier: MPL-2.0

/// Where the samples of a track are: the `dref` box in its `dinf` (ISO/IEC 14496-12 8.7).
///
/// Samples in other files are refused: their names come from the file, and reading them would let a
/// movie choose what is read.
struct DataReferences {
  /// The numbers, from 1 on, of the references that lead out of the file.
  private var external: Set<UInt16> = []

  /// All samples are in this file.
  init() {}

  /// Reads a `dinf` box.
  init(_ dinf: BoxReader) throws(ISOBMFFError) {
    var dinf = dinf
    while var dref = try dinf.nextBox() {
      guard dref.type == "dref" else { continue }
      _ = try dref.readVersion()
      try dref.skip(4, "entry_count")
      var number: UInt16 = 0
      while var reference = try dref.nextBox(), number < .max {
        number += 1
        let isHere = try reference.readVersion().flags & 1 != 0
        // Writers exist that leave the flag out, and the name too.
        if !isHere, reference.remaining > 0 { external.insert(number) }
      }
    }
  }

  /// Throws where the samples of a sample entry are in another file.
  func check(_ entry: BoxReader) throws(ISOBMFFError) {
    guard !external.isEmpty else { return }
    var entry = entry
    try entry.skip(6, "reserved")
    let number: UInt16 = try entry.read("data_reference_index")
    guard external.contains(number) else { return }
    throw entry.error("its samples are in another file, which is not read")
  }
}
