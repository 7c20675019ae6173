// SPDX-License-Identifier: MPL-2.0

// What libFuzzer calls. The target is named by the environment variable FUZZ_TARGET; `damage` is
// none of libFuzzer's, but runs the whole of a DamageCampaign.
import FuzzTargets
import GStreamer
import Glibc
import SpatialElements

private func variable(_ name: String) -> String {
  getenv(name).map { String(cString: $0) } ?? ""
}

private let target: FuzzTarget = {
  guard let target = FuzzTarget(rawValue: variable("FUZZ_TARGET")) else {
    fatalError("FUZZ_TARGET is one of \(FuzzTarget.allCases.map(\.rawValue)) and damage")
  }
  if target.needsPlugin { registerPlugin() }
  return target
}()

@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  target.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

@c(LLVMFuzzerInitialize)
public func prepare(
  _ count: UnsafeMutablePointer<CInt>?,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
  guard variable("FUZZ_TARGET") == "damage", let names = arguments?.pointee,
    let count = count?.pointee
  else { return 0 }
  registerPlugin()
  exit(runCampaign((1..<Int(count)).compactMap { names[$0].map { String(cString: $0) } }))
}

/// The plugin is linked into the fuzzer, with its coverage counted.
private func registerPlugin() {
  initialize()
  guard spatialPlugin.registerStatically() else { fatalError("the plugin does not register") }
}

/// Plays every case of the movies at some paths, from the one whose number FUZZ_FIRST is. What is
/// wrong is printed; so is the number of the case in which the process ends or does not go on.
private func runCampaign(_ paths: [String]) -> CInt {
  let seeds = paths.flatMap { path in
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard let bytes = contents(path) else { fatalError("\(path) cannot be read") }
    guard let movie = SeedMovie(bytes), !name.contains("fragment") else {
      return [DamageCampaign.Seed(name, bytes)]
    }
    return DamageCampaign.Seed.all(name, movie)
  }
  let campaign = DamageCampaign(seeds, cuts: 1000, bytes: 100_000, number: 20_261_121)
  let progress = open(variable("FUZZ_PROGRESS"), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
  say("campaign: \(campaign.seeds.count) files, \(campaign.cases.count) cases")
  var findings = 0
  for index in (Int(variable("FUZZ_FIRST")) ?? 0)..<campaign.cases.count {
    let one = campaign.cases[index]
    // A trap, AddressSanitizer and the alarm end the process, which then leaves its case here.
    "\(index)".withCString { _ = pwrite(progress, $0, strlen($0), 0) }
    alarm(120)
    if let complaint = campaign.complaint(about: one) {
      findings += 1
      say("finding: \(index): \(complaint)")
    }
  }
  alarm(0)
  say("campaign: \(findings) findings")
  return findings == 0 ? 0 : 1
}

/// At once, since the process may end at any time.
private func say(_ line: String) {
  _ = (line + "\n").withCString { write(STDOUT_FILENO, $0, strlen($0)) }
}

private func contents(_ path: String) -> [UInt8]? {
  guard let file = fopen(path, "rb") else { return nil }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 1 << 16)
  while case let count = fread(&piece, 1, piece.count, file), count > 0 {
    bytes += piece.prefix(count)
  }
  return bytes
}
