// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import ISOBMFF

extension VisualSampleEntry {
  /// Changes the record of the base layer.
  public mutating func changeBaseRecord(
    _ change: (inout HEVCDecoderConfigurationRecord) throws -> Void
  ) throws {
    let index = try Self.found(configuration.firstIndex { $0.type == "hvcC" }, "hvcC")
    var record = try HEVCDecoderConfigurationRecord(bytes: configuration[index].payload)
    try change(&record)
    configuration[index].payload = record.bytes
  }

  /// Changes the VPS in the record of the base layer.
  public mutating func changeVPS(_ change: (inout VideoParameterSet) throws -> Void) throws {
    try changeBaseRecord { record in
      let index = try Self.found(
        record.arrays.firstIndex { $0.type == .videoParameterSet }, "a VPS")
      var vps = try VideoParameterSet(
        nalUnit: try Self.found(record.arrays[index].nalUnits.first, "a VPS"))
      try change(&vps)
      record.arrays[index].nalUnits = [vps.nalUnit()]
    }
  }

  /// Takes the messages out of the record of the base layer: which view is for which eye.
  public mutating func removeMessages() throws {
    try changeBaseRecord { $0.arrays.removeAll { $0.type == .prefixSEI } }
  }

  private static func found<Value>(_ value: Value?, _ name: String) throws -> Value {
    guard let value else { throw Failure("the sample entry has no \(name)") }
    return value
  }
}
