// SPDX-License-Identifier: MPL-2.0
#pragma once
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>

// An option set since GLib 2.90.
static inline GLogLevelFlags cgst_log_errors(void) { return G_LOG_LEVEL_ERROR; }
