// SPDX-License-Identifier: MPL-2.0

import Packager
import Testing

struct MultivariantPlaylistTests {
  private func variant(_ uri: String, _ bandwidth: UInt64, _ layout: RenditionLayout) -> Variant {
    var variant = Variant(
      uri, bandwidth: bandwidth, averageBandwidth: bandwidth - 100_000,
      codecs: "hvc1.1.6.L123.B0", width: 1920, height: 1080, layouts: [layout])
    variant.frameRate = FrameRate(30_000, 1001)
    return variant
  }

  private var playlist: MultivariantPlaylist {
    var playlist = MultivariantPlaylist()
    playlist.audio = [
      AudioRendition(
        "audio_0/index.m3u8", groupID: "aac", name: "English", language: "en", isDefault: true,
        channelCount: 2, codecs: "mp4a.40.2", bandwidth: 130_000, averageBandwidth: 128_000)
    ]
    let mono = variant("video_0_mono/index.m3u8", 5_000_000, RenditionLayout(isStereo: false))
    playlist.variants = [
      variant("video_0/index.m3u8", 9_000_000, RenditionLayout(isStereo: true)), mono,
    ]
    playlist.iFrames = [
      mono.iFrames("video_0_mono/iframe.m3u8", bandwidth: 900_000, averageBandwidth: 700_000)
    ]
    return playlist
  }

  @Test("stereo first, for players that know layouts; the same without for those that do not")
  func layouts() throws {
    #expect(
      playlist.text == """
        #EXTM3U
        #EXT-X-VERSION:12
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="audio_0/index.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=9130000,AVERAGE-BANDWIDTH=9028000,CODECS="hvc1.1.6.L123.B0,mp4a.40.2",RESOLUTION=1920x1080,FRAME-RATE=29.970,VIDEO-RANGE=SDR,REQ-VIDEO-LAYOUT="CH-STEREO",AUDIO="aac",CLOSED-CAPTIONS=NONE
        video_0/index.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=5130000,AVERAGE-BANDWIDTH=5028000,CODECS="hvc1.1.6.L123.B0,mp4a.40.2",RESOLUTION=1920x1080,FRAME-RATE=29.970,VIDEO-RANGE=SDR,AUDIO="aac",CLOSED-CAPTIONS=NONE
        video_0_mono/index.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=130000,AVERAGE-BANDWIDTH=128000,CODECS="mp4a.40.2",AUDIO="aac"
        audio_0/index.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=900000,AVERAGE-BANDWIDTH=700000,CODECS="hvc1.1.6.L123.B0",RESOLUTION=1920x1080,VIDEO-RANGE=SDR,URI="video_0_mono/iframe.m3u8"

        """)
    let flat = try #require(playlist.withoutLayouts)
    #expect(flat.text.contains("#EXT-X-VERSION:6\n") && !flat.text.contains("REQ-"))
    #expect(flat.variants.map(\.uri) == ["video_0_mono/index.m3u8"])
  }

  @Test("groups of audio have the same members: codings of all languages, or one group of all")
  func audioGroups() {
    func rendition(_ language: String, _ codecs: String, isDefault: Bool = false) -> AudioRendition
    {
      AudioRendition(
        "\(language)-\(codecs)", groupID: codecs, name: language, language: language,
        isDefault: isDefault, channelCount: 2, codecs: codecs, bandwidth: 100_000,
        averageBandwidth: 90_000)
    }
    func lines(_ audio: [AudioRendition], _ tag: String) -> [Substring] {
      var playlist = MultivariantPlaylist()
      playlist.variants = [variant("v", 5_000_000, RenditionLayout(isStereo: false))]
      playlist.audio = audio
      return playlist.text.split(separator: "\n").filter { $0.hasPrefix("#EXT-X-\(tag):") }
    }
    // Alternative codings of the same languages.
    let both = ["mp4a.40.2", "ac-3"].flatMap { codecs in
      [rendition("en", codecs, isDefault: true), rendition("de", codecs)]
    }
    #expect(lines(both, "STREAM-INF").count == 3)
    #expect(lines(both, "MEDIA").filter { $0.contains("DEFAULT=YES") }.count == 2)
    // Each language in a coding of its own.
    let mixed = [
      rendition("en", "mp4a.40.2", isDefault: true), rendition("fr", "Opus", isDefault: true),
      rendition("de", "ac-3"), rendition("en", "ac-3"),
    ]
    let streams = lines(mixed, "STREAM-INF")
    // The other is audio alone.
    #expect(streams.count == 2)
    #expect(streams[0].contains("CODECS=\"hvc1.1.6.L123.B0,mp4a.40.2,Opus,ac-3\""))
    #expect(streams[0].contains("AUDIO=\"audio\"") && streams[0].contains("BANDWIDTH=5100000"))
    let media = lines(mixed, "MEDIA")
    #expect(media.allSatisfy { $0.contains("GROUP-ID=\"audio\"") })
    #expect(media.filter { $0.contains("DEFAULT=YES") }.count == 1)
    #expect(media.map { $0.contains("NAME=\"en 2\"") } == [false, false, false, true])
    // Two of one language, of which one is the default in one coding only.
    let twice = ["mp4a.40.2", "ac-3"].flatMap { codecs in
      [rendition("en", codecs, isDefault: codecs == "mp4a.40.2"), rendition("en", codecs)]
    }
    let names = lines(twice, "MEDIA").map { line in
      [line.contains("NAME=\"en\""), line.contains("NAME=\"en 2\""), line.contains("DEFAULT=YES")]
    }
    #expect(
      names == [
        [true, false, true], [false, true, false], [true, false, true], [false, true, false],
      ])
  }

  @Test("audio alone is a variant: without pictures, players have nothing else")
  func audioOnly() {
    var playlist = MultivariantPlaylist()
    playlist.audio = self.playlist.audio
    let lines = playlist.text.split(separator: "\n")
    #expect(lines.suffix(2).first?.hasPrefix("#EXT-X-STREAM-INF:BANDWIDTH=130000,") == true)
    #expect(lines.last == "audio_0/index.m3u8")
    #expect(playlist.withoutLayouts == nil)
  }

  @Test("immersive pictures need their layout even for one eye, and no flat players' variant")
  func immersive() {
    var playlist = MultivariantPlaylist()
    for isStereo in [true, false] {
      playlist.variants.append(
        variant(
          "a", 1_000_000, RenditionLayout(isStereo: isStereo, projection: .halfEquirectangular)))
    }
    #expect(playlist.text.contains("REQ-VIDEO-LAYOUT=\"CH-STEREO/PROJ-HEQU\""))
    #expect(playlist.text.contains("REQ-VIDEO-LAYOUT=\"CH-MONO/PROJ-HEQU\""))
    #expect(playlist.withoutLayouts == nil)
  }

  @Test("the peak is that of consecutive segments of 0.5 to 1.5 target durations")
  func bitRate() {
    var rate = BitRate(targetDuration: 6)
    for (bytes, seconds) in [(6000, 6), (12_000, 6), (3000, 1), (6000, 6)] as [(UInt64, UInt64)] {
      rate.add(bytes: bytes, duration: seconds * 1_000_000_000)
    }
    // 15,000 bytes in 7 s, rather than 3000 in one.
    #expect(rate.peak == (15_000 * 8 + 6) / 7)
    #expect(rate.average == (27_000 * 8 + 18) / 19)
    var short = BitRate(targetDuration: 6)
    short.add(bytes: 100, duration: 1_000_000_000)
    #expect(short.peak == 800)
  }
}
