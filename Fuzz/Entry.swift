// What libFuzzer calls. The target is named by the environment variable FUZZ_TARGET.
import CGStreamer
import FuzzTargets
import Glibc
import Spatial

private let target: FuzzTarget = {
  let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
  guard let target = FuzzTarget(rawValue: name) else {
    fatalError("FUZZ_TARGET is one of \(FuzzTarget.allCases.map(\.rawValue))")
  }
  if target.needsPlugin { registerPlugin() }
  return target
}()

@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  target.run(Array(UnsafeBufferPointer(start: data, count: size)))
  return 0
}

/// The plugin is linked into the fuzzer, with its coverage counted.
private func registerPlugin() {
  gst_init(nil, nil)
  let plugin = pluginDescriptor().pointee
  guard
    gst_plugin_register_static(
      plugin.major_version, plugin.minor_version, plugin.name, plugin.description,
      plugin.plugin_init, plugin.version, plugin.license, plugin.source, plugin.package,
      plugin.origin) != 0
  else { fatalError("the plugin does not register") }
}
