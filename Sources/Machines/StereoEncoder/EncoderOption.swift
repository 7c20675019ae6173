// SPDX-License-Identifier: MPL-2.0

/// One option of x265 as a person wrote it.
package struct EncoderOption: Equatable {
  let name: String
  /// Nil for a name alone, which switches something on.
  let value: String?

  /// The name as x265 matches it: `--`, `no-` and `no` before it are dropped, `_` is `-`.
  private var canonicalName: String {
    var name = String(self.name.map { $0 == "_" ? "-" : $0 })[...]
    if name.hasPrefix("--") { name = name.dropFirst(2) }
    if name.hasPrefix("no-") {
      name = name.dropFirst(3)
    } else if name.hasPrefix("no") {
      name = name.dropFirst(2)
    }
    return String(name)
  }

  /// Reads `name=value:name=value`, where a name may stand alone.
  ///
  /// Throws `refusedOption` for an option that two encoders in step cannot have.
  package static func list(_ text: String) throws(StereoEncoderError) -> [EncoderOption] {
    var options: [EncoderOption] = []
    for part in text.split(separator: ":") {
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = words.first, !name.isEmpty else {
        throw .unknownOption(name: String(part))
      }
      // A C string would end at a zero inside it.
      guard !part.utf8.contains(0) else {
        throw .optionValue(name: String(name.prefix { $0 != "\0" }), value: "text with a zero byte")
      }
      let option = EncoderOption(
        name: String(name), value: words.count > 1 ? String(words[1]) : nil)
      if let reason = refusal(of: option.canonicalName) {
        throw .refusedOption(name: option.name, reason: reason)
      }
      options.append(option)
    }
    return options
  }

  /// Throws `refusedOption` for an option with which a build of libx265 does not come to an end: where a
  /// picture has several slices, 4.1 (build 215) waits for itself for ever and 4.2 (build 216) crashes, in
  /// other programs, too.
  package static func check(_ options: [EncoderOption], build: Int32) throws(StereoEncoderError) {
    let reasons: [Int32: String] = [
      215: "libx265 4.1 hangs with several slices; 3.5 does not",
      216: "libx265 4.2 crashes with several slices; 3.5 does not",
    ]
    guard let reason = reasons[build] else { return }
    for option in options where option.canonicalName == "slices" && option.value != "1" {
      throw .refusedOption(name: option.name, reason: reason)
    }
  }

  /// Throws `refusedOption` for several slices in pictures so narrow that libx265 3.5 writes beyond its memory,
  /// which it does with at most two coding tree units in a row, and slices of more than one row.
  static func check(
    _ options: [EncoderOption], unitColumns: Int, unitRows: Int
  ) throws(StereoEncoderError) {
    guard unitColumns < 3 else { return }
    for option in options where option.canonicalName == "slices" {
      let slices = option.value.flatMap { Int($0) } ?? 2
      guard slices == 1 || slices >= unitRows else {
        throw .refusedOption(
          name: option.name,
          reason:
            "libx265 crashes with several slices in pictures as narrow as this; a smaller ctu helps"
        )
      }
    }
  }

  private static func refusal(of name: String) -> String? {
    refusals.first { $0.names.contains(name) }?.reason
  }

  private static let refusals: [(reason: String, names: Set<String>)] = [
    (
      "frame types would follow each eye's own content, and the eyes must have the same",
      [
        "b-adapt", "scenecut", "scenecut-bias", "hist-scenecut", "hist-threshold", "fades",
        "frame-dup", "dup-threshold", "gop-lookahead", "scenecut-aware-qp", "masking-strength",
        "scenecut-window", "max-qp-delta", "qp-delta-ref", "qp-delta-nonref",
      ]
    ),
    (
      "keyframes are placed on both eyes together; set the keyframe distance instead",
      ["keyint", "min-keyint", "intra-refresh", "radl", "idr-recovery-sei"]
    ),
    ("groups of pictures are closed, so that both eyes start afresh together", ["open-gop"]),
    (
      "the rate of both eyes together is set by the quality or the bitrate",
      ["bitrate", "crf", "qp", "vbv-maxrate", "vbv-bufsize"]
    ),
    (
      "the size, rate and format of the pictures come from the configuration",
      ["input-res", "input-csp", "fps", "interlace", "field", "total-frames"]
    ),
    (
      "it changes what weaving rewrites: the layout of NAL units and parameter sets",
      [
        "annexb", "repeat-headers", "aud", "hrd", "hrd-concat", "vui-hrd-info", "temporal-layers",
        "opt-qp-pps", "opt-ref-list-length-pps", "multi-pass-opt-rps", "single-sei", "uhd-bd",
        "log2-max-poc-lsb",
      ]
    ),
    (
      "it needs the whole video more than once",
      [
        "slow-firstpass", "multi-pass-opt-analysis",
        "multi-pass-opt-distortion", "vbv-live-multi-pass", "analysis-reuse-file",
        "analysis-reuse-mode", "analysis-reuse-level", "analysis-save", "analysis-load",
        "analysis-save-reuse-level", "analysis-load-reuse-level", "refine-analysis-type",
        "refine-intra", "refine-inter", "refine-mv", "refine-ctu-distortion",
        "refine-mv-type", "dynamic-refine", "scale-factor", "chunk-start", "chunk-end",
      ]
    ),
    (
      "both encoders would write, or need, the same file",
      ["csv", "csv-log-level", "nalu-file", "dhdr10-info"]
    ),
    ("it needs data beside the pictures", ["dolby-vision-profile", "ctu-info", "rc-stats"]),
    ("it changes all encoders of the process", ["asm", "lambda-file", "svt"]),
    ("pictures are lent to x265 only until it has copied them", ["copy-pic"]),
    (
      "the second layer is made by weaving",
      ["num-views", "multiview-config", "format", "alpha", "scc"]
    ),
    (
      "it has a setting of its own beside the option string", ["preset", "tune", "pass", "stats"]
    ),
    ("the profile follows from the bit depth", ["profile", "output-depth", "input-depth"]),
    ("pictures leave in order, none is dropped", ["force-flush"]),
  ]
}
