// SPDX-License-Identifier: MPL-2.0

extension X265Encoder {
  /// In dB, over all planes of all pictures so far; nil unless the parameters have `psnr` and
  /// `log-level=info`: x265 measures only what it also prints.
  package var psnr: Double? {
    withStatistics { stats, layout in
      stats[layout.globalPsnr] > 0 ? stats[layout.globalPsnr] : nil
    }
  }
}
