// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import Glibc

extension StructureView {
  /// Returns the bytes of a section of a transport stream (`GstMpegtsSection`), as `tsdemux` hands
  /// it on; nil if the field is missing or of another type.
  public func transportSection(_ field: String) -> [UInt8]? {
    guard let value = gst_structure_get_value(pointer, field),
      String(cString: g_type_name(value.pointee.g_type)) == "GstMpegtsSection",
      let section = g_value_get_boxed(value), let packetize = Self.packetize
    else { return nil }
    var size: gsize = 0
    guard let bytes = packetize(section, &size), size > 0 else { return nil }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
  }

  private typealias Packetize =
    @convention(c) (UnsafeMutableRawPointer, UnsafeMutablePointer<gsize>) -> UnsafePointer<UInt8>?

  /// `gst_mpegts_section_packetize`, from the library that has made the section: programs that read
  /// no transport streams need not have it.
  private static var packetize: Packetize? {
    guard let library = dlopen("libgstmpegts-1.0.so.0", RTLD_NOW | RTLD_NOLOAD) else { return nil }
    defer { dlclose(library) }
    return dlsym(library, "gst_mpegts_section_packetize").map {
      unsafeBitCast($0, to: Packetize.self)
    }
  }
}
