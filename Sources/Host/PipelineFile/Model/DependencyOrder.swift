// SPDX-License-Identifier: MPL-2.0

/// An order in which each thing comes after all it depends on, and the cycles that prevent one.
struct DependencyOrder {
  /// Things that depend on no cycle, dependencies first.
  let order: [Int]
  /// Disjoint cycles, each as the way from a thing back to before itself.
  let cycles: [[Int]]

  /// - Parameter dependencies: by thing, the things it depends on; each below the count.
  init(_ dependencies: [[Int]]) {
    var dependents = [[Int]](repeating: [], count: dependencies.count)
    var missing = dependencies.map(\.count)
    for (thing, needs) in dependencies.enumerated() {
      for need in needs { dependents[need].append(thing) }
    }
    var order = missing.indices.filter { missing[$0] == 0 }
    var next = 0
    while next < order.count {
      for dependent in dependents[order[next]] {
        missing[dependent] -= 1
        if missing[dependent] == 0 { order.append(dependent) }
      }
      next += 1
    }
    self.order = order

    var cycles: [[Int]] = []
    var visited = missing.map { $0 == 0 }
    for start in missing.indices where !visited[start] {
      // Each thing that is left depends on another that is left: the walk ends in a cycle.
      var path: [Int] = []
      var position: [Int: Int] = [:]
      var thing = start
      while !visited[thing] {
        visited[thing] = true
        position[thing] = path.count
        path.append(thing)
        thing = dependencies[thing].first { missing[$0] > 0 } ?? thing
      }
      if let first = position[thing] { cycles.append(Array(path[first...])) }
    }
    self.cycles = cycles
  }
}
