// SPDX-License-Identifier: MPL-2.0
// Macros, variadic functions and casts of GStreamer that Swift cannot import. No logic.
#pragma once
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/base/base.h>
#include <gst/gst.h>
#include <gst/pbutils/pbutils.h>
#include <gst/tag/tag.h>
#include <gst/video/video.h>
#include <gio/gio.h>

// GStreamer declares this function const, as if it did not read the text: a compiler may let go of the
// text before the call. Nothing is known of a function behind a volatile pointer.
static inline GstVideoFormat cgst_video_format_from_string(const char *name) {
  GstVideoFormat (*volatile function)(const gchar *) = gst_video_format_from_string;
  return function(name);
}

// GType constants are cast expressions.
static inline GType cgst_type_boolean(void) { return G_TYPE_BOOLEAN; }
static inline GType cgst_type_int(void) { return G_TYPE_INT; }
static inline GType cgst_type_uint(void) { return G_TYPE_UINT; }
static inline GType cgst_type_int64(void) { return G_TYPE_INT64; }
static inline GType cgst_type_uint64(void) { return G_TYPE_UINT64; }
static inline GType cgst_type_double(void) { return G_TYPE_DOUBLE; }
static inline GType cgst_type_string(void) { return G_TYPE_STRING; }
static inline GType cgst_type_enum(void) { return G_TYPE_ENUM; }
static inline GType cgst_type_flags(void) { return G_TYPE_FLAGS; }
static inline GType cgst_type_none(void) { return G_TYPE_NONE; }
static inline GType cgst_type_float(void) { return G_TYPE_FLOAT; }
static inline GType cgst_type_long(void) { return G_TYPE_LONG; }
static inline GType cgst_type_ulong(void) { return G_TYPE_ULONG; }
static inline GType cgst_type_of(gconstpointer instance) { return G_TYPE_FROM_INSTANCE(instance); }
static inline GType cgst_type_of_class(gconstpointer klass) { return G_TYPE_FROM_CLASS(klass); }
static inline gboolean cgst_is_a(gconstpointer instance, GType type) {
  return G_TYPE_CHECK_INSTANCE_TYPE(instance, type);
}

static inline gboolean cgst_value_holds(const GValue *value, GType type) {
  return G_VALUE_HOLDS(value, type);
}

static inline GstElementFactoryListType cgst_factory_type_video_decoder(void) {
  return GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO;
}

// GLib's flags are enumerations before 2.90 and option sets since; as numbers they are the same in both.

// Property flags.
static const guint cgst_param_readable = G_PARAM_READABLE;
static const guint cgst_param_writable = G_PARAM_WRITABLE;
static const guint cgst_param_construct_only = G_PARAM_CONSTRUCT_ONLY;
static const guint cgst_param_controllable = GST_PARAM_CONTROLLABLE;
static const guint cgst_param_mutable_ready = GST_PARAM_MUTABLE_READY;
static const guint cgst_param_mutable_paused = GST_PARAM_MUTABLE_PAUSED;
static const guint cgst_param_mutable_playing = GST_PARAM_MUTABLE_PLAYING;
static const guint cgst_param_static_strings = G_PARAM_STATIC_STRINGS;
static inline GParamFlags cgst_param_flags(guint flags) { return (GParamFlags)flags; }
static inline guint cgst_param_spec_flags(const GParamSpec *spec) { return (guint)spec->flags; }

static inline GSignalFlags cgst_signal_flags(gboolean is_action) {
  return is_action ? G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION : G_SIGNAL_RUN_LAST;
}
static inline gboolean cgst_signal_is_action(const GSignalQuery *query) {
  return (query->signal_flags & G_SIGNAL_ACTION) != 0;
}
static inline GTypeFlags cgst_no_type_flags(void) { return (GTypeFlags)0; }
static inline GConnectFlags cgst_no_connect_flags(void) { return (GConnectFlags)0; }

// Flags that are set through macros.
static inline void cgst_object_set_flag(gpointer object, guint flag) {
  GST_OBJECT_FLAG_SET(object, flag);
}
static inline void cgst_pad_set_proxy_allocation(GstPad *pad) { GST_PAD_SET_PROXY_ALLOCATION(pad); }

static inline void cgst_pad_stream_lock(GstPad *pad) { GST_PAD_STREAM_LOCK(pad); }
static inline gboolean cgst_pad_stream_trylock(GstPad *pad) { return GST_PAD_STREAM_TRYLOCK(pad); }
static inline void cgst_pad_stream_unlock(GstPad *pad) { GST_PAD_STREAM_UNLOCK(pad); }
static inline GstSegment *cgst_aggregator_src_segment(GstAggregator *aggregator) {
  return &GST_AGGREGATOR_PAD(aggregator->srcpad)->segment;
}

// Categories are compared with a threshold in a field.
static inline gboolean cgst_debug_enabled(GstDebugCategory *category, GstDebugLevel level) {
  return level <= GST_LEVEL_MAX && level <= _gst_debug_min &&
         level <= gst_debug_category_get_threshold(category);
}
