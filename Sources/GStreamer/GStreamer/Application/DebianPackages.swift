// SPDX-License-Identifier: MPL-2.0

/// The Debian packages of elements that are commonly used in pipeline files (Debian 12).
package enum DebianPackages {
  package static func package(providing element: String) -> String? {
    if let package = elements.first(where: { $0.names.contains(Substring(element)) })?.package {
      return package
    }
    return element.hasPrefix("av") && element.dropFirst(2).first.map { "dem".contains($0) } == true
      ? "gstreamer1.0-libav" : nil
  }

  private static let elements: [(package: String, names: Set<Substring>)] = [
    (
      "libgstreamer1.0-0",
      words(
        "capsfilter concat dataurisrc downloadbuffer fakesink fakesrc fdsink fdsrc filesink filesrc"
          + " funnel identity input-selector multiqueue output-selector queue queue2 streamiddemux"
          + " tee typefind valve")
    ),
    (
      "gstreamer1.0-plugins-base",
      words(
        "adder appsink appsrc audioconvert audiomixer audiorate audioresample audiotestsrc"
          + " compositor decodebin decodebin3 encodebin oggdemux oggmux opusdec opusenc"
          + " overlaycomposition parsebin playbin playbin3 subparse tcpclientsink tcpclientsrc"
          + " tcpserversink tcpserversrc textoverlay theoradec theoraenc timeoverlay uridecodebin"
          + " urisourcebin videoconvert videoconvertscale videorate videoscale videotestsrc volume"
          + " vorbisdec vorbisenc")
    ),
    ("gstreamer1.0-alsa", words("alsasink alsasrc")),
    ("gstreamer1.0-x", words("ximagesink xvimagesink")),
    (
      "gstreamer1.0-gl",
      words(
        "glcolorconvert gldownload glimagesink glstereomix glstereosplit glupload glvideomixer"
          + " glviewconvert")
    ),
    (
      "gstreamer1.0-plugins-good",
      words(
        "aacparse ac3parse alpha aspectratiocrop autoaudiosink autovideosink avidemux avimux"
          + " deinterlace flacdec flacenc flacparse flvdemux flvmux imagefreeze interleave"
          + " jpegdec jpegenc matroskademux matroskamux mp4mux multifilesink multifilesrc"
          + " mpegaudioparse multipartdemux multipartmux pngdec pngenc qtdemux qtmux rtpbin"
          + " rtph264depay rtph264pay rtph265depay rtph265pay rtspsrc souphttpsrc splitfilesrc"
          + " splitmuxsink splitmuxsrc udpsink udpsrc v4l2sink v4l2src videobox videocrop"
          + " videoflip vp8dec vp8enc vp9dec vp9enc wavenc wavparse webmmux y4menc")
    ),
    ("gstreamer1.0-pulseaudio", words("pulsesink pulsesrc")),
    ("gstreamer1.0-gtk3", words("gtkglsink gtksink")),
    ("gstreamer1.0-qt5", words("qmlglsink")),
    (
      "gstreamer1.0-plugins-bad",
      words(
        "av1enc av1parse audiobuffersplit cc708overlay decklinkvideosink decklinkvideosrc"
          + " errorignore faad fdkaacenc h263parse h264parse h265parse hlsdemux hlssink"
          + " hlssink2 interlace jpegparse kmssink mpegpsmux mpegtsmux mpegvideoparse"
          + " mxfdemux mxfmux nvh264dec nvh264enc nvh265dec nvh265enc openjpegdec openjpegenc"
          + " pngparse rtmpsink rtmpsrc srtsink srtsrc svtav1enc svthevcenc tsdemux tsparse"
          + " vah264dec vah265dec vah265enc videoparsers voaacenc waylandsink webrtcbin x265enc"
          + " y4mdec")
    ),
    ("gstreamer1.0-vaapi", words("vaapih264dec vaapih264enc vaapih265dec vaapih265enc vaapisink")),
    (
      "gstreamer1.0-plugins-ugly",
      words("a52dec asfdemux dvdreadsrc mpeg2dec x264enc")
    ),
    ("gstreamer1.0-nice", words("nicesink nicesrc")),
  ]

  private static func words(_ text: String) -> Set<Substring> { Set(text.split(separator: " ")) }
}
