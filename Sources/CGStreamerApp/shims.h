// SPDX-License-Identifier: LGPL-2.1-or-later
// The two elements through which data leaves and enters pipelines. No logic.
#pragma once
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
