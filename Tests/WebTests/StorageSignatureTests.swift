// SPDX-License-Identifier: MPL-2.0

import Testing
import Web

/// The keys of an object store, as other programs leave them.
struct StorageSignatureTests {
  private static let file = """
    # of the studio
    [default]
    aws_access_key_id = ONE
    aws_secret_access_key=a+b/c==
    [ live ]\r
    region = eu-central-1\r
      aws_access_key_id\t=\tTWO\r
    aws_secret_access_key = d e\r
    aws_session_token = f=g\r
    [half]
    aws_access_key_id = THREE
    """

  @Test(
    "a profile is read from a file of credentials",
    arguments: [
      ("default", StorageSignature.Keys(id: "ONE", secret: "a+b/c==")),
      ("live", StorageSignature.Keys(id: "TWO", secret: "d e", token: "f=g")),
      ("half", nil), ("other", nil), ("", nil),
    ])
  func profiles(name: String, keys: StorageSignature.Keys?) {
    #expect(StorageSignature.Keys(parsing: Self.file, profile: name) == keys)
  }

  @Test(
    "damaged files have no keys", arguments: ["", "[", "[default]", "[default]\n=\n==", "]\n["])
  func damaged(text: String) {
    #expect(StorageSignature.Keys(parsing: text, profile: "default") == nil)
  }

  @Test(
    "regions are names as Amazon gives them",
    arguments: [
      ("eu-central-1", true), ("auto", true), ("", false), ("a:b", false), ("a b", false),
    ])
  func regions(name: String, isOne: Bool) {
    #expect((StorageSignature(region: name) { nil } != nil) == isOne)
  }
}
