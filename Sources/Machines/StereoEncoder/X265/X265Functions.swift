// SPDX-License-Identifier: MPL-2.0

/// The functions of `x265_api` that are used, with their types of x265.h.
struct X265Functions: Sendable {
  /// `x265_param *`, `x265_picture *`, `x265_encoder *`
  typealias Pointer = UnsafeMutableRawPointer

  let param_alloc: @convention(c) () -> Pointer?
  let param_free: @convention(c) (Pointer?) -> Void
  let param_parse: @convention(c) (Pointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32
  let param_default_preset:
    @convention(c) (Pointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32
  let picture_alloc: @convention(c) () -> Pointer?
  let picture_free: @convention(c) (Pointer?) -> Void
  let picture_init: @convention(c) (Pointer?, Pointer?) -> Void
  let encoder_open: @convention(c) (Pointer?) -> Pointer?
  let encoder_parameters: @convention(c) (Pointer?, Pointer?) -> Void
  let encoder_reconfig: @convention(c) (Pointer?, Pointer?) -> Int32
  let encoder_headers:
    @convention(c) (
      Pointer?, UnsafeMutablePointer<Pointer?>?, UnsafeMutablePointer<UInt32>?
    ) -> Int32
  let encoder_encode:
    @convention(c) (
      Pointer?, UnsafeMutablePointer<Pointer?>?, UnsafeMutablePointer<UInt32>?, Pointer?, Pointer?
    ) -> Int32
  let encoder_get_stats: @convention(c) (Pointer?, Pointer?, UInt32) -> Void
  let encoder_close: @convention(c) (Pointer?) -> Void

  /// - Precondition: `table` is an `x265_api` of the layout that `offsets` are of.
  init(_ table: Pointer, _ offsets: X265Layout.Functions) {
    func function<Function>(_ offset: Int) -> Function {
      table.load(fromByteOffset: offset, as: Function.self)
    }
    param_alloc = function(offsets.param_alloc)
    param_free = function(offsets.param_free)
    param_parse = function(offsets.param_parse)
    param_default_preset = function(offsets.param_default_preset)
    picture_alloc = function(offsets.picture_alloc)
    picture_free = function(offsets.picture_free)
    picture_init = function(offsets.picture_init)
    encoder_open = function(offsets.encoder_open)
    encoder_parameters = function(offsets.encoder_parameters)
    encoder_reconfig = function(offsets.encoder_reconfig)
    encoder_headers = function(offsets.encoder_headers)
    encoder_encode = function(offsets.encoder_encode)
    encoder_get_stats = function(offsets.encoder_get_stats)
    encoder_close = function(offsets.encoder_close)
  }
}
