// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import PipelineFile
internal import Web

/// The keys of an object store, where Amazon's own programs look for them first: variables of the
/// environment, and then a file.
enum StorageKeys {
  /// Returns the signature of requests to a region.
  ///
  /// - Throws: an exit code if there are no keys or no such region, which is told.
  static func signature(region: String) throws -> StorageSignature {
    let keys = try keys()
    guard let signature = StorageSignature(region: region, keys: keys) else {
      Terminal.error.line("error: '\(region)' is no region such as eu-central-1")
      throw ExitCode.mistakes
    }
    return signature
  }

  private static func keys() throws -> @Sendable () -> StorageSignature.Keys? {
    if let id = variable("AWS_ACCESS_KEY_ID"), let secret = variable("AWS_SECRET_ACCESS_KEY") {
      let keys = StorageSignature.Keys(
        id: id, secret: secret, token: variable("AWS_SESSION_TOKEN"))
      return { keys }
    }
    let path =
      variable("AWS_SHARED_CREDENTIALS_FILE") ?? (variable("HOME") ?? "") + "/.aws/credentials"
    let profile = variable("AWS_PROFILE") ?? "default"
    let file = try SecretValue(path) { text in
      guard let keys = StorageSignature.Keys(parsing: text, profile: profile) else {
        throw SecretFile.Problem(
          description: "the profile '\(profile)' has no aws_access_key_id and "
            + "aws_secret_access_key; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, "
            + "either")
      }
      return keys
    }
    return { file.current }
  }

  /// A variable without content counts as one that is not set.
  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}
