// SPDX-License-Identifier: MPL-2.0

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The number of processors that this process may use.
///
/// libx265 makes as many threads as the machine has processors, for each of up to three encoders.
/// On a machine that is shared, the affinity, a control group or Slurm allows fewer.
package struct ProcessorLimit: Equatable {
  /// The number of processors that are allowed by the affinity of the calling thread.
  package var affinity: Int?
  /// The processors' worth of time that control groups allow, rounded up.
  package var quota: Int?
  /// `SLURM_CPUS_PER_TASK`.
  package var slurm: Int?
  /// The number of processors of the machine.
  package var machine: Int

  package init(affinity: Int? = nil, quota: Int? = nil, slurm: Int? = nil, machine: Int) {
    (self.affinity, self.quota, self.slurm, self.machine) = (affinity, quota, slurm, machine)
  }

  /// The smallest of the limits, at least 1; nil if the whole machine may be used.
  package var count: Int? {
    let limits = [affinity, quota, slurm].compactMap(\.self)
    guard let least = limits.min(), least < machine else { return nil }
    return max(1, least)
  }

  /// The limits of the calling thread.
  package static var current: ProcessorLimit {
    #if canImport(Glibc)
      ProcessorLimit(
        affinity: ThreadAffinity.current?.count, quota: quota(root: ""),
        slurm: getenv("SLURM_CPUS_PER_TASK").flatMap { Int(String(cString: $0)) }
          .flatMap { $0 > 0 ? $0 : nil },
        machine: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    #else
      ProcessorLimit(machine: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    #endif
  }

  // MARK: Control groups

  /// Returns the processors' worth of time that the process's control groups allow, rounded up; nil
  /// if there is no limit.
  ///
  /// Each group is limited by all that it is in. A container sees its own group as the root, so
  /// that the path in `/proc/self/cgroup` may not exist: the root is then asked.
  ///
  /// - Parameter root: the folder that stands for `/`.
  package static func quota(root: String) -> Int? {
    guard let groups = text(of: root + "/proc/self/cgroup") else { return nil }
    var least: Int?
    for line in groups.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let controllers = fields[1].split(separator: ",")
      guard controllers.isEmpty || controllers.contains("cpu") else { continue }
      let isUnified = controllers.isEmpty
      let mounts = isUnified ? ["", "/unified"] : ["/" + fields[1], "/cpu"]
      for mount in mounts {
        var path = fields[2][...]
        while true {
          let folder = "\(root)/sys/fs/cgroup\(mount)\(path == "/" ? "" : path)"
          let found = isUnified ? unifiedQuota(folder) : firstVersionQuota(folder)
          if let found { least = min(least ?? .max, found) }
          guard let slash = path.lastIndex(of: "/"), !path.isEmpty else { break }
          path = path[..<slash]
        }
      }
    }
    return least
  }

  /// Returns the limit of a group of version 2: `cpu.max` is `QUOTA PERIOD` or `max PERIOD`.
  private static func unifiedQuota(_ folder: String) -> Int? {
    let numbers = text(of: folder + "/cpu.max")?.split { $0 == " " || $0 == "\n" }.map { Int($0) }
    guard let numbers, numbers.count == 2 else { return nil }
    return processors(quota: numbers[0], period: numbers[1])
  }

  private static func firstVersionQuota(_ folder: String) -> Int? {
    func number(_ name: String) -> Int? {
      text(of: folder + "/" + name).flatMap { Int($0.prefix { $0 != "\n" }) }
    }
    return processors(quota: number("cpu.cfs_quota_us"), period: number("cpu.cfs_period_us"))
  }

  private static func processors(quota: Int?, period: Int?) -> Int? {
    guard let quota, let period, quota > 0, period > 0 else { return nil }
    return quota / period + (quota % period > 0 ? 1 : 0)
  }

  /// Returns the contents of a small file; nil if it cannot be read.
  private static func text(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = read(file, &bytes, bytes.count)
    return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }
}
