// SPDX-License-Identifier: MPL-2.0
// Twelve hours of small coded samples, thirty a second, through mvhevcmux as fast as it takes them:
//   long_recording PROPERTIES LOCATION
// Says how much memory the process has after the first tenth and at the end, in KiB.
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <stdio.h>
#include <unistd.h>

enum { RATE = 30, COUNT = 12 * 3600 * RATE, KEYFRAME_DISTANCE = 30 };

static long resident(void) {
  long size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%ld %ld", &size, &pages) != 2) pages = 0;
  if (file) fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  gst_init(NULL, NULL);
  gchar *line = g_strdup_printf(
      "appsrc name=src format=time block=true max-bytes=100000 caps=video/x-h265,stream-format=hvc1,"
      "alignment=au,width=128,height=64,framerate=%d/1,"
      "codec_data=(buffer)0101600000009000000000003cf000fcfdf8f800000f00 ! mux.video_0 "
      "mvhevcmux name=mux %s ! filesink location=%s",
      RATE, arguments[1], arguments[2]);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  if (error) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  GstAppSrc *source = GST_APP_SRC(gst_bin_get_by_name(GST_BIN(pipeline), "src"));
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GRand *random = g_rand_new_with_seed(1);
  long first = 0;
  for (guint64 index = 0; index < COUNT; index++) {
    // Sizes that vary, as those of real samples do.
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, g_rand_int_range(random, 60, 140), NULL);
    GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) = index * GST_SECOND / RATE;
    GST_BUFFER_DURATION(buffer) = (index + 1) * GST_SECOND / RATE - GST_BUFFER_PTS(buffer);
    if (index % KEYFRAME_DISTANCE) GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    if (gst_app_src_push_buffer(source, buffer) != GST_FLOW_OK) return 1;
    if (index == COUNT / 10) first = resident();
  }
  long last = resident();
  gst_app_src_end_of_stream(source);
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gboolean ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  printf("%ld %ld %.2f\n", first, last, (last - first) * 1024.0 / (COUNT * 0.9));
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return ended ? 0 : 1;
}
