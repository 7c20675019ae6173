// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoEncoder
import TestKit
import Testing

/// How many processors the encoders may use.
struct ProcessorLimitTests {
  @Test("the smallest limit counts, and none that is no limit")
  func least() {
    #expect(ProcessorLimit(machine: 8).count == nil)
    #expect(ProcessorLimit(affinity: 8, quota: 20, slurm: 8, machine: 8).count == nil)
    #expect(ProcessorLimit(affinity: 4, quota: 3, slurm: 6, machine: 8).count == 3)
    #expect(ProcessorLimit(affinity: 4, machine: 8).count == 4)
    #expect(ProcessorLimit(slurm: 2, machine: 8).count == 2)
  }

  /// Writes files below a folder that stands for `/`.
  private func quota(_ files: [String: String]) throws -> Int? {
    let folder = try TemporaryFolder()
    for (name, text) in files {
      let url = folder.url.appending(path: name)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    return ProcessorLimit.quota(root: folder.url.path)
  }

  @Test("the quota of control groups, of both versions, and of the groups around them")
  func quotas() throws {
    let unified = "proc/self/cgroup"
    let fs = "sys/fs/cgroup"
    #expect(try quota([:]) == nil)
    #expect(
      try quota([unified: "0::/job/task\n", "\(fs)/job/task/cpu.max": "250000 100000\n"]) == 3)
    #expect(
      try quota([
        unified: "0::/job/task\n", "\(fs)/job/task/cpu.max": "max 100000\n",
        "\(fs)/job/cpu.max": "200000 100000\n",
      ]) == 2)
    // In a container, the group is the root.
    #expect(
      try quota([unified: "0::/kubepods/pod1\n", "\(fs)/cpu.max": "50000 100000\n"]) == 1)
    #expect(
      try quota([
        unified: "5:cpu,cpuacct:/slurm/job\n4:memory:/\n",
        "\(fs)/cpu,cpuacct/slurm/job/cpu.cfs_quota_us": "400000\n",
        "\(fs)/cpu,cpuacct/slurm/job/cpu.cfs_period_us": "100000\n",
      ]) == 4)
    #expect(
      try quota([
        unified: "5:cpu:/\n", "\(fs)/cpu/cpu.cfs_quota_us": "-1\n",
        "\(fs)/cpu/cpu.cfs_period_us": "100000\n",
      ]) == nil)
  }

  @Test(
    "damaged files are no limit",
    arguments: ["", "x", "1", "1 0", "0 1", "-5 1", "9 9 9", "99999999999999999999 1", "max"])
  func damaged(_ text: String) throws {
    #expect(
      try quota(["proc/self/cgroup": "0::/\n0:\n:::\n", "sys/fs/cgroup/cpu.max": text]) == nil)
  }

  @Test("the affinity of this thread is among the machine's processors")
  func affinity() throws {
    let own = try #require(ThreadAffinity.current)
    #expect(own.count >= 1 && own.count <= ProcessInfo.processInfo.processorCount)
    #expect(own.isSubset(of: own))
    #expect(ThreadAffinity.threads.contains(getpid()))
    #expect(ThreadAffinity(thread: Int32.max) == nil)
  }
}
