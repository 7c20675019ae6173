// SPDX-License-Identifier: MPL-2.0

package import AVC
package import GStreamer

extension MVCDescription {
  /// The caps of the stream with length prefixes, with the records of both views in `codec_data`.
  package var caps: Caps {
    var fields: [(key: String, value: Value)] = [
      ("stream-format", "avc"), ("alignment", "au"),
      ("width", .int(Int32(clamping: width))), ("height", .int(Int32(clamping: height))),
      ("codec_data", .buffer(Buffer(records.block))),
    ]
    if let numerator = frameRateNumerator.flatMap(Int32.init(exactly:)),
      let denominator = frameRateDenominator.flatMap(Int32.init(exactly:))
    {
      fields.append(("framerate", .fraction(Fraction(numerator, denominator))))
    }
    return Caps("video/x-h264", fields)
  }
}
