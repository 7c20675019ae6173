// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <gst/check/gstharness.h>
