// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Packager
import StereoVideo
import Testing

typealias Representation = MediaPresentation.Representation

/// A video rendition of three segments of 2 s and one of 0.5 s.
func representation(
  _ id: String, stereo: Bool, _ width: Int = 640, _ height: Int = 360, bandwidth: UInt64 = 900_000,
  _ adjust: (inout MediaPresentation.Video) -> Void = { _ in }
) -> Representation {
  var video = MediaPresentation.Video(
    width: width, height: height, frameRate: FrameRate(30),
    layout: RenditionLayout(isStereo: stereo))
  adjust(&video)
  return Representation(
    id: id, content: .video(video), codecs: "hvc1.1.6.L63.90", bandwidth: bandwidth,
    timescale: 30_000, initialization: "\(id)/init00000.mp4",
    media: "\(id)/segment$Number%05d$.m4s", startNumber: 0,
    segments: [0, 60_000, 120_000].map { .init(start: $0, duration: 60_000) }
      + [.init(start: 180_000, duration: 15_000)])
}

func representation(
  _ id: String, language: String? = "en", title: String? = nil, isDefault: Bool = false,
  channels: Int = 2, codecs: String = "mp4a.40.2"
) -> Representation {
  Representation(
    id: id,
    content: .audio(
      .init(
        sampleRate: 48_000, channelCount: channels, language: language, title: title,
        isDefault: isDefault)),
    codecs: codecs, bandwidth: 128_000, timescale: 48_000, initialization: "\(id)/init00000.mp4",
    media: "\(id)/segment$Number%05d$.m4s", startNumber: 0,
    segments: [.init(start: 0, duration: 96_256)])
}

func finished(_ periods: MediaPresentation.Period...) -> String {
  var presentation = MediaPresentation(.onDemand, minimumBufferTime: 2_000_000_000)
  presentation.periods = periods
  return presentation.text
}

/// A manifest of one period.
func manifest(_ representations: Representation...) -> String { manifest(of: representations) }

func manifest(of representations: [Representation]) -> String {
  finished(MediaPresentation.Period(0, representations))
}

/// The adaptation sets of a manifest: each is the IDs of its representations, and its text.
func adaptationSets(of manifest: String) -> [(ids: [String], text: String)] {
  manifest.split(separator: "<AdaptationSet ").dropFirst().map { text in
    (text.matches(of: /<Representation id="([^"]*)"/).map { String($0.1) }, String(text))
  }
}

struct MediaPresentationTests {
  @Test("a finished presentation: a set of both eyes, one of one eye, and one of audio")
  func onDemand() {
    let text = manifest(
      representation("video_0", stereo: true),
      representation("video_0_mono", stereo: false, bandwidth: 500_000),
      representation("video_1", stereo: true, 320, 180, bandwidth: 300_000),
      representation("audio \"&<", title: "Main & \"more\"", isDefault: true))
    #expect(
      text == """
        <?xml version="1.0" encoding="UTF-8"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:cmaf:2019,urn:mpeg:dash:profile:isoff-live:2011" minBufferTime="PT2.000S" type="static" mediaPresentationDuration="PT6.500S">
          <Period id="0" start="PT0S">
            <AdaptationSet id="0" contentType="video" mimeType="video/mp4" maxWidth="640" maxHeight="360" frameRate="30" par="16:9" segmentAlignment="true" startWithSAP="1">
              <EssentialProperty schemeIdUri="urn:mpeg:dash:stereoid:2011" value="l0 r0"/>
              <Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>
              <Representation id="video_0" codecs="hvc1.1.6.L63.90" bandwidth="900000" width="640" height="360" sar="1:1">
                <SegmentTemplate timescale="30000" startNumber="0" initialization="video_0/init00000.mp4" media="video_0/segment$Number%05d$.m4s">
                  <SegmentTimeline>
                    <S t="0" d="60000" r="2"/>
                    <S t="180000" d="15000"/>
                  </SegmentTimeline>
                </SegmentTemplate>
              </Representation>
              <Representation id="video_1" codecs="hvc1.1.6.L63.90" bandwidth="300000" width="320" height="180" sar="1:1">
                <SegmentTemplate timescale="30000" startNumber="0" initialization="video_1/init00000.mp4" media="video_1/segment$Number%05d$.m4s">
                  <SegmentTimeline>
                    <S t="0" d="60000" r="2"/>
                    <S t="180000" d="15000"/>
                  </SegmentTimeline>
                </SegmentTemplate>
              </Representation>
            </AdaptationSet>
            <AdaptationSet id="1" contentType="video" mimeType="video/mp4" width="640" height="360" frameRate="30" par="16:9" segmentAlignment="true" startWithSAP="1">
              <Role schemeIdUri="urn:mpeg:dash:role:2011" value="alternate"/>
              <Representation id="video_0_mono" codecs="hvc1.1.6.L63.90" bandwidth="500000" sar="1:1">
                <SegmentTemplate timescale="30000" startNumber="0" initialization="video_0_mono/init00000.mp4" media="video_0_mono/segment$Number%05d$.m4s">
                  <SegmentTimeline>
                    <S t="0" d="60000" r="2"/>
                    <S t="180000" d="15000"/>
                  </SegmentTimeline>
                </SegmentTemplate>
              </Representation>
            </AdaptationSet>
            <AdaptationSet id="2" contentType="audio" mimeType="audio/mp4" lang="en" audioSamplingRate="48000" segmentAlignment="true" startWithSAP="1">
              <AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="2"/>
              <Label>Main &amp; &quot;more&quot;</Label>
              <Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>
              <Representation id="audio &quot;&amp;&lt;" codecs="mp4a.40.2" bandwidth="128000">
                <SegmentTemplate timescale="48000" startNumber="0" initialization="audio &quot;&amp;&lt;/init00000.mp4" media="audio &quot;&amp;&lt;/segment$Number%05d$.m4s">
                  <SegmentTimeline>
                    <S t="0" d="96256"/>
                  </SegmentTimeline>
                </SegmentTemplate>
              </Representation>
            </AdaptationSet>
          </Period>
        </MPD>

        """)
  }

  @Test("a live presentation promises no segment before its end, and a delay of three segments")
  func live() {
    var live = MediaPresentation.Live(
      availabilityStartTime: 1_795_313_036_000_000_000, publishTime: 1_795_313_040_500_000_000,
      minimumUpdatePeriod: 2_000_000_000, delay: 6_000_000_000, clock: "all.mpd")
    live.timeShiftBufferDepth = 60_000_000_000
    var presentation = MediaPresentation(.live(live), minimumBufferTime: 2_000_000_000)
    presentation.periods = [MediaPresentation.Period(0, [representation("v", stereo: false)])]
    let text = presentation.text
    #expect(
      text.contains(
        "type=\"dynamic\" availabilityStartTime=\"2026-11-22T02:03:56.000Z\" "
          + "publishTime=\"2026-11-22T02:04:00.500Z\" minimumUpdatePeriod=\"PT2.000S\" "
          + "timeShiftBufferDepth=\"PT60.000S\" suggestedPresentationDelay=\"PT6.000S\""))
    #expect(
      text.contains(
        """
          <ServiceDescription id="0">
            <Latency min="4000" target="6000"/>
          </ServiceDescription>
          <Period id="0" start="PT0S">
        """))
    #expect(!text.contains("availabilityTime") && !text.contains("mediaPresentationDuration"))
    // The time in the file would be as old as the file.
    #expect(
      text.hasSuffix(
        """
          <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-head:2014" value="all.mpd"/>
        </MPD>

        """))
  }

  @Test("a finished presentation begins with its first sample, whatever its media time")
  func start() {
    let late = { (id: String, start: UInt64) in
      var representation = representation(id, stereo: false)
      representation.segments = [.init(start: start, duration: 60_000)]
      return representation
    }
    // 12.5 s, 12.6 s; 14.5 s.
    let text = finished(
      .init(12_500_000_000, [late("v", 375_000), late("w", 378_000)]),
      .init(14_500_000_000, [late("v", 435_000)]))
    #expect(text.contains("mediaPresentationDuration=\"PT4.000S\""))
    #expect(text.contains("<Period id=\"12500\" start=\"PT0S\">"))
    #expect(text.contains("<Period id=\"14500\" start=\"PT2.000S\">"))
    let offsets = text.matches(of: /presentationTimeOffset="(\d+)"/).map { $0.1 }
    #expect(offsets == ["375000", "375000", "435000"])
    // Players of a live one count from its start.
    var live = MediaPresentation(
      .live(
        .init(
          availabilityStartTime: 0, publishTime: 0, minimumUpdatePeriod: 1, delay: 3, clock: "m")),
      minimumBufferTime: 1)
    live.periods = [.init(12_500_000_000, [late("v", 375_000)])]
    #expect(live.text.contains("<Period id=\"12500\" start=\"PT12.500S\">"))
    #expect(live.text.contains("presentationTimeOffset=\"375000\""))
  }

  @Test("sets keep their numbers while some have no segments")
  func numbers() {
    var silent = representation("v", stereo: true)
    silent.segments = []
    let before = adaptationSets(
      of: manifest(silent, representation("m", stereo: false), representation("a")))
    #expect(before.map(\.ids) == [["m"], ["a"]])
    #expect(before.map { $0.text.prefix(6) } == ["id=\"1\"", "id=\"2\""])
    #expect(before[0].text.contains("value=\"main\""))
  }

  @Test("times and names at the ends of their types do no harm")
  func extremes() {
    var video = representation("v", stereo: false, .max, .min, bandwidth: .max) {
      $0.frameRate = FrameRate(.max, 0)
      $0.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 0, verticalSpacing: .max)
    }
    video.timescale = 0
    video.segments = [.init(start: .max, duration: .max), .init(start: 1, duration: .max)]
    let title = "\u{0}\u{1b}[31m\u{ffff}<!--"
    let text = finished(
      .init(.max, [video, representation("a", language: "en us", title: title)]),
      .init(0, [video]))
    #expect(text.contains("bandwidth=\"4294967295\"") && !text.contains("lang="))
    #expect(text.contains("<Label>  [31m &lt;!--</Label>"))
    #expect(!text.contains("frameRate") && !text.contains("par="))
    let live = MediaPresentation.Live(
      availabilityStartTime: .min, publishTime: .max, minimumUpdatePeriod: .max, delay: .max,
      clock: "\n")
    #expect(MediaPresentation(.live(live), minimumBufferTime: .max).text.contains("dynamic"))
  }
}
