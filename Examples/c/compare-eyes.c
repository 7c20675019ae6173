// SPDX-License-Identifier: MPL-2.0

// Prints how bright each eye's picture is, for each frame of a spatial movie:
//
//   cc compare-eyes.c -o compare-eyes $(pkg-config --cflags --libs gstreamer-app-1.0 gstreamer-video-1.0)
//   compare-eyes movie.mov

#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdlib.h>

// Returns the mean of a picture's samples, from 0 to 255.
static double brightness(GstSample *sample) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    return 0;
  const guint8 *rows = GST_VIDEO_FRAME_PLANE_DATA(&frame, 0);
  const int width = GST_VIDEO_FRAME_WIDTH(&frame), height = GST_VIDEO_FRAME_HEIGHT(&frame);
  guint64 sum = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) sum += rows[y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + x];
  gst_video_frame_unmap(&frame);
  return (double)sum / width / height;
}

// Returns the next sample; NULL at the end. An error of any element ends the program.
static GstSample *pull(GstAppSink *sink, GstElement *pipeline) {
  for (;;) {
    GstSample *sample = gst_app_sink_try_pull_sample(sink, GST_SECOND / 10);
    if (sample) return sample;
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    gst_object_unref(bus);
    if (message) {
      GError *error = NULL;
      gst_message_parse_error(message, &error, NULL);
      g_printerr("error: %s\n", error->message);
      exit(1);
    }
    if (gst_app_sink_is_eos(sink)) return NULL;
  }
}

int main(int count, char **arguments) {
  gst_init(&count, &arguments);
  if (count != 2) {
    g_printerr("usage: %s MOVIE\n", arguments[0]);
    return 2;
  }
  // Each branch has a queue: one thread feeds both eyes.
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(
      "filesrc name=source ! mvhevcdemux name=demux demux.video_0 ! mvhevcdec name=eyes "
      "eyes.left ! queue ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=left sync=false "
      "eyes.right ! queue ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=right sync=false",
      &error);
  if (error) {
    g_printerr("error: %s\n", error->message);
    return 1;
  }
  gst_util_set_object_arg(
      G_OBJECT(gst_bin_get_by_name(GST_BIN(pipeline), "source")), "location", arguments[1]);
  GstAppSink *left = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipeline), "left"));
  GstAppSink *right = GST_APP_SINK(gst_bin_get_by_name(GST_BIN(pipeline), "right"));
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (;;) {
    GstSample *one = pull(left, pipeline), *other = pull(right, pipeline);
    if (!one || !other) break;
    const guint64 time = gst_segment_to_stream_time(
        gst_sample_get_segment(one), GST_FORMAT_TIME, GST_BUFFER_PTS(gst_sample_get_buffer(one)));
    g_print("%.3f s: %.1f %.1f\n", time / (double)GST_SECOND, brightness(one), brightness(other));
    gst_sample_unref(one);
    gst_sample_unref(other);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(left);
  gst_object_unref(right);
  gst_object_unref(pipeline);
  return 0;
}
