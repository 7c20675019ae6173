// SPDX-License-Identifier: MPL-2.0

import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// libx265, as one bit depth's set of functions: a Debian libx265 holds one set for each depth.
///
/// It is loaded when the first encoder is made, so that nothing else needs it or pays for it, and
/// stays. Any of the builds in ``X265Layout/known`` will do.
package struct X265Library: Sendable {
  package let layout: X265Layout
  /// Of the samples of its encoders.
  let bitDepth: Int
  let functions: X265Functions

  /// Making parameters and encoders writes to what all encoders of the process share, without a
  /// lock.
  private static let making = Mutex(())

  /// Takes a build that the process has loaded already, as GStreamer's x265enc does; else the
  /// newest.
  ///
  /// - Parameter known: the builds that will do, the newest first.
  package init(
    bitDepth: Int, known: [X265Layout] = X265Layout.known
  ) throws(StereoEncoderError) {
    var reasons: [String] = []
    let isLoaded = known.map { Self.open($0.build, RTLD_NOLOAD) != nil }
    let order = zip(known, isLoaded)
    for (layout, _) in order.filter(\.1) + order.filter({ !$0.1 }) {
      guard let handle = Self.open(layout.build, 0) else {
        // The loader gives a path to what is there and yet cannot be loaded.
        let reason = dlerror().map { String(cString: $0) } ?? ""
        if reason.hasPrefix("/") { reasons.append(reason) }
        continue
      }
      do throws(StereoEncoderError) {
        try self.init(handle, layout, bitDepth: bitDepth)
        return
      } catch {
        reasons.append(error.description)
      }
    }
    throw .library(Self.advice(reasons, known))
  }

  private init(
    _ handle: UnsafeMutableRawPointer, _ layout: X265Layout, bitDepth: Int
  ) throws(StereoEncoderError) {
    let name = Self.fileName(layout.build)
    typealias Getter = @convention(c) (Int32) -> UnsafeMutableRawPointer?
    guard let symbol = dlsym(handle, "x265_api_get_\(layout.build)") else {
      throw .library("\(name) has no function table")
    }
    guard let table = unsafeBitCast(symbol, to: Getter.self)(Int32(clamping: bitDepth)) else {
      throw .library("\(name) has no \(bitDepth)-bit encoder")
    }
    guard X265Head(table) == X265Head(layout, bitDepth: bitDepth) else {
      throw .library("\(name) does not have the structures of x265 \(layout.version)")
    }
    self.layout = layout
    self.bitDepth = bitDepth
    functions = X265Functions(table, layout.functions)
    if let option = try X265Parameters.misplacedOption(in: self) {
      throw .library(
        "\(name) keeps its option \(option) elsewhere than x265 \(layout.version) does")
    }
  }

  private static func fileName(_ build: Int32) -> String { "libx265.so.\(build)" }

  private static func open(_ build: Int32, _ mode: Int32) -> UnsafeMutableRawPointer? {
    dlopen(fileName(build), mode | RTLD_NOW | RTLD_LOCAL)
  }

  /// What is there in place of a library that can be used, and what helps.
  private static func advice(_ reasons: [String], _ known: [X265Layout]) -> String {
    var found = reasons
    // Nothing lists the libraries that the loader would find, so it is asked for each.
    for build in Int32(100)..<400 where !known.contains(where: { $0.build == build }) {
      guard let handle = open(build, 0) else { continue }
      dlclose(handle)
      found.append("\(fileName(build)) is of a build that this does not know")
    }
    let packages = X265Layout.known.map { "libx265-\($0.build) (\($0.release))" }
    return "libx265, which encodes, "
      + (found.isEmpty ? "is not installed" : "cannot be used: \(found.joined(separator: "; "))")
      + ". Install the one of these Debian packages that the system has: "
      + packages.joined(separator: ", ")
  }

  /// Does `body` while no other thread does the like.
  ///
  /// Numbers in options have a decimal point, whatever the locale of the process: x265 would read
  /// them as the locale says.
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

/// The numbers in front of `x265_api`.
private struct X265Head: Equatable {
  let build: Int32
  let parametersSize: Int
  let pictureSize: Int
  let statisticsSize: Int
  let bitDepth: Int

  init(_ api: UnsafeMutableRawPointer) {
    build = api[Field<Int32>(4)]
    parametersSize = Int(api[Field<Int32>(8)])
    pictureSize = Int(api[Field<Int32>(12)])
    statisticsSize = Int(api[Field<Int32>(24)])
    bitDepth = Int(api[Field<Int32>(28)])
  }

  init(_ layout: X265Layout, bitDepth: Int) {
    build = layout.build
    parametersSize = layout.parameters.size
    pictureSize = layout.picture.size
    statisticsSize = layout.statistics.size
    self.bitDepth = bitDepth
  }
}
