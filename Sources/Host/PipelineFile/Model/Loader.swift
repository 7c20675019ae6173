// SPDX-License-Identifier: MPL-2.0

/// Loads a file and all files that it includes.
struct Loader {
  let reporter: Reporter
  let load: (String) throws -> [UInt8]

  /// Maximum number of files of a pipeline.
  private static let fileLimit = 64
  /// Maximum total size of these files, in bytes.
  private static let totalLimit = 2 * YAMLReader.byteLimit

  /// Returns the files; nil if one cannot be read or is malformed, which has been reported.
  func units(from path: String) -> [IncludedUnit]? {
    var units: [IncludedUnit] = []
    var isComplete = true
    var bytesLeft = Self.totalLimit
    var pending: [(path: String, chain: [String], parent: Int?, include: Include?)] = [
      (path, [], nil, nil)
    ]
    while let next = pending.popLast() {
      let place = next.include?.file.location
      if let repeated = next.chain.firstIndex(of: next.path) {
        let cycle = next.chain[repeated...] + [next.path]
        reporter.error(
          "a file cannot include itself: \(cycle.joined(separator: " -> "))", at: place)
        isComplete = false
        continue
      }
      guard units.count < Self.fileLimit else {
        reporter.error("more than \(Self.fileLimit) files are included", at: place)
        return nil
      }
      guard let file = sourceFile(next.path, place, &bytesLeft),
        let unit = UnitReader(file: file, reporter: reporter).read()
      else {
        isComplete = false
        continue
      }
      let index = units.count
      let outer = next.parent.map { units[$0].unit.parameters } ?? []
      units.append(
        IncludedUnit(
          unit: unit, parent: next.parent, include: next.include,
          arguments: next.include?.arguments(for: unit.parameters, from: outer) ?? []))
      for include in unit.includes.reversed() {
        pending.append(
          (
            Path.resolve(include.file.text, besides: next.path), next.chain + [next.path], index,
            include
          ))
      }
    }
    return isComplete ? units : nil
  }

  private func sourceFile(
    _ path: String, _ place: SourceLocation?, _ bytesLeft: inout Int
  ) -> SourceFile? {
    let bytes: [UInt8]
    do {
      bytes = try load(path)
    } catch {
      reporter.error("'\(path)' cannot be read: \(error)", at: place)
      return nil
    }
    guard bytes.count <= YAMLReader.byteLimit else {
      reporter.error(
        "'\(path)' has \(bytes.count) bytes; a pipeline file has at most \(YAMLReader.byteLimit)",
        at: place, help: "is this a pipeline file?")
      return nil
    }
    bytesLeft -= bytes.count
    guard bytesLeft >= 0 else {
      reporter.error(
        "the included files have more than \(Self.totalLimit) bytes in total", at: place)
      return nil
    }
    // Skip a byte order mark.
    let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    guard let text = String(validating: body, as: UTF8.self) else {
      reporter.error(
        "'\(path)' is not a text file in UTF-8", at: place, help: "is this a pipeline file?")
      return nil
    }
    return SourceFile(name: path, text: text)
  }
}

/// A topological order of items by their dependencies, and the cycles that prevent one.
struct DependencyOrder {
  /// The items that depend on no cycle, dependencies first.
  let order: [Int]
  /// Disjoint cycles, each as a path that returns to its first item.
  let cycles: [[Int]]

  /// - Parameter dependencies: for each item, the indexes of the items it depends on.
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
      // Each remaining item depends on another remaining one, so the walk ends in a cycle.
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
