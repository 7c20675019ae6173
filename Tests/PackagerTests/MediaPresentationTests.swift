// SPDX-License-Identifier: MPL-2.0

import Packager
import Testing

struct MediaPresentationTests {
  private var video: MediaPresentation.Representation {
    MediaPresentation.Representation(
      id: "video_0", content: .video(width: 640, height: 360, frameRate: FrameRate(30)),
      codecs: "hvc1.1.6.L63.90", bandwidth: 900_000, timescale: 30_000,
      initialization: "video_0/init00000.mp4", media: "video_0/segment$Number%05d$.m4s",
      startNumber: 0,
      segments: [0, 60_000, 120_000].map { .init(start: $0, duration: 60_000) }
        + [.init(start: 180_000, duration: 15_000)])
  }

  @Test("a finished presentation over the segments of the playlists")
  func onDemand() {
    var presentation = MediaPresentation(.onDemand, minimumBufferTime: 2_000_000_000)
    presentation.periods = [
      MediaPresentation.Period(
        0,
        [
          video,
          MediaPresentation.Representation(
            id: "audio \"&<", content: .audio(sampleRate: 48_000, channelCount: 2, language: "en"),
            codecs: "mp4a.40.2", bandwidth: 128_000, timescale: 48_000,
            initialization: "audio_0/init00000.mp4", media: "audio_0/segment$Number%05d$.m4s",
            startNumber: 0, segments: [.init(start: 0, duration: 96_256)]),
        ])
    ]
    #expect(
      presentation.text == """
        <?xml version="1.0" encoding="UTF-8"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:cmaf:2019,urn:mpeg:dash:profile:isoff-live:2011" minBufferTime="PT2.000S" type="static" mediaPresentationDuration="PT6.500S">
          <Period id="0" start="PT0S">
            <AdaptationSet id="0" contentType="video" mimeType="video/mp4" width="640" height="360" frameRate="30" segmentAlignment="true" startWithSAP="1">
              <Representation id="video_0" codecs="hvc1.1.6.L63.90" bandwidth="900000">
                <SegmentTemplate timescale="30000" startNumber="0" initialization="video_0/init00000.mp4" media="video_0/segment$Number%05d$.m4s">
                  <SegmentTimeline>
                    <S t="0" d="60000" r="2"/>
                    <S t="180000" d="15000"/>
                  </SegmentTimeline>
                </SegmentTemplate>
              </Representation>
            </AdaptationSet>
            <AdaptationSet id="1" contentType="audio" mimeType="audio/mp4" lang="en" segmentAlignment="true" startWithSAP="1">
              <Representation id="audio &quot;&amp;&lt;" codecs="mp4a.40.2" bandwidth="128000" audioSamplingRate="48000">
                <AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="2"/>
                <SegmentTemplate timescale="48000" startNumber="0" initialization="audio_0/init00000.mp4" media="audio_0/segment$Number%05d$.m4s">
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

  @Test("a live presentation has its start time and its update period")
  func live() {
    let live = MediaPresentation.Live(
      availabilityStartTime: 1_795_313_036_000_000_000, publishTime: 1_795_313_040_500_000_000,
      minimumUpdatePeriod: 2_000_000_000, timeShiftBufferDepth: 60_000_000_000)
    var presentation = MediaPresentation(.live(live), minimumBufferTime: 2_000_000_000)
    presentation.periods = [MediaPresentation.Period(0, [video])]
    let text = presentation.text
    #expect(
      text.contains(
        "type=\"dynamic\" availabilityStartTime=\"2026-11-22T02:03:56.000Z\" "
          + "publishTime=\"2026-11-22T02:04:00.500Z\" minimumUpdatePeriod=\"PT2.000S\" "
          + "timeShiftBufferDepth=\"PT60.000S\""))
    // Segments are listed, and served, when they are complete.
    #expect(!text.contains("availabilityTimeOffset"))
    #expect(!text.contains("mediaPresentationDuration"))
    #expect(text.contains("urn:mpeg:dash:utc:direct:2014"))
  }
}
