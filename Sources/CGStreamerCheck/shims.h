// SPDX-License-Identifier: MPL-2.0
#pragma once
#include <gst/check/gstharness.h>
