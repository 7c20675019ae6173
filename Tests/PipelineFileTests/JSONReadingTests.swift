// SPDX-License-Identifier: MPL-2.0

import Foundation
import PipelineFile
import Testing

struct JSONReadingTests {
  @Test(
    "what is written is read again",
    arguments: [
      "{\"a\":[1,-2,1.5,true,false,null,\"\"],\"b\":{\"c\":\"ä\\n\\\"\"}}", "[]", "{}",
      "-9223372036854775808",
      "\"\"",
    ])
  func roundTrip(_ text: String) throws {
    let line = try JSON(parsing: Array(text.utf8)).line
    #expect(try JSON(parsing: Array(line.utf8)).line == line)
    let foundation =
      try JSONSerialization.jsonObject(
        with: Data(text.utf8), options: .fragmentsAllowed) as? NSObject
    let again =
      try JSONSerialization.jsonObject(
        with: Data(line.utf8), options: .fragmentsAllowed) as? NSObject
    #expect(foundation == again)
  }

  @Test("escapes are characters")
  func escapes() throws {
    let text = #""\u00e4\ud83d\ude00\t\/\\\b""#
    #expect(try JSON(parsing: Array(text.utf8)).text == "ä😀\t/\\\u{8}")
  }

  @Test(
    "what is no JSON is an error with its place",
    arguments: [
      "", "{", "[1,]", "{\"a\"}", "{\"a\":}", "nul", "1 2", "\"a", "\"\\x\"", "\"\\ud800\"", "01x",
      "1e999",
      "\"\\ud800\\u0041\"", "\"\u{1}\"", "{a:1}", "[1", "\"\\u12\"",
    ])
  func malformed(_ text: String) {
    #expect {
      _ = try JSON(parsing: Array(text.utf8))
    } throws: { "\($0)".contains("is expected at byte") }
  }

  @Test("bytes that are no UTF-8, and deep nesting, are errors")
  func hostile() {
    #expect(throws: JSON.Malformed.self) { _ = try JSON(parsing: [0x22, 0xFF, 0x22]) }
    let deep = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
    #expect(throws: JSON.Malformed.self) { _ = try JSON(parsing: deep) }
  }
}
