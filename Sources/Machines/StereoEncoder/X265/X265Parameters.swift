// SPDX-License-Identifier: MPL-2.0

/// An `x265_param`, with the values of a preset to begin with.
package final class X265Parameters {
  let library: X265Library
  let pointer: UnsafeMutableRawPointer

  /// Throws where x265 has no such preset or tune, or there is no memory.
  package init(_ library: X265Library, preset: String, tune: String?) throws(StereoEncoderError) {
    guard let pointer = library.functions.param_alloc() else {
      throw .library("libx265 has no memory for its parameters")
    }
    self.library = library
    self.pointer = pointer
    // It also takes the place of whatever was in the memory, which is freed with what it points at.
    guard library.functions.param_default_preset(pointer, preset, tune) == 0 else {
      throw .setting(
        name: "preset", reason: "x265 does not take \(preset) with tune \(tune ?? "none")")
    }
  }

  deinit {
    library.functions.param_free(pointer)
  }

  /// Sets an option as x265's command line does; a value of nil switches it on.
  package func parse(_ name: String, _ value: String?) throws(StereoEncoderError) {
    let badName: Int32 = -1
    let code = X265Library.making { library.functions.param_parse(pointer, name, value) }
    switch code {
    case 0: return
    case badName: throw .unknownOption(name: name)
    default: throw .optionValue(name: name, value: value ?? "true")
    }
  }

  /// A field, with x265.h's name for it.
  subscript<Value>(_ field: KeyPath<X265Layout.Parameters, Field<Value>>) -> Value {
    pointer[library.layout.parameters[keyPath: field]]
  }
}

extension X265Parameters {
  /// An option of x265, the field that it sets, and what it then holds.
  private struct Witness {
    let option: String
    let value: String
    let holds: (X265Parameters) -> Bool

    init<Value: Equatable & ExpressibleByIntegerLiteral>(
      _ option: String, _ value: String,
      _ fields: (KeyPath<X265Layout.Parameters, Field<Value>>, Value)...
    ) {
      self.option = option
      self.value = value
      holds = { parameters in fields.allSatisfy { parameters[$0.0] == $0.1 } }
    }
  }

  /// Sets every field that is used, and looks for it where the layout has it: a library of the same
  /// build and sizes may yet have been made from a changed x265.
  ///
  /// - Returns: the option whose field is somewhere else; nil where all are in their places.
  static func misplacedOption(in library: X265Library) throws(StereoEncoderError) -> String? {
    let switches: [(String, KeyPath<X265Layout.Parameters, Field<Int32>>)] = [
      ("b-pyramid", \.bBPyramid), ("open-gop", \.bOpenGOP), ("fades", \.bEnableFades),
      ("intra-refresh", \.bIntraRefresh), ("frame-dup", \.bEnableFrameDuplication),
      ("hist-scenecut", \.bHistBasedSceneCut),
    ]
    let witnesses =
      switches.flatMap { [Witness($0.0, "1", ($0.1, 1)), Witness($0.0, "0", ($0.1, 0))] } + [
        Witness("input-res", "1234x566", (\.sourceWidth, 1234), (\.sourceHeight, 566)),
        Witness("fps", "24000/1001", (\.fpsNum, 24000), (\.fpsDenom, 1001)),
        Witness("frame-threads", "5", (\.frameNumThreads, 5)),
        Witness("bframes", "7", (\.bframes, 7)),
        Witness("b-adapt", "1", (\.bFrameAdaptive, 1)),
        Witness("rc-lookahead", "37", (\.lookaheadDepth, 37)),
        Witness("scenecut", "41", (\.scenecutThreshold, 41)),
        Witness("gop-lookahead", "11", (\.gopLookahead, 11)),
        Witness("ctu", "16", (\.maxCUSize, 16)),
        Witness("max-tu-size", "8", (\.maxTUSize, 8)),
        Witness("aq-mode", "3", (\.aqMode, 3)),
        Witness("aq-strength", "0.625", (\.aqStrength, 0.625)),
        Witness("hevc-aq", "1", (\.hevcAq, 1)),
        Witness("bitrate", "4321", (\.bitrate, 4321)),
        Witness("vbv-maxrate", "5432", (\.vbvMaxBitrate, 5432)),
        Witness("vbv-bufsize", "6543", (\.vbvBufferSize, 6543)),
        Witness("crf", "23.5", (\.rfConstant, 23.5)),
      ]
    let parameters = try X265Parameters(library, preset: "medium", tune: nil)
    for witness in witnesses {
      try parameters.parse(witness.option, witness.value)
      if !witness.holds(parameters) { return witness.option }
    }
    return nil
  }
}
