// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo

/// Reads a NAL unit without start code, or a record, as every structure it may be, and writes it
/// again if possible.
func readParameterSets(_ bytes: [UInt8]) {
  if let vps = try? VideoParameterSet(nalUnit: bytes) {
    _ = try? VideoParameterSet(nalUnit: vps.nalUnit())
    _ = LayeredStreamInformation(
      vps, displays: ThreeDReferenceDisplaysInformation(nalUnits: [bytes]))
  }
  var sets = ParameterSetStore()
  _ = try? sets.add(bytes.span.bytes)
  for message in (try? SEIMessage.messages(in: bytes.span.bytes)) ?? [] {
    _ = try? ThreeDReferenceDisplaysInformation(payload: message.payload).nalUnit
    _ = try? MasteringDisplayColourVolume(payload: message.payload)
    _ = try? ContentLightLevel(payload: message.payload)
  }
  var nalUnits: [[UInt8]] = []
  if let record = try? HEVCDecoderConfigurationRecord(bytes: bytes) {
    _ = try? HEVCDecoderConfigurationRecord(bytes: record.bytes)
    nalUnits += record.nalUnits
  }
  if let record = try? LHEVCDecoderConfigurationRecord(bytes: bytes) {
    _ = try? LHEVCDecoderConfigurationRecord(bytes: record.bytes)
    nalUnits += record.nalUnits
  }
  for nalUnit in nalUnits { _ = try? sets.add(nalUnit.span.bytes) }
}
