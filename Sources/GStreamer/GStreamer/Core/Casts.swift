// SPDX-License-Identifier: MPL-2.0

/// The same object under the type of one of its base classes or subclasses: GObject's cast macros.
func cast<From, To>(_ pointer: UnsafeMutablePointer<From>) -> UnsafeMutablePointer<To> {
  UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: To.self)
}
