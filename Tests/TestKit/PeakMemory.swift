// SPDX-License-Identifier: MPL-2.0

import Foundation

/// The most memory that this process has at once while `body` runs, beyond what it has before, in
/// bytes: what is resident, by the kernel's count.
///
/// Throws what `body` throws, and where the kernel does not tell.
public func peakMemory(of body: () throws -> Void) throws -> Int {
  // What earlier work has freed would be used again and hide what this work asks for.
  // (Swift's module of the C library lacks malloc.h.)
  if let trim = dlsym(nil, "malloc_trim") {
    _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> Int32).self)(0)
  }
  // Resets the peak (proc_pid_clear_refs(5)).
  try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"), options: [])
  let before = try resident("VmRSS")
  try body()
  return try resident("VmHWM") - before
}

private func resident(_ field: String) throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field + ":") }),
    let kibibytes = Int(line.filter(\.isNumber))
  else { throw Failure("/proc/self/status does not say \(field).") }
  return kibibytes * 1024
}
