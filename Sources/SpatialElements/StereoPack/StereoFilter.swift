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

/// What a program's function makes of a pair, in a thread of its own.
package protocol StereoFilterCall: Sendable {
  /// Waits for what becomes of the pair; throws what the function throws.
  func wait() throws -> (left: RawEye, right: RawEye)

  /// Has who waits wait no longer.
  func giveUp()
}

/// Elements with the pads of `stereopack` that have a program's function work on each pair before they
/// give its frames, the left and the right eye's in turn.
package enum StereoFilters {
  /// Begins to work on a pair.
  package typealias Begin = @Sendable (RawEyes) -> any StereoFilterCall

  private static let known = Locked<[String: Begin]>([:])

  /// Makes an element of this name available to the process. Call it behind `SpatialElements.register`.
  ///
  /// - Parameter name: a letter and letters, digits, `-` or `_`.
  /// - Returns: false where there is an element of this name.
  package static func register(_ name: String, _ begin: @escaping Begin) -> Bool {
    known.withLock { known in
      let typeName = "GstStereoFilter-\(name)"
      guard ElementFactory.named(name) == nil, known[typeName] == nil else { return false }
      known[typeName] = begin
      let declaration = ElementDeclaration<StereoPack>(
        name: name, typeName: typeName, longName: "Stereo filter of the program",
        klass: "Filter/Effect/Video",
        description: "Has a function of the program work on both eyes; gives their frames in turn",
        author: author, padTemplates: StereoPack.padTemplates,
        properties: PairingSettings.properties(at: \.pairing))
      return declaration.registerInProcess()
    }
  }

  /// What an element of a type has done; nil for `stereopack` itself.
  static func begin(_ typeName: String) -> Begin? { known.withLock { $0[typeName] } }
}

/// The calls of one element: one at a time, for which the streaming thread waits.
final class StereoFilterCalls: Sendable {
  private struct State {
    var isUnlocked = false
    var call: (any StereoFilterCall)?
  }

  private let begin: StereoFilters.Begin
  private let state = Locked(State())

  init(_ begin: @escaping StereoFilters.Begin) {
    self.begin = begin
  }

  /// What becomes of a pair; nil where nobody waits for it any more.
  func apply(_ pair: RawEyes) throws -> (left: RawEye, right: RawEye)? {
    guard !state.current.isUnlocked else { return nil }
    let call = begin(pair)
    let isLate = state.withLock { state in
      state.call = call
      return state.isUnlocked
    }
    if isLate { call.giveUp() }
    defer { state.withLock { $0.call = nil } }
    do {
      return try call.wait()
    } catch {
      guard state.current.isUnlocked else { throw error }
      return nil
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
