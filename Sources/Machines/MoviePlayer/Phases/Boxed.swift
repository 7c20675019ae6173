// SPDX-License-Identifier: MPL-2.0

/// A value in memory of its own, which is changed there: moving it is cheap, however large it is.
struct Boxed<Value: ~Copyable>: ~Copyable {
  private let pointer: UnsafeMutablePointer<Value>

  init(_ value: consuming Value) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: value)
  }

  deinit {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  var value: Value {
    _read { yield pointer.pointee }
    nonmutating _modify { yield &pointer.pointee }
  }
}

/// Nothing else has the pointer.
extension Boxed: @unchecked Sendable where Value: ~Copyable & Sendable {}
