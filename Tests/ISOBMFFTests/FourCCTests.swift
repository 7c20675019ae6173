// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

struct FourCCTests {
  @Test("a code is its four Latin-1 characters")
  func literal() {
    #expect(("moov" as FourCC).rawValue == 0x6D6F_6F76)
    #expect(("©nam" as FourCC).rawValue == 0xA96E_616D)
    #expect(("qt" as FourCC).rawValue == 0x7174_2020)
  }

  @Test("a string of another length or character set is no code")
  func strings() {
    #expect(FourCC(exactly: "hvc1")?.description == "hvc1")
    #expect(FourCC(exactly: "hvc") == nil)
    #expect(FourCC(exactly: "hvc12") == nil)
    #expect(FourCC(exactly: "hvc\u{20AC}") == nil)
  }

  @Test("unprintable codes are shown in hexadecimal")
  func description() {
    #expect(FourCC(rawValue: 0x0000_0001).description == "0x00000001")
    #expect(("©nam" as FourCC).description == "©nam")
  }
}

struct MetadataValueTests {
  @Test("integers of any width, with and without sign")
  func integers() {
    #expect(MetadataValue.integer(-2).integer == -2)
    #expect(MetadataValue(typeIndicator: 21, bytes: [0xFF]).integer == -1)
    #expect(MetadataValue(typeIndicator: 22, bytes: [0xFF]).integer == 255)
    #expect(
      MetadataValue(typeIndicator: 22, bytes: Array(repeating: 0xFF, count: 8)).integer == nil)
    #expect(MetadataValue(typeIndicator: 21, bytes: []).integer == nil)
    #expect(MetadataValue(typeIndicator: 21, bytes: Array(repeating: 1, count: 9)).integer == nil)
    #expect(MetadataValue.utf8("7").integer == nil)
  }
}
