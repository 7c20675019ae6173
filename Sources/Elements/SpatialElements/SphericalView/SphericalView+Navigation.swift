// SPDX-License-Identifier: MPL-2.0

import GStreamer

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
