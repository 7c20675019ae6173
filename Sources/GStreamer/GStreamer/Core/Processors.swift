// SPDX-License-Identifier: MPL-2.0

import CGStreamer

/// The processors that this process may use.
public enum Processors {
  /// How many there are, at least 1.
  public static var count: Int { max(1, Int(g_get_num_processors())) }
}
