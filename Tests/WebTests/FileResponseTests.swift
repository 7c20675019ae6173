// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing
import Web

/// Files as answers.
@Suite
struct FileResponseTests {
  let folder: TemporaryFolder
  /// Without symbolic links.
  let place: String

  init() throws {
    folder = try TemporaryFolder()
    place = folder.url.resolvingSymlinksInPath().path
    _ = try folder.write("0123456789", to: "ten")
    _ = try folder.write("", to: "empty")
  }

  private func response(
    _ name: String, _ headers: [(name: String, value: String)] = [],
    _ method: WebRequest.Method = .get
  ) throws -> WebResponse {
    let file = try #require(OpenFile([name], in: place))
    let request = try #require(WebRequest(method, "/\(name)", headers: headers))
    return WebResponse(file, for: request, headers: [])
  }

  private func text(_ response: WebResponse) throws -> String {
    switch response.body {
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    case .file(let file, let range): String(decoding: try file.read(range), as: UTF8.self)
    }
  }

  @Test(
    "a range is cut to the file",
    arguments: [
      ("bytes=0-3", 206, "0123"), ("bytes=4-", 206, "456789"), ("bytes=-3", 206, "789"),
      ("bytes=-30", 206, "0123456789"), ("bytes=8-100", 206, "89"), ("bytes=9-9", 206, "9"),
      ("bytes=8-99999999999999999999999", 206, "89"), ("bytes=10-", 416, ""),
      ("bytes=99999999999999999999999-", 416, ""), ("bytes=-0", 416, ""),
      ("bytes=3-1", 200, "0123456789"), ("bytes=a-b", 200, "0123456789"),
      ("bytes=0-1,4-5", 200, "0123456789"), ("lines=0-1", 200, "0123456789"),
      ("bytes=--1", 200, "0123456789"), ("bytes=-", 200, "0123456789"),
    ])
  func ranges(range: String, status: Int, expected: String) throws {
    let response = try response("ten", [("Range", range)])
    #expect(response.status.rawValue == status)
    #expect(try text(response) == expected)
    let said = response.headers.first { $0.name == "Content-Range" }?.value
    switch status {
    case 206:
      let first = try #require("0123456789".firstRange(of: expected)).lowerBound.utf16Offset(
        in: "0123456789")
      #expect(said == "bytes \(first)-\(first + expected.count - 1)/10")
    case 416: #expect(said == "bytes */10")
    default: #expect(said == nil)
    }
  }

  @Test("an empty file has no ranges")
  func empty() throws {
    #expect(try response("empty").status == .ok)
    #expect(try response("empty", [("Range", "bytes=0-")]).status == .rangeNotSatisfiable)
    #expect(try response("empty", [("Range", "bytes=-5")]).status == .rangeNotSatisfiable)
  }

  @Test("a client that has a file gets it again only when it has changed")
  func validators() throws {
    let tag = try #require(OpenFile(["ten"], in: place)).tag
    for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
      #expect(try response("ten", [("If-None-Match", known)]).status == .notModified, "\(known)")
    }
    #expect(try response("ten", [("If-None-Match", "\"x\"")]).status == .ok)
    #expect(
      try response("ten", [("Range", "bytes=0-1"), ("If-Range", tag)]).status == .partialContent)
    #expect(try response("ten", [("Range", "bytes=0-1"), ("If-Range", "\"x\"")]).status == .ok)
    _ = try folder.write("9876543210", to: "ten.new")
    try #require(rename(folder.path("ten.new"), folder.path("ten")) == 0)
    #expect(try response("ten", [("If-None-Match", tag)]).status == .ok)
  }

  @Test("files outside, and others than regular files, cannot be opened")
  func outside() throws {
    let outer = try TemporaryFolder()
    let secret = try outer.write("secret", to: "secret")
    let files = FileManager.default
    try files.createSymbolicLink(atPath: folder.path("out"), withDestinationPath: secret)
    try files.createSymbolicLink(
      atPath: folder.path("folder"), withDestinationPath: outer.url.path)
    try files.createSymbolicLink(atPath: folder.path("in"), withDestinationPath: "ten")
    mkfifo(folder.path("pipe"), 0o600)
    for path in [["out"], ["folder", "secret"], ["pipe"], ["none"], [""], ["..", "secret"]] {
      #expect(OpenFile(path, in: place) == nil, "\(path)")
    }
    #expect(OpenFile(["in"], in: place)?.size == 10)
    // A folder whose name has the same beginning.
    _ = try FileManager.default.createDirectory(
      atPath: place + "-2", withIntermediateDirectories: false)
    defer { try? files.removeItem(atPath: place + "-2") }
    try Data("a".utf8).write(to: URL(filePath: place + "-2/a"))
    try files.createSymbolicLink(atPath: folder.path("near"), withDestinationPath: place + "-2/a")
    #expect(OpenFile(["near"], in: place) == nil)
  }

  @Test("the parts of a path, and of a query, have no escapes any more")
  func targets() throws {
    let request = try #require(WebRequest(.get, "/a%20b/c.m3u8?_HLS_msn=3&x&y=%26"))
    #expect(request.path == ["a b", "c.m3u8"])
    #expect(request.parameter("_HLS_msn") == "3" && request.parameter("x") == "")
    #expect(request.parameter("y") == "&" && request.parameter("z") == nil)
    #expect(WebRequest(.get, "/")?.path == [""])
    for target in ["", "a", "*", "/..", "/a/../b", "/%2e%2e/a", "/.", "/%2F", "/%0", "/%80"] {
      #expect(WebRequest(.get, target) == nil, "\(target)")
    }
  }
}
