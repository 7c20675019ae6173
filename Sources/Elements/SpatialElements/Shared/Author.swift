// SPDX-License-Identifier: MPL-2.0

/// Who answers for the elements.
let author = "gst-spatial developers <gst-spatial@users.noreply.github.com>"
