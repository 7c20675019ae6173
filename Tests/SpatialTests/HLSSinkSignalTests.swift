// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import TestKit
import Testing

/// `mvhevchlssink` where an application takes what it writes: the signals of `hlssink3`.
struct HLSSinkSignalTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// An application that keeps what it is given in memory.
  private final class Store: @unchecked Sendable {
    /// Which signal asked for which location.
    var asked: [(signal: String, location: String)] = []
    var removed: [String] = []
    /// The streams by their locations.
    var streams: [String: UnsafeMutablePointer<GOutputStream>] = [:]
    /// Has no stream for what has this in its location.
    var refused: String?

    deinit { for stream in streams.values { g_object_unref(stream) } }

    func stream(_ signal: String, _ location: String) -> UnsafeMutablePointer<GOutputStream>? {
      asked.append((signal, location))
      if let refused, location.contains(refused) { return nil }
      guard let stream = g_memory_output_stream_new_resizable() else { return nil }
      if let old = streams.updateValue(stream, forKey: location) { g_object_unref(old) }
      g_object_ref(stream)
      return stream
    }

    func bytes(_ location: String) -> [UInt8]? {
      streams[location].map { stream in
        let memory = UnsafeMutableRawPointer(stream)
          .assumingMemoryBound(to: GMemoryOutputStream.self)
        #expect(g_output_stream_is_closed(stream) != 0, "\(location) was not closed")
        let size = Int(g_memory_output_stream_get_data_size(memory))
        return Array(
          UnsafeRawBufferPointer(start: g_memory_output_stream_get_data(memory), count: size))
      }
    }
  }

  /// What a handler of a signal knows.
  private final class Handler {
    let signal: String
    let store: Store

    init(_ signal: String, _ store: Store) {
      (self.signal, self.store) = (signal, store)
    }
  }

  private static let signals = [
    "get-init-stream", "get-fragment-stream", "get-playlist-stream",
    "get-multivariant-playlist-stream",
  ]

  private func connect(_ store: Store, to sink: Element?) throws {
    let sink = try #require(sink)
    for signal in Self.signals {
      let callback:
        @convention(c) (gpointer?, UnsafePointer<CChar>?, gpointer?) -> UnsafeMutablePointer<
          GOutputStream
        >? = { _, location, data in
          guard let location, let data else { return nil }
          let handler = Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue()
          return handler.store.stream(handler.signal, String(cString: location))
        }
      connect(signal, of: sink, unsafeBitCast(callback, to: GCallback.self), store)
    }
    let callback: @convention(c) (gpointer?, UnsafePointer<CChar>?, gpointer?) -> gboolean = {
      _, location, data in
      guard let location, let data else { return 0 }
      Unmanaged<Handler>.fromOpaque(data).takeUnretainedValue().store.removed
        .append(String(cString: location))
      return 1
    }
    connect("delete-fragment", of: sink, unsafeBitCast(callback, to: GCallback.self), store)
  }

  private func connect(
    _ signal: String, of sink: Element, _ callback: GCallback, _ store: Store
  ) {
    g_signal_connect_data(
      sink.pointer, signal, callback, Unmanaged.passRetained(Handler(signal, store)).toOpaque(),
      { data, _ in
        if let data { Unmanaged<Handler>.fromOpaque(data).release() }
      }, cgst_no_connect_flags())
  }

  private func line(_ properties: String, _ count: Int = 90) -> String {
    eyes(count, "width=256,height=128,framerate=30/1").replacing("mux.", with: "enc.")
      + "mvhevcenc name=enc speed-preset=ultrafast key-int-max=30 ! queue ! h.video_0 "
      + "mvhevchlssink name=h location=%s/segment%05d.m4s init-location=%s/init%05d.mp4 "
      + "playlist-location=%s/index.m3u8 multivariant-playlist-location=main.m3u8 "
      + "target-duration=1 \(properties)"
  }

  @Test(
    "an application receives all files, and both eyes play from them", .tags(.judge),
    Judge.isThere)
  func streams() async throws {
    let store = Store()
    let pipeline = try pipeline(line("playlist-type=vod"))
    try connect(store, to: pipeline.element(named: "h"))
    try await play(pipeline)
    #expect(Set(store.asked.map(\.signal)) == Set(Self.signals))
    for (signal, location) in store.asked {
      let isText = location.hasSuffix(".m3u8")
      #expect(isText == signal.contains("playlist"))
      #expect(location.contains("init") == (signal == "get-init-stream"))
    }
    for location in store.streams.keys {
      let url = folder.url.appending(path: location)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(store.bytes(location) ?? []).write(to: url)
    }
    try await Judge.expectEyes(
      folder.path("video_0/index.m3u8"), folder, count: 90, width: 128, height: 128)
    // Nothing was written beside it.
    #expect(!FileManager.default.fileExists(atPath: "video_0"))
    #expect(!FileManager.default.fileExists(atPath: "main.m3u8"))
  }

  @Test("the application removes segments that leave a live window")
  func removal() async throws {
    let store = Store()
    let pipeline = try pipeline(line("playlist-length=1", 360))
    try connect(store, to: pipeline.element(named: "h"))
    try await play(pipeline)
    #expect(store.removed.contains { $0.hasSuffix("segment00000.m4s") }, "\(store.removed)")
  }

  @Test("an application without a stream for a file is an error that names the file")
  func refused() async throws {
    let store = Store()
    store.refused = "segment00001"
    let pipeline = try pipeline(line("playlist-type=event"))
    try connect(store, to: pipeline.element(named: "h"))
    let error = try await failure(of: pipeline)
    #expect(error.message.contains("segment00001.m4s"), "\(error)")
    // What is listed is there.
    let list = String(decoding: store.bytes("video_0/index.m3u8") ?? [], as: UTF8.self)
    #expect(list.contains("segment00000.m4s") && !list.contains("segment00001.m4s"), "\(list)")
  }
}
