// SPDX-License-Identifier: LGPL-2.1-or-later

/// Who answers for the elements.
let author = "gst-spatial developers <gst-spatial@users.noreply.github.com>"
