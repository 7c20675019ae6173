// SPDX-License-Identifier: MPL-2.0

package import Reprojection
import StereoVideo

#if canImport(Glibc)
  import Glibc
#endif

/// User input in the window, in pixels of the frame shown there.
package enum NavigationInput {
  case grab(x: Double, y: Double)
  case move(x: Double, y: Double)
  case release
  /// A finger touches the screen, which identifies fingers by number.
  case touch(finger: Int, x: Double, y: Double)
  case touchMove(finger: Int, x: Double, y: Double)
  case touchRelease(finger: Int)
  /// All fingers are lifted.
  case touchCancel
  /// Scroll wheel steps, positive upwards.
  case scroll(Double)
  /// A key, by its X11 name.
  case key(String)
}

/// Rotates the view so that the point grabbed stays under the pointer, under one finger, or between
/// two fingers, which also change the field of view by pinching.
package struct ViewNavigation {
  /// Size of one eye's view, in pixels.
  package var size = (width: 0, height: 0)
  /// Direction grabbed by the pointer.
  private var grabbed: Direction?
  private var fingers = TouchTracker()

  package init() {}

  /// Returns the view after the input; nil for input that does not concern the view.
  package mutating func take(_ input: NavigationInput?, _ view: CameraView) -> CameraView? {
    guard let input, size.width > 0, size.height > 0 else { return nil }
    var next = view
    switch input {
    case .grab(let x, let y):
      grabbed = ray(x, y, view).map { Rotation(view: view.orientation)($0) }
    case .move(let x, let y):
      guard let grabbed else { return nil }
      guard let own = ray(x, y, view),
        let orientation = SphereOrientation(
          seeing: grabbed, at: own, roll: view.orientation.roll)
      else { return view }
      next.orientation = orientation
    case .release:
      guard grabbed != nil else { return nil }
      grabbed = nil
    case .touch(let finger, let x, let y):
      if fingers.add(finger, x: x, y: y, view) { holdWithFingers(view) }
      return view
    case .touchMove(let finger, let x, let y):
      guard !fingers.isEmpty else { return nil }
      guard fingers.move(finger, x: x, y: y) else { return view }
      next.fieldOfView = fingers.fieldOfView(view.fieldOfView)
      let middle = fingers.middle
      guard let grabbed, let own = ray(middle.x, middle.y, next),
        let orientation = SphereOrientation(
          seeing: grabbed, at: own, roll: view.orientation.roll)
      else { return next }
      next.orientation = orientation
    case .touchRelease(let finger):
      guard !fingers.isEmpty else { return nil }
      if fingers.remove(finger, view) { holdWithFingers(view) }
      return view
    case .touchCancel:
      guard !fingers.isEmpty else { return nil }
      fingers = TouchTracker()
      holdWithFingers(view)
      return view
    case .scroll(let steps):
      guard steps.isFinite else { return nil }
      next.fieldOfView = zoomed(view.fieldOfView, by: pow(0.9, max(-20, min(20, steps))))
    case .key(let key):
      switch key {
      case "Left": next.orientation.yaw -= 5
      case "Right": next.orientation.yaw += 5
      case "Up": next.orientation.pitch = min(90, view.orientation.pitch + 5)
      case "Down": next.orientation.pitch = max(-90, view.orientation.pitch - 5)
      case "plus", "Page_Up": next.fieldOfView = zoomed(view.fieldOfView, by: 0.9)
      case "minus", "Page_Down": next.fieldOfView = zoomed(view.fieldOfView, by: 1 / 0.9)
      case "bracketleft": next.orientation.roll -= 5
      case "bracketright": next.orientation.roll += 5
      case "Home": next = CameraView()
      default: return nil
      }
      next.orientation.yaw = next.orientation.yaw.remainder(dividingBy: 360)
      next.orientation.roll = next.orientation.roll.remainder(dividingBy: 360)
    }
    return next
  }

  private mutating func holdWithFingers(_ view: CameraView) {
    let middle = fingers.middle
    grabbed =
      fingers.isEmpty
      ? nil : ray(middle.x, middle.y, view).map { Rotation(view: view.orientation)($0) }
  }

  private func zoomed(_ degrees: Double, by factor: Double) -> Double {
    let range = CameraView.fieldsOfView
    return min(range.upperBound, max(range.lowerBound, degrees * factor))
  }

  /// Whether the coordinates are plausible for a window.
  fileprivate static func isPlace(_ x: Double, _ y: Double) -> Bool { abs(x) < 1e6 && abs(y) < 1e6 }

  /// Direction at a pixel of either eye, relative to the view.
  private func ray(_ x: Double, _ y: Double, _ view: CameraView) -> Direction? {
    guard Self.isPlace(x, y),
      let geometry = try? PictureGeometry(
        .rectilinear(horizontalFieldOfView: view.fieldOfView), width: size.width,
        height: size.height)
    else { return nil }
    let (width, height) = (Double(size.width), Double(size.height))
    // The second eye's view is beside or below the first one's.
    let place = PicturePosition(
      x: x - (x / width).rounded(.down) * width - 0.5,
      y: y - (y / height).rounded(.down) * height - 0.5)
    return geometry.direction(of: place)
  }
}

/// The one or two fingers that hold a view; more have no effect.
struct TouchTracker {
  private struct Finger {
    let number: Int
    var x, y: Double
  }

  /// Value kept constant while pinching: the distance of the two fingers in pixels, times the
  /// tangent of half the field of view when the second finger was put down. Objects between the
  /// fingers then scale with their distance.
  private var pinch: Double?
  private var fingers: [Finger] = []

  var isEmpty: Bool { fingers.isEmpty }

  /// Midpoint of the fingers, in pixels; (0, 0) without any.
  var middle: (x: Double, y: Double) {
    let count = Double(max(1, fingers.count))
    return (fingers.reduce(0) { $0 + $1.x } / count, fingers.reduce(0) { $0 + $1.y } / count)
  }

  /// Returns false if the finger has no effect.
  mutating func add(_ number: Int, x: Double, y: Double, _ view: CameraView) -> Bool {
    guard fingers.count < 2, !fingers.contains(where: { $0.number == number }),
      ViewNavigation.isPlace(x, y)
    else { return false }
    fingers.append(Finger(number: number, x: x, y: y))
    hold(view)
    return true
  }

  /// Returns false if the finger has no effect.
  mutating func move(_ number: Int, x: Double, y: Double) -> Bool {
    guard let index = fingers.firstIndex(where: { $0.number == number }),
      ViewNavigation.isPlace(x, y)
    else { return false }
    (fingers[index].x, fingers[index].y) = (x, y)
    return true
  }

  /// Returns false if the finger had no effect.
  mutating func remove(_ number: Int, _ view: CameraView) -> Bool {
    guard let index = fingers.firstIndex(where: { $0.number == number }) else { return false }
    fingers.remove(at: index)
    hold(view)
    return true
  }

  /// Returns the field of view after pinching, in degrees.
  func fieldOfView(_ degrees: Double) -> Double {
    guard let pinch else { return degrees }
    let range = CameraView.fieldsOfView
    let pinched = atan(pinch / max(1, spread)) * 360 / .pi
    return min(range.upperBound, max(range.lowerBound, pinched))
  }

  private mutating func hold(_ view: CameraView) {
    pinch = fingers.count == 2 ? max(1, spread) * tan(view.fieldOfView * .pi / 360) : nil
  }

  private var spread: Double {
    fingers.count == 2 ? hypot(fingers[0].x - fingers[1].x, fingers[0].y - fingers[1].y) : 0
  }
}
