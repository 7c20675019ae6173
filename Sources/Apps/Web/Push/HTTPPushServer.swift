// SPDX-License-Identifier: MPL-2.0

internal import CCurl
internal import Synchronization

/// An HTTP or HTTPS server that takes files by PUT: WebDAV (RFC 4918), the ingest of a content
/// delivery network, or an object store. The connection stays open between requests.
public final class HTTPPushServer: PushServer {
  /// The reason why there is no connection to a server.
  public enum Problem: Error, Equatable, CustomStringConvertible {
    /// The address is none, or has a part that it must not have.
    case address(String)
    /// A header is none (RFC 9110 5).
    case header(line: Int)
    /// libcurl is not installed.
    case noLibrary

    /// The problem in words.
    public var description: String {
      switch self {
      case .address(let reason): reason
      case .header(let line): "line \(line) is no header such as 'Authorization: Bearer TOKEN'"
      case .noLibrary: "libcurl is not installed (on Debian: libcurl4)"
      }
    }
  }

  private let curl: CurlLibrary
  private let address: String
  private let authorities: String?
  private let signature: StorageSignature?
  private let headers: @Sendable () -> [String]
  private let handle: Mutex<Handle>

  private struct Handle: @unchecked Sendable {
    let pointer: CurlLibrary.Handle
  }

  /// Creates a connection, which is opened by the first request.
  ///
  /// - Parameters:
  ///   - address: The address of the stream's folder, `https://example.org/live`.
  ///   - authorities: A file with the certificates of the authorities that are trusted; nil for
  ///     those of the system.
  ///   - signature: The signature of requests to an object store; nil for other servers.
  ///   - headers: Returns additional headers, which are requested for each request.
  public init(
    _ address: String, authorities: String? = nil, signature: StorageSignature? = nil,
    headers: @escaping @Sendable () -> [String] = { [] }
  ) throws(Problem) {
    self.address = try Self.checked(address)
    guard let curl = CurlLibrary.shared, let handle = curl.create() else { throw .noLibrary }
    (self.curl, self.authorities) = (curl, authorities)
    (self.signature, self.headers) = (signature, headers)
    self.handle = Mutex(Handle(pointer: handle))
  }

  deinit { handle.withLock { curl.close($0.pointer) } }

  /// Parses a file of headers: one a line, empty lines are ignored.
  public static func headers(in text: String) throws(Problem) -> [String] {
    var headers: [String] = []
    for (index, line) in text.split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline
    ).enumerated() where !line.isEmpty {
      let name = line.prefix { $0 != ":" }
      guard !name.isEmpty, name.count < line.count,
        name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
        line.unicodeScalars.allSatisfy({ $0 == "\t" || $0.value >= 0x20 && $0.value != 0x7F })
      else { throw .header(line: index + 1) }
      headers.append(String(line))
    }
    return headers
  }

  /// Writes a file. Folders are made if the server asks for it.
  public func put(_ bytes: [UInt8], to path: [String]) -> PushAnswer {
    let type = path.last.flatMap(MediaType.init)
    let own = [
      "Content-Type: \(type?.name ?? "application/octet-stream")",
      "Cache-Control: \(type?.cacheControl ?? "no-cache")",
    ]
    var status = request("PUT", path, own, bytes)
    // A server without the folder has to say 409 (RFC 4918 9.7.1); nginx says 500.
    if signature == nil, [404, 409, 500].contains(status.number), makeFolders(of: path) {
      status = request("PUT", path, own, bytes)
    }
    return status.answer("PUT")
  }

  /// Removes a file.
  public func delete(_ path: [String]) -> PushAnswer {
    request("DELETE", path, [], []).answer("DELETE")
  }

  /// Makes the folders of a file; returns whether the last one is there, made by this connection or
  /// by another one at the same time (405).
  private func makeFolders(of path: [String]) -> Bool {
    var isThere = false
    for index in path.indices {
      let answer = request("MKCOL", path[..<index] + [""], [], [])
      isThere = (200..<300).contains(answer.number) || answer.number == 405
    }
    return isThere
  }

  private struct Status {
    var number: Int
    var reason: String?

    func answer(_ method: String) -> PushAnswer {
      reason.map { .failed(reason: $0, isAnswered: false) }
        ?? PushAnswer(status: number, of: method)
    }
  }

  private func request(
    _ method: String, _ path: [String], _ own: [String], _ bytes: [UInt8]
  ) -> Status {
    let keys = signature?.keys()
    guard keys != nil || signature == nil else {
      return Status(number: 0, reason: "there are no keys by which requests could be signed")
    }
    // Without an answer to Expect, the library would wait for a second. libcurl 7.88 signs a header
    // without a value, which is not sent.
    let all = headers() + own + (keys.map(StorageSignature.headers) ?? ["Expect:"])
    return handle.withLock { handle in
      let handle = handle.pointer
      var list: CurlLibrary.List?
      for header in all { list = curl.addToList(list, header) ?? list }
      defer { curl.freeList(list) }
      curl.set(CURLOPT_URL, address + path.map { "/" + Self.escaped($0) }.joined(), of: handle)
      curl.set(CURLOPT_CUSTOMREQUEST, method, of: handle)
      curl.set(CURLOPT_HTTPHEADER, pointer: list, of: handle)
      configure(handle, size: bytes.count)
      if let signature, let keys {
        curl.set(CURLOPT_EXPECT_100_TIMEOUT_MS, 1, of: handle)
        curl.set(CURLOPT_AWS_SIGV4, signature.algorithm, of: handle)
        curl.set(CURLOPT_USERNAME, keys.id, of: handle)
        curl.set(CURLOPT_PASSWORD, keys.secret, of: handle)
      }
      let code = bytes.withUnsafeBytes { content in
        if method == "PUT" {
          curl.set(CURLOPT_POSTFIELDSIZE_LARGE, size: content.count, of: handle)
          // The library reads nothing of an empty content, but it has to have one.
          let empty: StaticString = ""
          curl.set(
            CURLOPT_POSTFIELDS, pointer: content.baseAddress ?? UnsafeRawPointer(empty.utf8Start),
            of: handle)
        } else {
          curl.set(CURLOPT_HTTPGET, 1, of: handle)
        }
        return curl.perform(handle)
      }
      curl.set(CURLOPT_POSTFIELDS, pointer: nil, of: handle)
      curl.set(CURLOPT_HTTPHEADER, pointer: nil, of: handle)
      return code == CURLE_OK
        ? Status(number: curl.status(of: handle))
        : Status(number: 0, reason: curl.reason(code))
    }
  }

  /// Limits that no server can exceed, whatever it answers: it must take the content and answer at
  /// 1 kB/s on average, with pauses of at most 15 seconds.
  private func configure(_ handle: CurlLibrary.Handle, size: Int) {
    curl.set(CURLOPT_NOSIGNAL, 1, of: handle)
    curl.set(CURLOPT_PROTOCOLS_STR, "http,https", of: handle)
    // Where an answer leads to, headers with secrets must not go.
    curl.set(CURLOPT_FOLLOWLOCATION, 0, of: handle)
    curl.set(CURLOPT_CONNECTTIMEOUT, 10, of: handle)
    curl.set(CURLOPT_LOW_SPEED_LIMIT, 1000, of: handle)
    curl.set(CURLOPT_LOW_SPEED_TIME, 15, of: handle)
    curl.set(CURLOPT_TIMEOUT, 30 + size / 16_000, of: handle)
    curl.set(CURLOPT_USERAGENT, "gst-spatial", of: handle)
    if let authorities { curl.set(CURLOPT_CAINFO, authorities, of: handle) }
    curl.ignoreContent(of: handle)
  }

  /// Returns an address without the slashes at its end.
  private static func checked(_ address: String) throws(Problem) -> String {
    let scheme = ["https://", "http://"].first { address.lowercased().hasPrefix($0) }
    guard let scheme else { throw .address("the address has to begin with https:// or http://") }
    let rest = address.dropFirst(scheme.count)
    let host = rest.prefix { $0 != "/" }
    guard !host.isEmpty, address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .address("the address has no host, or has characters that have to be escaped")
    }
    guard !host.contains("@") else {
      throw .address(
        "the address must not have a password, which other users could see; use --header-file")
    }
    guard !rest.contains(where: { "?#".contains($0) }) else {
      throw .address("the address has to be that of a folder, without a query")
    }
    var address = address[...]
    while address.hasSuffix("/") { address.removeLast() }
    return String(address)
  }

  /// Percent-encodes all but unreserved characters (RFC 3986).
  private static func escaped(_ component: String) -> String {
    component.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      if scalar.isASCII,
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
          || "-._~".unicodeScalars.contains(scalar)
      {
        return String(scalar)
      }
      let digits = String(byte, radix: 16, uppercase: true)
      return "%" + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }
}
