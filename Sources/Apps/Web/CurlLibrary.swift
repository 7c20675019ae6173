// SPDX-License-Identifier: MPL-2.0

internal import CCurl
internal import Glibc

/// libcurl, which only pushing and movies on servers need and which is opened for them: it brings
/// libraries of its own that would slow down the start of all commands.
struct CurlLibrary: @unchecked Sendable {
  typealias Handle = UnsafeMutableRawPointer
  typealias List = UnsafeMutablePointer<curl_slist>

  /// The library; nil if it is not installed.
  static let shared = CurlLibrary()

  let create: @convention(c) () -> Handle?
  let perform: @convention(c) (Handle) -> CURLcode
  let close: @convention(c) (Handle) -> Void
  let addToList: @convention(c) (List?, UnsafePointer<CChar>) -> List?
  let freeList: @convention(c) (List?) -> Void
  private let describe: @convention(c) (CURLcode) -> UnsafePointer<CChar>?
  private let setOption: UnsafeMutableRawPointer
  private let getInfo: UnsafeMutableRawPointer

  private init?() {
    guard let library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL) else { return nil }
    func symbol(_ name: String) -> UnsafeMutableRawPointer? { dlsym(library, name) }
    guard let initialize = symbol("curl_global_init"), let create = symbol("curl_easy_init"),
      let perform = symbol("curl_easy_perform"), let close = symbol("curl_easy_cleanup"),
      let add = symbol("curl_slist_append"), let free = symbol("curl_slist_free_all"),
      let describe = symbol("curl_easy_strerror"), let set = symbol("curl_easy_setopt"),
      let get = symbol("curl_easy_getinfo")
    else { return nil }
    typealias Initialize = @convention(c) (Int) -> CURLcode
    // 3 is CURL_GLOBAL_ALL.
    guard unsafeBitCast(initialize, to: Initialize.self)(3) == CURLE_OK else { return nil }
    self.create = unsafeBitCast(create, to: (@convention(c) () -> Handle?).self)
    self.perform = unsafeBitCast(perform, to: (@convention(c) (Handle) -> CURLcode).self)
    self.close = unsafeBitCast(close, to: (@convention(c) (Handle) -> Void).self)
    addToList = unsafeBitCast(
      add, to: (@convention(c) (List?, UnsafePointer<CChar>) -> List?).self)
    freeList = unsafeBitCast(free, to: (@convention(c) (List?) -> Void).self)
    self.describe = unsafeBitCast(
      describe, to: (@convention(c) (CURLcode) -> UnsafePointer<CChar>?).self)
    (setOption, getInfo) = (set, get)
  }

  func set(_ option: CURLoption, _ value: Int, of handle: Handle) {
    _ = spatial_curl_set_long(setOption, handle, option, value)
  }

  func set(_ option: CURLoption, size: Int, of handle: Handle) {
    _ = spatial_curl_set_size(setOption, handle, option, curl_off_t(size))
  }

  /// Sets an option to a text, which the library copies.
  func set(_ option: CURLoption, _ text: String, of handle: Handle) {
    _ = text.withCString { spatial_curl_set_pointer(setOption, handle, option, $0) }
  }

  /// Sets an option to an address, whose content must stay until the request has ended.
  func set(_ option: CURLoption, pointer: UnsafeRawPointer?, of handle: Handle) {
    _ = spatial_curl_set_pointer(setOption, handle, option, pointer)
  }

  /// Ignores the content of answers.
  func ignoreContent(of handle: Handle) {
    set(CURLOPT_WRITEFUNCTION, writer: { _, size, count, _ in size &* count }, of: handle)
  }

  /// Sets a function that takes content or header fields.
  func set(_ option: CURLoption, writer: curl_write_callback, of handle: Handle) {
    _ = spatial_curl_set_writer(setOption, handle, option, writer)
  }

  /// The status of the last answer; 0 if there was none.
  func status(of handle: Handle) -> Int {
    var status = 0
    _ = spatial_curl_status(getInfo, handle, &status)
    return status
  }

  func reason(_ code: CURLcode) -> String {
    describe(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
  }
}
