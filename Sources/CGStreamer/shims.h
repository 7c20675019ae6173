// Macros, variadic functions and casts of GStreamer that Swift cannot import. No logic.
#pragma once
#include <gst/gst.h>
#include <gst/base/base.h>
#include <gst/video/video.h>
#include <gst/pbutils/pbutils.h>
