// SPDX-License-Identifier: MPL-2.0

/// A decode that is started when something is asked of it, and stopped behind its end or an error.
struct Decoding {
  private var decode: Decode?
  private var isOver = false

  /// What is next; nil behind the end, and behind an error.
  ///
  /// - Parameters:
  ///   - start: gives the decode; nil where there is nothing to decode.
  ///   - body: takes what is next; nil where nothing more is wanted.
  mutating func next<Value>(
    start: () async throws -> Decode?, _ body: (Decode) async throws -> Value?
  ) async throws -> Value? {
    guard !isOver else { return nil }
    do {
      try Task.checkCancellation()
      if decode == nil { decode = try await start() }
      if let decode, let value = try await body(decode) { return value }
    } catch {
      await end()
      throw error
    }
    await end()
    return nil
  }

  private mutating func end() async {
    isOver = true
    let last = decode.take()
    await last?.close()
  }
}
