// SPDX-License-Identifier: MPL-2.0

/// The signature of requests to Amazon S3 and its kind (AWS Signature Version 4), which libcurl
/// makes.
public struct StorageSignature: Sendable {
  /// The keys of an account.
  public struct Keys: Equatable, Sendable {
    /// The identifier of the access key.
    public var id: String
    /// The secret access key.
    public var secret: String
    /// The session token of keys that expire; nil for any others.
    public var token: String?

    /// Creates keys.
    public init(id: String, secret: String, token: String? = nil) {
      (self.id, self.secret, self.token) = (id, secret, token)
    }

    /// Parses one profile of a file `~/.aws/credentials`: sections in brackets, with a name and a
    /// value in each line; nil if the profile is not there or lacks a key.
    public init?(parsing text: String, profile: String) {
      var section = ""
      var values: [Substring: Substring] = [:]
      for line in text.split(whereSeparator: \.isNewline) {
        let line = line.trimming(while: \.isWhitespace)
        if line.hasPrefix("["), line.hasSuffix("]") {
          section = String(line.dropFirst().dropLast().trimming(while: \.isWhitespace))
        } else if section == profile, !line.hasPrefix("#"), let equal = line.firstIndex(of: "=") {
          let name = line[..<equal].trimming(while: \.isWhitespace)
          values[name] = line[line.index(after: equal)...].trimming(while: \.isWhitespace)
        }
      }
      guard let id = values["aws_access_key_id"], let secret = values["aws_secret_access_key"]
      else { return nil }
      self.init(
        id: String(id), secret: String(secret), token: values["aws_session_token"].map(String.init))
    }
  }

  /// The region of the bucket, such as `eu-central-1`.
  let region: String
  /// The keys at present; nil if there are none.
  let keys: @Sendable () -> Keys?

  /// Creates a signature.
  ///
  /// - Parameters:
  ///   - region: The region of the bucket, such as `eu-central-1`: letters, digits and hyphens.
  ///   - keys: Returns the keys, and is asked for each request.
  /// - Returns: Nil if there is no such region.
  public init?(region: String, keys: @escaping @Sendable () -> Keys?) {
    guard !region.isEmpty,
      region.utf8.allSatisfy({
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D
      })
    else { return nil }
    (self.region, self.keys) = (region, keys)
  }

  /// The option of libcurl.
  var algorithm: String { "aws:amz:\(region):s3" }

  /// The headers of a request, which are signed, too.
  static func headers(_ keys: Keys) -> [String] {
    // Otherwise content would be hashed before it is sent. TLS protects it.
    ["x-amz-content-sha256: UNSIGNED-PAYLOAD"]
      + (keys.token.map { ["x-amz-security-token: \($0)"] } ?? [])
  }
}

extension Substring {
  /// Returns the text without characters at both ends.
  fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
    var rest = drop(while: isTrimmed)
    while let last = rest.last, isTrimmed(last) { rest.removeLast() }
    return rest
  }
}
