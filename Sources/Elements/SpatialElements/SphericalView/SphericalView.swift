// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

/// `sphericalview`: a window into spherical pictures.
let sphericalView = ElementDeclaration<SphericalView>(
  name: "sphericalview",
  typeName: "GstSphericalView",
  longName: "Spherical view",
  klass: "Filter/Converter/Video",
  description: "Shows a flat view of 180 and 360 degree video, fisheye and cube maps, of one eye "
    + "or both",
  author: author,
  padTemplates: SphericalView.padTemplates,
  properties: SphericalView.commonProperties + [
    .double(
      "field-of-view", nick: "Field of view", blurb: "Horizontal angle of the view, in degrees",
      in: CameraView.fieldsOfView, default: 90, mutable: .playing, isControllable: true,
      at: \.fieldOfView),
    .double(
      "convergence", nick: "Convergence",
      blurb: "Angle by which each eye's view is turned towards the other's, in degrees: a larger "
        + "one moves everything away from the viewer",
      in: -10...10, default: 0, at: \.convergence),
    .bool(
      "navigation", nick: "Navigation",
      blurb: "Control the view by mouse, touch and keys in the window", default: true,
      mutable: .playing, at: \.navigates),
    .string(
      "path", nick: "Path",
      blurb: "File of times and views that the view follows instead of the properties",
      at: \.path),
  ])

/// The output size does not depend on the view, so that looking around never renegotiates.
final class SphericalView: SphereFilter {
  struct Settings: SphereFilterSettings {
    var sphere = SphereSettings()
    var fieldOfView = 90.0
    var convergence = 0.0
    var navigates = true
    var path: String?

    var view: CameraView {
      get { CameraView(sphere.orientation, fieldOfView: fieldOfView) }
      set { (sphere.orientation, fieldOfView) = (newValue.orientation, newValue.fieldOfView) }
    }

    static let targetMoves = true

    var target: (name: SphereChoice, projection: Projection) {
      (.rectilinear, .rectilinear(horizontalFieldOfView: fieldOfView))
    }
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  /// Navigation state, and the size of one eye's view.
  let navigation = Locked(ViewNavigation())
  /// The camera path read from the file at `path`.
  private let path = Locked<CameraPath?>(nil)
  let sink: Pad
  let source: Pad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(chain: SphericalView.receive, event: SphericalView.handle, query: SphericalView.answer))
    source = try Pad(
      instance, template: "src",
      PadFunctions<SphericalView>.source(
        query: SphericalView.answerDownstream, event: SphericalView.handleUpstream))
    for pad in [sink, source] { add(pad) }
  }

  func start() throws -> SphereStreaming {
    let read = try settings.current.path.map(Self.readPath)
    path.withLock { $0 = read }
    return SphereStreaming()
  }

  private static func readPath(_ path: String) throws -> CameraPath {
    guard let bytes = try SmallFile.bytes(of: path, limit: longestPath) else {
      throw ElementError(.notFound, "There is no file '\(path)'.")
    }
    do {
      return try CameraPath(parsing: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw ElementError(.settings, "'\(path)' is not a valid camera path: \(error).")
    }
  }

  /// Maximum file size in bytes: one view per frame for two hours.
  private static let longestPath = 16 << 20

  /// A camera that follows a path ignores navigation.
  private var canNavigate: Bool { settings.current.navigates && path.current == nil }

  func follow(_ time: ClockTime) {
    followControlSources(at: time)
    guard let path = path.current else { return }
    settings.withLock {
      $0.view = path.view(at: Int64(clamping: time.nanoseconds), otherwise: $0.view)
    }
  }

  /// Implemented in the class: a protocol extension's method would cost the pad an allocation per
  /// buffer.
  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    try drawAndPush(buffer, &streaming)
  }

  func didNegotiateSize(width: Int, height: Int) {
    navigation.withLock { $0.size = (width, height) }
  }

  /// Posts each new view to the application, so that audio can follow.
  func didDraw(_ settings: Settings) {
    let orientation = settings.sphere.orientation
    postMessage(
      "spherical-view",
      [
        "yaw": .double(orientation.yaw), "pitch": .double(orientation.pitch),
        "roll": .double(orientation.roll), "field-of-view": .double(settings.fieldOfView),
      ])
  }
}

extension SphericalView {
  func handleUpstream(_ pad: Pad, _ event: Event) throws -> Bool {
    guard case .navigation(let fields) = event.kind, canNavigate else {
      return pad.forward(event)
    }
    let view = settings.current.view
    guard let next = navigation.withLock({ $0.take(NavigationInput(fields), view) }) else {
      return pad.forward(event)
    }
    settings.withLock { $0.view = next }
    return true
  }
}

extension NavigationInput {
  fileprivate init?(_ fields: StructureView) {
    func position() -> (Double, Double)? {
      guard let x = fields.double("pointer_x"), let y = fields.double("pointer_y") else {
        return nil
      }
      return (x, y)
    }
    switch fields.string("event") {
    case "mouse-button-press":
      guard fields.int("button") == 1, let (x, y) = position() else { return nil }
      self = .grab(x: x, y: y)
    case "mouse-move":
      guard let (x, y) = position() else { return nil }
      self = .move(x: x, y: y)
    case "mouse-button-release":
      guard fields.int("button") == 1 else { return nil }
      self = .release
    case "mouse-scroll":
      guard let delta = fields.double("delta_pointer_y") else { return nil }
      self = .scroll(delta)
    case "touch-down", "touch-motion":
      guard let finger = fields.int("identifier"), let (x, y) = position() else { return nil }
      self =
        fields.string("event") == "touch-down"
        ? .touch(finger: finger, x: x, y: y) : .touchMove(finger: finger, x: x, y: y)
    case "touch-up":
      guard let finger = fields.int("identifier") else { return nil }
      self = .touchRelease(finger: finger)
    case "touch-cancel": self = .touchCancel
    case "key-press":
      guard let key = fields.string("key") else { return nil }
      self = .key(key)
    default: return nil
    }
  }
}
