// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// A run of samples to be taken: the kernels' one argument.
///
/// The coordinates have been checked: every sample that a kernel reads lies in the plane.
struct SampleRun {
  let source: UnsafeRawPointer
  /// From a row to the next, in bytes.
  let stride: Int
  let offsets: UnsafePointer<UInt32>
  let fractions: UnsafePointer<UInt16>
  let target: UnsafeMutableRawPointer
  /// A multiple of eight.
  let count: Int

  @inline(__always)
  func fractions(_ index: Int) -> SIMD8<UInt16> {
    UnsafeRawPointer(fractions + index).loadUnaligned(as: SIMD8<UInt16>.self)
  }

  @inline(__always)
  func fourFractions(_ index: Int) -> SIMD4<UInt32> {
    UnsafeRawPointer(fractions + index).loadUnaligned(as: SIMD4<UInt16>.self).lanes(as: UInt32.self)
  }
}
