// SPDX-License-Identifier: MPL-2.0

// The functions that libFuzzer calls. The environment variable FUZZ_TARGET names the target;
// `damage` is not a libFuzzer target, but runs a whole DamageCampaign.
import FuzzTargets
import GStreamer
import Glibc
import SpatialElements

private func variable(_ name: String) -> String {
  getenv(name).map { String(cString: $0) } ?? ""
}

private let target: FuzzTarget = {
  guard let target = FuzzTarget(rawValue: variable("FUZZ_TARGET")) else {
    fatalError("FUZZ_TARGET must be damage or one of \(FuzzTarget.allCases.map(\.rawValue))")
  }
  if target.needsPlugin { registerPlugin() }
  return target
}()

/// Runs the target with one input; called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  target.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

/// Runs a DamageCampaign instead of fuzzing if the target is `damage`; called by libFuzzer at its
/// start.
@_cdecl("LLVMFuzzerInitialize")
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

/// Registers the plugin, which is linked into the fuzzer so that its coverage is counted.
private func registerPlugin() {
  initialize()
  guard spatialPlugin.registerStatically() else { fatalError("the plugin cannot be registered") }
}

/// Plays every case of the movies at these paths, starting at case number FUZZ_FIRST. Findings are
/// printed; the number of a case in which the process crashes or hangs is left in the file
/// FUZZ_PROGRESS.
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
    // A trap, AddressSanitizer and the alarm end the process; the file then has the number of the
    // case.
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

/// Prints a line unbuffered, since the process may end at any time.
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
