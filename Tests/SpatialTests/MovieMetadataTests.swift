// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// What a movie and its tracks say of themselves, through `mvhevcdemux` and `mvhevcmux`.
struct MovieMetadataTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }
  var copy: String { folder.path("copy.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  private static func key(_ name: String, _ value: String) -> MetadataItem {
    MetadataItem(key: "com.apple.quicktime.\(name)", value: .utf8(value))
  }

  /// What a phone says.
  private static let phone = MovieMetadata(
    creationTime: 1_705_186_923,
    items: [
      key("title", "Beach"), key("make", "Apple"), key("model", "iPhone 15 Pro"),
      key("software", "17.2"), key("creationdate", "2024-01-13T15:02:03-0800"),
      key("location.ISO6709", "+37.3349-122.0090+021.000/"),
      key("location.accuracy.horizontal", "14.235"),
      key("content.identifier", "A0B1-C2"),
      MetadataItem(
        key: "com.apple.quicktime.live-photo.auto",
        value: MetadataValue(typeIndicator: 22, bytes: [1])),
      key("spatial.format-version", "1.0"),
      MetadataItem(key: "com.apple.quicktime.spatial.aggressors-seen", value: .integer(5)),
    ],
    userData: [
      OpaqueBox("\u{A9}inf", payload: [0, 2, 0, 0, 65, 66]),
      OpaqueBox("GPMF", payload: Array(0...255)),
    ])

  private static func describe(_ track: inout TrackDescription) {
    track.orientation = PictureOrientation(clockwiseRotation: 90) ?? .upright
    (track.language, track.languageTag) = ("deu", "de-AT")
    track.metadata = [key("camera.lens_model", "back camera 2.69mm f/1.78")]
    track.userData = [
      OpaqueBox("name", payload: Array("Main".utf8)), OpaqueBox("mark", payload: [1, 2]),
    ]
  }

  private func make(
    _ metadata: MovieMetadata = phone, container: MovieContainer = .quickTime,
    track: (inout TrackDescription) -> Void = describe
  ) async throws {
    let plain = folder.path("plain.mov")
    try await OwnMovie.make(plain, frames: 4)
    try MovieFile(plain).rebuildVideo(
      at: path, container: container, metadata: metadata, track: track)
  }

  private func remux(container: MovieContainer = .quickTime) async throws {
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
        + "mvhevcmux name=m container=\(container == .mp4 ? "mp4" : "mov") ! "
        + "filesink location=\(copy)")
  }

  private func sorted(_ items: [MetadataItem]) -> [MetadataItem] {
    items.sorted { ($0.key, "\($0.value)") < ($1.key, "\($1.value)") }
  }

  @Test("all metadata of a movie and its track is kept", arguments: MovieContainer.allCases)
  func everything(container: MovieContainer) async throws {
    try await make(container: container)
    try await remux(container: container)
    let (old, new) = (try MovieFile(path), try MovieFile(copy))
    #expect(sorted(new.movie.metadata) == sorted(old.movie.metadata))
    #expect(new.movie.metadata.count == old.movie.metadata.count)
    #expect(
      new.movie.userData.filter { $0.type != "meta" }
        == old.movie.userData.filter { $0.type != "meta" })
    #expect(new.movie.creationTime == old.movie.creationTime)
    let tracks = (try old.video(), try new.video())
    #expect(tracks.1.metadata == tracks.0.metadata)
    #expect(
      tracks.1.userData.sorted { "\($0.type)" < "\($1.type)" }
        == tracks.0.userData.sorted { "\($0.type)" < "\($1.type)" })
    #expect(tracks.1.language == "de-AT")
    #expect(tracks.1.matrix == tracks.0.matrix)
    #expect(tracks.1.size == tracks.0.size)
    #expect(tracks.1.creationTime == tracks.0.creationTime)
  }

  @Test("metadata that GStreamer has tags for is output as tags")
  func tags() async throws {
    try await make()
    let pipeline = try pipeline(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! fakesink name=sink")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    try await play(pipeline)
    let lists = tap.events.compactMap(\.tags)
    let movie = try #require(lists.first { $0.isGlobal })
    #expect(movie.string(GST_TAG_DEVICE_MANUFACTURER) == "Apple")
    #expect(movie.string(GST_TAG_DEVICE_MODEL) == "iPhone 15 Pro")
    #expect(movie.double(GST_TAG_GEO_LOCATION_LATITUDE) == 37.3349)
    #expect(movie.double(GST_TAG_GEO_LOCATION_LONGITUDE) == -122.009)
    #expect(movie.double(GST_TAG_GEO_LOCATION_ELEVATION) == 21)
    #expect(movie.double(GST_TAG_GEO_LOCATION_HORIZONTAL_ERROR) == 14.235)
    #expect(movie.dateTime(GST_TAG_DATE_TIME)?.secondsSince1970 == 1_705_186_923)
    let stream = try #require(lists.first { !$0.isGlobal })
    #expect(stream.string(GST_TAG_IMAGE_ORIENTATION) == "rotate-90")
    #expect(stream.string(GST_TAG_TITLE) == "Main")
  }

  @Test(
    "FFmpeg finds place, date and camera of a movie that was remade from its eyes",
    .tags(.judge),
    Python.hasAVTrait)
  func wovenEyes() async throws {
    try await make()
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.left ! queue ! m.left "
        + "d.right ! queue ! m.right mvhevcmux name=m ! filesink location=\(copy)")
    let new = try MovieFile(copy)
    #expect(sorted(new.movie.metadata) == sorted(try MovieFile(path).movie.metadata))
    #expect(try new.video().matrix == MovieFile(path).video().matrix)
    let script = """
      import sys, av
      with av.open(sys.argv[1]) as movie:
          known = movie.metadata
          print(known.get("com.apple.quicktime.location.ISO6709"))
          print(known.get("com.apple.quicktime.creationdate"))
          print(known.get("com.apple.quicktime.model"))
          print(next(movie.decode(video=0)).rotation)
      """
    let found = try Python.lines(["-c", script, copy]).suffix(4)
    #expect(
      Array(found) == [
        "+37.3349-122.0090+021.000/", "2024-01-13T15:02:03-0800", "iPhone 15 Pro", "-90",
      ])
  }

  @Test("a movie with its place in user data, and its date in its header, keeps both")
  func userData() async throws {
    let place = Array("+48.8577+002.2950/".utf8)
    let metadata = MovieMetadata(
      creationTime: 1_600_000_000,
      userData: [OpaqueBox("\u{A9}xyz", payload: [0, UInt8(place.count), 0x15, 0xC7] + place)])
    try await make(metadata) { _ in }
    try await remux()
    let new = try MovieFile(copy).movie
    #expect(new.creationTime == 1_600_000_000 + 2_082_844_800)
    #expect(new.userData.isEmpty)
    let location = new.metadata.first { $0.key == "com.apple.quicktime.location.ISO6709" }
    #expect(location?.value.string == "+48.8577+002.2950/")
  }

  @Test("a date and a place in unknown formats stay as they are")
  func nonsense() async throws {
    for date in [
      "yesterday", "0000", "2024-13-01", "2024-02-30", "2024-01-01T25:00:00Z", "2024-01-01T",
      "2024-01-01T10:00:00+99:00", "2024-01-01T10:00:00+14:59", "2024-01-01T10", "20240101",
      "2024-01-01T10:00:00-12:30",
    ] {
      let items = [Self.key("creationdate", date), Self.key("location.ISO6709", "somewhere")]
      try await make(MovieMetadata(items: items)) { _ in }
      try await remux()
      let found = try MovieFile(copy).movie.metadata
      #expect(found.filter { $0.key == items[0].key } == [items[0]], "\(date)")
      #expect(found.filter { $0.key == items[1].key } == [items[1]])
    }
  }

  @Test("metadata from the application or an element wins over the movie's")
  func corrected() async throws {
    try await make()
    let pipeline = try pipeline(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! "
        + "taginject tags=\"title=Track,image-orientation=rotate-180\" ! m.video_0 "
        + "mvhevcmux name=m ! filesink location=\(copy)")
    let tags = TagList()
    tags.set(GST_TAG_TITLE, "Sea")
    tags.set(GST_TAG_GEO_LOCATION_LATITUDE, .double(1))
    tags.set(GST_TAG_DEVICE_MODEL, "Other")
    let mux = try #require(pipeline.element(named: "m"))
    gst_tag_setter_merge_tags(OpaquePointer(mux.pointer), tags.pointer, GST_TAG_MERGE_REPLACE)
    try await play(pipeline)
    let new = try MovieFile(copy)
    let texts = Dictionary(
      new.movie.metadata.map { ($0.key, $0.value.string) }, uniquingKeysWith: { first, _ in first })
    #expect(texts["com.apple.quicktime.title"] == "Sea")
    #expect(texts["com.apple.quicktime.model"] == "Other")
    #expect(texts["com.apple.quicktime.make"] == "Apple")
    #expect(texts["com.apple.quicktime.location.ISO6709"] == "+01.0000-122.0090+021.000/")
    #expect(try new.video().matrix.orientation?.clockwiseRotation == 180)
    #expect(
      try new.video().userData.contains(OpaqueBox("name", payload: Array("Track".utf8))))
  }

  @Test(
    "every orientation goes into a movie and comes out of it",
    arguments: [0, 90, 180, 270].flatMap { ["rotate-\($0)", "flip-rotate-\($0)"] })
  func orientation(tag: String) async throws {
    try await play(
      eyes(2, "width=128,height=64").replacing(
        "sbssplit", with: "taginject tags=image-orientation=\(tag) ! sbssplit")
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)")
    let pipeline = try pipeline(
      "filesrc location=\(path) ! mvhevcdemux name=d d.right ! fakesink name=sink")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    try await play(pipeline)
    let tags = tap.events.compactMap(\.tags).compactMap { $0.string(GST_TAG_IMAGE_ORIENTATION) }
    #expect(tags == (tag == "rotate-0" ? [] : [tag]))
  }

  @Test("a movie without stereo views is not called spatial")
  func plain() async throws {
    try await play(
      "videotestsrc num-buffers=3 ! video/x-raw,width=128,height=64 ! x265enc ! m.video_0 "
        + "mvhevcmux name=m ! filesink location=\(path)")
    let metadata = try MovieFile(path).movie.metadata
    #expect(metadata.map(\.key) == ["com.apple.quicktime.software"])
    #expect(metadata.first?.value.string == "gst-spatial")
  }
}
