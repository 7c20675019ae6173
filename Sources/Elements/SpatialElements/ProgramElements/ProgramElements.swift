// SPDX-License-Identifier: MPL-2.0

package import GStreamer
package import StereoVideo

/// A frame of one eye and its format.
package struct RawEye: Sendable {
  package let buffer: Buffer
  package let info: VideoInfo

  package init(_ buffer: Buffer, _ info: VideoInfo) {
    (self.buffer, self.info) = (buffer, info)
  }
}

/// Frames of both eyes that show the same instant, with their metadata.
package struct RawEyes: Sendable {
  package let left: RawEye
  package let right: RawEye
  /// In stream time; nil if unknown.
  package let streamTime: ClockTime?
  package let duration: ClockTime?
  package let metadata: SpatialMetadata
}

/// Frames that several sources show at the same time.
package struct RawSources: Sendable {
  /// By the numbers in the pad names.
  package let eyes: [Int: RawEyes]
  /// Stream time of the source with the lowest number; nil if unknown.
  package let streamTime: ClockTime?
  package let duration: ClockTime?
}

/// A call of the application's function, which runs in a thread of its own.
package protocol ProgramFrameCall: Sendable {
  /// Waits for the result of the function; nil to show nothing. Throws what the function throws.
  func wait() throws -> (left: RawEye, right: RawEye)?

  /// Makes `wait` end early.
  func giveUp()
}

/// Elements whose frames are made by a function of the application.
package enum ProgramElements {
  /// Starts the function on one input.
  package typealias Begin<Input> = @Sendable (Input) -> any ProgramFrameCall

  /// Function of an element type.
  private enum Function: Sendable {
    case filter(Begin<RawEyes>)
    case compositor(Begin<RawSources>, isStereo: Bool)
  }

  private static let functions = Locked<[String: Function]>([:])

  /// Registers an element with the pads of `stereopack` in the process: it calls the function for
  /// each pair and outputs the resulting frames, alternating left and right. Call it after
  /// `SpatialElements.register`.
  ///
  /// - Parameter name: a letter, followed by letters, digits, `-` or `_`.
  /// - Returns: false if an element of this name already exists.
  package static func registerFilter(_ name: String, _ begin: @escaping Begin<RawEyes>) -> Bool {
    register(name, .filter(begin)) { typeName in
      ElementDeclaration<StereoPack>(
        name: name, typeName: typeName, longName: "Application stereo filter",
        klass: "Filter/Effect/Video",
        description: "Applies a function of the application to both eyes; outputs alternate frames",
        author: author, padTemplates: StereoPack.padTemplates,
        properties: PairingSettings.properties(at: \.pairing))
    }
  }

  /// Registers an element with request pads for any number of sources, see ``StereoMixer``.
  ///
  /// - Parameter isStereo: whether both eyes' frames are output alternately; only the left eye's if
  ///   not.
  package static func registerCompositor(
    _ name: String, isStereo: Bool, _ begin: @escaping Begin<RawSources>
  ) -> Bool {
    register(name, .compositor(begin, isStereo: isStereo)) { typeName in
      ElementDeclaration<StereoMixer>(
        name: name, typeName: typeName, longName: "Application stereo compositor",
        klass: "Filter/Editor/Video/Compositor",
        description: "Makes frames from those of its sources with a function of the application",
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

  /// Returns the function for each pair of an element type; nil for `stereopack` itself.
  static func filter(_ typeName: String) -> Begin<RawEyes>? {
    guard case .filter(let begin) = functions.withLock({ $0[typeName] }) else { return nil }
    return begin
  }

  /// Returns the function of a compositor type; nil for any other type.
  static func compositor(_ typeName: String) -> (begin: Begin<RawSources>, isStereo: Bool)? {
    guard case .compositor(let begin, let isStereo) = functions.withLock({ $0[typeName] }) else {
      return nil
    }
    return (begin, isStereo)
  }
}

/// Calls of one element: one at a time, while the streaming thread waits.
final class ProgramFrameCalls<Input>: Sendable {
  /// Result of a call.
  enum Outcome {
    case frame(left: RawEye, right: RawEye)
    /// The function shows nothing for this input.
    case skipped
    /// The call was cancelled.
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

  /// Cancels the current call and all later ones until `unlockStop`.
  func unlock() {
    let call = state.withLock { state in
      state.isUnlocked = true
      return state.call
    }
    call?.giveUp()
  }

  func unlockStop() { state.withLock { $0.isUnlocked = false } }
}
