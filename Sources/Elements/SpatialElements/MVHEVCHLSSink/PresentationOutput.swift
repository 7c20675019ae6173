// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Packager

/// Where a presentation goes: to files, or where the application has it go, which is asked by the
/// signals of `hlssink3` and `hlsmultivariantsink`.
struct PresentationOutput {
  private static let removal = "delete-fragment"

  static var signals: [Signal<MVHEVCHLSSink>] {
    PackagerOutput<Buffer>.FileKind.allCases.map { .outputStream($0.signal) } + [.removal(removal)]
  }

  let element: MVHEVCHLSSink
  var folder = OutputFolder()

  init(element: MVHEVCHLSSink) {
    self.element = element
  }

  /// Writes a file, or hands it to the application.
  ///
  /// - Throws: an ``ElementError`` that says which file, and why.
  mutating func write(
    _ kind: PackagerOutput<Buffer>.FileKind, _ blocks: [PackagerOutput<Buffer>.Block],
    to path: String
  ) throws {
    guard let stream = try element.requestOutputStream(kind.signal, location: path) else {
      return try folder.write(blocks, to: path)
    }
    do {
      for block in blocks { try block.withBytes { try stream.write($0) } }
      try stream.close()
    } catch {
      throw ElementError(.write, "'\(path)' could not be written: \(error)")
    }
  }

  /// Removes a file, or has the application do so.
  func remove(_ path: String) {
    if element.requestRemoval(Self.removal, location: path) == nil { folder.remove(path) }
  }
}

extension PackagerOutput.FileKind {
  /// By which the application is asked for a stream.
  fileprivate var signal: String {
    switch self {
    case .initializationSegment: "get-init-stream"
    case .segment: "get-fragment-stream"
    case .mediaPlaylist: "get-playlist-stream"
    case .presentation: "get-multivariant-playlist-stream"
    }
  }
}

extension PackagerOutput<Buffer>.Block {
  func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    switch self {
    case .bytes(let bytes): try bytes.withUnsafeBytes(body)
    case .payload(let buffer): try buffer.withBytes(body)
    }
  }
}
