// SPDX-License-Identifier: MPL-2.0

package import GStreamer
package import StereoVideo

/// A frame of one eye and how it lies in memory.
package struct RawEye: Sendable {
  package let buffer: Buffer
  package let info: VideoInfo

  package init(_ buffer: Buffer, _ info: VideoInfo) {
    (self.buffer, self.info) = (buffer, info)
  }
}

/// Frames of both eyes that show one instant, and what is known of them.
package struct RawEyes: Sendable {
  package let left: RawEye
  package let right: RawEye
  /// On the stream's time line; nil where there is none.
  package let streamTime: ClockTime?
  package let duration: ClockTime?
  package let metadata: SpatialMetadata
}

/// What several sources show at one instant.
package struct RawSources: Sendable {
  /// By the numbers in the names of their pads.
  package let eyes: [Int: RawEyes]
  /// Of the source with the lowest number: on the stream's time line; nil where there is none.
  package let streamTime: ClockTime?
  package let duration: ClockTime?
}

/// What a program's function makes of frames, in a thread of its own.
package protocol ProgramFrameCall: Sendable {
  /// Waits for what becomes of them, which is nil where nothing is to be shown; throws what the
  /// function throws.
  func wait() throws -> (left: RawEye, right: RawEye)?

  /// Has who waits wait no longer.
  func giveUp()
}

/// Elements that have a function of the program make their frames.
package enum ProgramElements {
  /// Begins to make a frame.
  package typealias Begin<Input> = @Sendable (Input) -> any ProgramFrameCall

  /// What an element of a type does.
  private enum Function: Sendable {
    case filter(Begin<RawEyes>)
    case compositor(Begin<RawSources>, isStereo: Bool)
  }

  private static let functions = Locked<[String: Function]>([:])

  /// Makes an element with the pads of `stereopack` available to the process: it has the function work
  /// on each pair, and gives its frames, the left and the right eye's in turn. Call it behind
  /// `SpatialElements.register`.
  ///
  /// - Parameter name: a letter and letters, digits, `-` or `_`.
  /// - Returns: false where there is an element of this name.
  package static func registerFilter(_ name: String, _ begin: @escaping Begin<RawEyes>) -> Bool {
    register(name, .filter(begin)) { typeName in
      ElementDeclaration<StereoPack>(
        name: name, typeName: typeName, longName: "Stereo filter of the program",
        klass: "Filter/Effect/Video",
        description: "Has a function of the program work on both eyes; gives their frames in turn",
        author: author, padTemplates: StereoPack.padTemplates,
        properties: PairingSettings.properties(at: \.pairing))
    }
  }

  /// The same for an element with pads on request for any number of sources, ``StereoMixer``.
  ///
  /// - Parameter isStereo: whether it gives both eyes' frames in turn, and not the left one's alone.
  package static func registerCompositor(
    _ name: String, isStereo: Bool, _ begin: @escaping Begin<RawSources>
  ) -> Bool {
    register(name, .compositor(begin, isStereo: isStereo)) { typeName in
      ElementDeclaration<StereoMixer>(
        name: name, typeName: typeName, longName: "Stereo compositor of the program",
        klass: "Filter/Editor/Video/Compositor",
        description: "Has a function of the program make each frame of those that its sources show",
        author: author, padTemplates: StereoMixer.padTemplates,
        properties: PairingSettings.properties(at: \.pairing))
    }
  }

  private static func register<Implementation>(
    _ name: String, _ function: Function,
    _ declare: (_ typeName: String) -> ElementDeclaration<Implementation>
  ) -> Bool {
    functions.withLock { functions in
      let typeName = "GstStereoProgram-\(name)"
      guard ElementFactory.named(name) == nil, functions[typeName] == nil else { return false }
      functions[typeName] = function
      return declare(typeName).registerInProcess()
    }
  }

  /// What an element of a type does with each pair; nil for `stereopack` itself.
  static func filter(_ typeName: String) -> Begin<RawEyes>? {
    guard case .filter(let begin) = functions.withLock({ $0[typeName] }) else { return nil }
    return begin
  }

  /// What an element of a type makes of its sources; nil for a type that is none of a compositor.
  static func compositor(_ typeName: String) -> (begin: Begin<RawSources>, isStereo: Bool)? {
    guard case .compositor(let begin, let isStereo) = functions.withLock({ $0[typeName] }) else {
      return nil
    }
    return (begin, isStereo)
  }
}

/// The calls of one element: one at a time, for which the streaming thread waits.
final class ProgramFrameCalls<Input>: Sendable {
  /// What became of the input of a call.
  enum Outcome {
    case frame(left: RawEye, right: RawEye)
    /// The function shows nothing.
    case skipped
    /// Nobody waits for it any more.
    case unlocked
  }

  private struct State {
    var isUnlocked = false
    var call: (any ProgramFrameCall)?
  }

  private let begin: ProgramElements.Begin<Input>
  private let state = Locked(State())

  init(_ begin: @escaping ProgramElements.Begin<Input>) {
    self.begin = begin
  }

  func apply(_ input: Input) throws -> Outcome {
    guard !state.current.isUnlocked else { return .unlocked }
    let call = begin(input)
    let isLate = state.withLock { state in
      state.call = call
      return state.isUnlocked
    }
    if isLate { call.giveUp() }
    defer { state.withLock { $0.call = nil } }
    do {
      guard let eyes = try call.wait() else { return .skipped }
      return .frame(left: eyes.left, right: eyes.right)
    } catch {
      guard state.current.isUnlocked else { throw error }
      return .unlocked
    }
  }

  /// Gives up the call under way, and those to come until `unlockStop`.
  func unlock() {
    let call = state.withLock { state in
      state.isUnlocked = true
      return state.call
    }
    call?.giveUp()
  }

  func unlockStop() { state.withLock { $0.isUnlocked = false } }
}
