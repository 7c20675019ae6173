/* SPDX-License-Identifier: MPL-2.0 */
// SPDX-License-Identifier: MPL-2.0
// `cviewmarker`: an element in C that adds the meta which `stereotagger eye=left` adds, for a comparison
// of what both cost.

#include <gst/base/gstbasetransform.h>

#define META "CViewMarkerMeta"

typedef GstBaseTransform CViewMarker;
typedef GstBaseTransformClass CViewMarkerClass;

G_DEFINE_TYPE(CViewMarker, c_view_marker, GST_TYPE_BASE_TRANSFORM)

static GstFlowReturn mark(GstBaseTransform *self, GstBuffer *buffer) {
  (void)self;
  GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, META);
  gst_structure_set(gst_custom_meta_get_structure(meta), "eye", G_TYPE_STRING, "left", NULL);
  return GST_FLOW_OK;
}

static void c_view_marker_init(CViewMarker *self) { (void)self; }

static void c_view_marker_class_init(CViewMarkerClass *klass) {
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate src =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &sink);
  gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &src);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "View marker", "Filter",
                                        "Says which eye buffers show", "gst-spatial");
  klass->transform_ip = mark;
}

static gboolean plugin_init(GstPlugin *plugin) {
  static const gchar *tags[] = {NULL};
  gst_meta_register_custom(META, tags, NULL, NULL, NULL);
  return gst_element_register(plugin, "cviewmarker", GST_RANK_NONE, c_view_marker_get_type());
}

#define PACKAGE "gst-spatial"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, viewmarker, "For a comparison", plugin_init,
                  "1", "MPL", "gst-spatial", "https://gstreamer.freedesktop.org")
