// SPDX-License-Identifier: MPL-2.0

public import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// Programs in Python, which judge independently: PyAV is FFmpeg's libraries.
public enum Python {
  public static let hasAV = (try? data(["-c", "import av"])) != nil
  public static let hasAVAndNumPy = (try? data(["-c", "import av, numpy"])) != nil

  /// What stands in for Amazon S3.
  public static let hasObjectStore = (try? data(["-c", "import boto3, moto.server"])) != nil

  public static let hasJSONSchema = (try? data(["-c", "import jsonschema, yaml"])) != nil

  public static let interpreter =
    ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"] ?? "python3"
  /// The socket of `Tests/Tools/judge_server.py`, which scripts/test starts once for all processes,
  /// since PyAV takes longer to import than most programs take to run.
  private static let server = ProcessInfo.processInfo.environment["GST_SPATIAL_JUDGE"]

  /// What a program prints.
  ///
  /// - Parameter arguments: as Python takes them: `-c` and a text, or a file, then the program's
  ///   own.
  /// - Throws: a `Failure` with what it said if its status is not 0.
  public static func data(_ arguments: [String]) throws -> Data {
    let (status, output, errors): (Int, Data, String)
    if let server {
      (status, output, errors) = try ask(server, arguments)
    } else {
      let result = try Program.run([interpreter] + arguments, errors: .apart)
      (status, output, errors) = (Int(result.status), result.data, result.errors)
    }
    guard status == 0 else {
      throw Failure("Python ended with \(status): \(errors)")
    }
    return output
  }

  /// What a program prints, as text.
  public static func text(_ arguments: [String]) throws -> String {
    String(decoding: try data(arguments), as: UTF8.self)
  }

  /// The lines that a program prints.
  public static func lines(_ arguments: [String]) throws -> [String] {
    try text(arguments).split(separator: "\n").map(String.init)
  }

  private struct Request: Encodable {
    var arguments: [String]
    var folder = FileManager.default.currentDirectoryPath
  }

  private static func ask(
    _ server: String, _ arguments: [String]
  ) throws -> (status: Int, output: Data, errors: String) {
    let connection = try connect(to: server)
    var request = try JSONEncoder().encode(Request(arguments: arguments))
    request.append(contentsOf: "\n".utf8)
    try connection.write(contentsOf: request)
    let answer = try connection.readToEnd() ?? Data()
    let line = answer.prefix { $0 != UInt8(ascii: "\n") }
    let numbers = String(decoding: line, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    let texts = answer.dropFirst(line.count + 1)
    guard numbers.count == 3, texts.count == numbers[1] + numbers[2] else {
      throw Failure("the judge's server ended in the middle of an answer")
    }
    return (
      numbers[0], Data(texts.prefix(numbers[1])),
      String(decoding: texts.dropFirst(numbers[1]), as: UTF8.self)
    )
  }

  private static func connect(to path: String) throws -> FileHandle {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw Failure("the path of the judge's socket is too long: \(path)")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let connection = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, size)
      }
    }
    guard status == 0 else { throw Failure("the judge's server does not answer at \(path)") }
    return connection
  }
}
