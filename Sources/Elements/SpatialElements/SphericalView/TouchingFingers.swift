// SPDX-License-Identifier: MPL-2.0

import Reprojection

#if canImport(Glibc)
  import Glibc
#endif

/// The one or two fingers that hold a view; more have no effect.
struct TouchingFingers {
  private struct Finger {
    let number: Int
    var x, y: Double
  }

  /// What two fingers hold: pixels from one to the other, times the tangent of half the field of view
  /// when the second was put down. What is between them keeps its size on the fingers' scale.
  private var pinch: Double?
  private var fingers: [Finger] = []

  var isEmpty: Bool { fingers.isEmpty }

  /// Between the fingers, in pixels; (0, 0) without any.
  var middle: (x: Double, y: Double) {
    let count = Double(max(1, fingers.count))
    return (fingers.reduce(0) { $0 + $1.x } / count, fingers.reduce(0) { $0 + $1.y } / count)
  }

  /// False where the finger has no effect.
  mutating func add(_ number: Int, x: Double, y: Double, _ view: CameraView) -> Bool {
    guard fingers.count < 2, !fingers.contains(where: { $0.number == number }),
      ViewNavigation.isPlace(x, y)
    else { return false }
    fingers.append(Finger(number: number, x: x, y: y))
    hold(view)
    return true
  }

  /// False where the finger has no effect.
  mutating func move(_ number: Int, x: Double, y: Double) -> Bool {
    guard let index = fingers.firstIndex(where: { $0.number == number }),
      ViewNavigation.isPlace(x, y)
    else { return false }
    (fingers[index].x, fingers[index].y) = (x, y)
    return true
  }

  /// False where the finger had no effect.
  mutating func remove(_ number: Int, _ view: CameraView) -> Bool {
    guard let index = fingers.firstIndex(where: { $0.number == number }) else { return false }
    fingers.remove(at: index)
    hold(view)
    return true
  }

  /// What the fingers make of a field of view, in degrees.
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
