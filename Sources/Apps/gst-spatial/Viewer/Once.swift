// SPDX-License-Identifier: MPL-2.0

/// What is made when it is asked for first, once for all who ask.
actor Once<Value: Sendable> {
  private let make: @Sendable () async throws -> Value
  private var making: Task<Value, any Error>?

  init(_ make: @escaping @Sendable () async throws -> Value) { self.make = make }

  /// Throws what making it throws.
  var value: Value {
    get async throws {
      let making = self.making ?? Task { [make] in try await make() }
      self.making = making
      return try await making.value
    }
  }
}
