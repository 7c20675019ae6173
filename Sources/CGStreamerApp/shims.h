// SPDX-License-Identifier: MPL-2.0
// The two elements through which data leaves and enters pipelines. No logic.
#pragma once
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
