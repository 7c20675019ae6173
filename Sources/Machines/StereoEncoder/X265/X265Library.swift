// SPDX-License-Identifier: MPL-2.0

import CX265
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The functions that CX265.c compiles against one `x265.h`, to encode with one `libx265.so.N`.
///
/// This program contains an adapter if `x265.h` was available when it was built. Others are in
/// files, which the packages and `make x265-adapter` install.
package struct X265Adapter: @unchecked Sendable {
  /// Constant, and valid for the lifetime of the process.
  let functions: UnsafePointer<cx265_adapter>

  /// `X265_BUILD`, the number in the file name of its libx265.
  package var build: Int32 { functions.pointee.build }
  /// The file name of its libx265, such as `libx265.so.199`.
  fileprivate var libraryName: String { String(cString: functions.pointee.file_name) }

  private init(functions: UnsafePointer<cx265_adapter>) {
    self.functions = functions
  }

  /// The adapter inside this program; nil if it was built without `x265.h`.
  package static var builtIn: X265Adapter? {
    cx265_get_adapter().map(X265Adapter.init(functions:))
  }

  /// Opens a file, which stays open.
  ///
  /// - Throws: `library` if it is not an adapter, or one for another version of gst-spatial.
  package init(file: String) throws(StereoEncoderError) {
    guard let handle = dlopen(file, RTLD_NOW | RTLD_LOCAL) else {
      throw .library(dlerror().map { String(cString: $0) } ?? "\(file) cannot be opened")
    }
    typealias Getter = @convention(c) () -> UnsafePointer<cx265_adapter>?
    guard let symbol = dlsym(handle, "cx265_get_adapter"),
      let functions = unsafeBitCast(symbol, to: Getter.self)(),
      functions.pointee.abi == CX265_ABI
    else {
      throw .library("\(file) was made for another version of gst-spatial")
    }
    self.functions = functions
  }
}

/// The locations of adapters in files.
private enum X265AdapterLocations {
  /// The only adapter to be used, if the environment names one.
  static var chosen: String? { getenv("GST_SPATIAL_X265_ADAPTER").map { String(cString: $0) } }

  /// The installed adapters, that for the newest libx265 first.
  static var installed: [String] { folders.lazy.map(files).first { !$0.isEmpty } ?? [] }

  /// The folders in which `make install` puts them: next to the folder of the plugin, or, for a
  /// program with the elements linked in, below the `lib` next to its `bin`.
  private static var folders: [String] {
    guard let file = ownFile else { return [] }
    let parts = file.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 2 else { return [] }
    let parent = parts.dropLast(2).joined(separator: "/")
    // Folders of plugins have any name.
    return parts[parts.count - 2] == "bin"
      ? libraryFolders.map { "\(parent)/\($0)/gst-spatial" } : ["\(parent)/gst-spatial"]
  }

  #if arch(x86_64)
    private static let libraryFolders = ["lib", "lib64", "lib/x86_64-linux-gnu"]
  #else
    private static let libraryFolders = ["lib", "lib64", "lib/aarch64-linux-gnu"]
  #endif

  /// The path of the plugin or program that contains this code, with symbolic links resolved.
  private static var ownFile: String? {
    guard let name = cx265_own_file().map({ String(cString: $0) }),
      let path = realpath(name.contains("/") ? name : "/proc/self/exe", nil)
    else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// Returns the adapters in a folder: `x265-216.so`, `x265-215.so` and so on.
  private static func files(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var builds: [Int32] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasPrefix("x265-"), name.hasSuffix(".so") else { continue }
      if let build = Int32(name.dropFirst(5).dropLast(3)) { builds.append(build) }
    }
    return builds.sorted(by: >).map { "\(folder)/x265-\($0).so" }
  }
}

/// libx265 for one bit depth: Debian's libx265 contains an encoder for each.
///
/// It is loaded when the first encoder is created, so that nothing else requires it or pays for it,
/// and never unloaded.
package struct X265Library: @unchecked Sendable {
  package let adapter: X265Adapter
  /// x265's functions for this bit depth: constant, and valid for the lifetime of the process.
  let handle: OpaquePointer
  /// The bit depth of its encoders' samples.
  let bitDepth: Int

  /// `X265_BUILD`
  package var build: Int32 { adapter.build }

  /// Loads the first libx265 that can be used: that whose header was available when this was built,
  /// then those of the installed adapters. The environment variable `GST_SPATIAL_X265_ADAPTER`
  /// names the only adapter to be used.
  ///
  /// - Throws: `library` if there is none; the message says what is missing and how to get it.
  package init(bitDepth: Int) throws(StereoEncoderError) {
    if let file = X265AdapterLocations.chosen {
      try self.init(bitDepth: bitDepth, builtIn: nil, files: [file])
    } else {
      try self.init(
        bitDepth: bitDepth, builtIn: X265Adapter.builtIn, files: X265AdapterLocations.installed)
    }
  }

  /// - Parameters:
  ///   - builtIn: the adapter to be tried first.
  ///   - files: adapters; each is opened only if none before it can be used.
  package init(
    bitDepth: Int, builtIn: X265Adapter?, files: @autoclosure () -> [String]
  ) throws(StereoEncoderError) {
    var search = X265Search()
    if let builtIn, let library = search.load(builtIn, bitDepth: bitDepth) {
      self = library
      return
    }
    let candidates = files()
    for file in candidates {
      if let adapter = search.open(file), let library = search.load(adapter, bitDepth: bitDepth) {
        self = library
        return
      }
    }
    throw .library(search.failure(hasAdapters: builtIn != nil || !candidates.isEmpty))
  }

  fileprivate init(adapter: X265Adapter, handle: OpaquePointer, bitDepth: Int) {
    self.adapter = adapter
    self.handle = handle
    self.bitDepth = bitDepth
  }

  /// Creating parameters and encoders writes to memory that all encoders of the process share,
  /// without a lock.
  private static let making = Mutex(())

  /// Runs `body` while no other thread does.
  ///
  /// x265 reads numbers in options as the locale says; `body` runs in a locale with a decimal
  /// point.
  static func making<Result: Sendable>(_ body: () -> Result) -> Result {
    making.withLock { _ in
      let plain = newlocale(LC_NUMERIC_MASK, "C", nil)
      let usual = plain.map { uselocale($0) }
      defer {
        if let usual { _ = uselocale(usual) }
        if let plain { freelocale(plain) }
      }
      return body()
    }
  }
}

/// The reasons why no libx265 can be used.
private struct X265Search {
  /// File names of libraries that were not found.
  private var absent: [String] = []
  private var problems: [String] = []

  mutating func open(_ file: String) -> X265Adapter? {
    do throws(StereoEncoderError) {
      return try X265Adapter(file: file)
    } catch {
      problems.append(error.description)
      return nil
    }
  }

  mutating func load(_ adapter: X265Adapter, bitDepth: Int) -> X265Library? {
    let (handle, reason) = X265Library.making { () -> (UInt, String) in
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { reason in
        guard let start = reason.baseAddress else { return (0, "") }
        start.initialize(to: 0)
        let handle = adapter.functions.pointee.load(Int32(clamping: bitDepth), start, reason.count)
        return (UInt(bitPattern: handle), String(cString: start))
      }
    }
    if let handle = OpaquePointer(bitPattern: handle) {
      return X265Library(adapter: adapter, handle: handle, bitDepth: bitDepth)
    }
    if !reason.isEmpty {
      problems.append(reason)
    } else if !absent.contains(adapter.libraryName) {
      absent.append(adapter.libraryName)
    }
    return nil
  }

  /// Returns what is missing and how to get it.
  ///
  /// - Parameter hasAdapters: whether there is any adapter.
  func failure(hasAdapters: Bool) -> String {
    let start = "libx265, the encoder,"
    let header = "x265.h (Debian: apt install libx265-dev)"
    let make = "run 'make x265-adapter' in the sources of gst-spatial"
    guard hasAdapters else {
      return "\(start) cannot be used: this was built without its header. "
        + "Install \(header) and build again, or \(make)"
    }
    let another = "For another libx265, install its \(header) and \(make)"
    guard problems.isEmpty else {
      return "\(start) cannot be used: \(problems.joined(separator: "; ")). \(another)"
    }
    let packages = absent.map { $0.replacing("libx265.so.", with: "libx265-") }
    return "\(start) is not installed (tried: \(absent.joined(separator: ", "))). "
      + "Install \(packages.joined(separator: " or ")) (the names of Debian's packages). \(another)"
  }
}
