// SPDX-License-Identifier: MPL-2.0

import Foundation
import Reprojection
import SpatialElements
import StereoVideo
import Testing

/// How the pointer, fingers and keys turn a view, without an element.
struct ViewNavigationTests {
  private static let (width, height) = (64, 36)

  private func navigation() -> ViewNavigation {
    var navigation = ViewNavigation()
    navigation.size = (Self.width, Self.height)
    return navigation
  }

  private func view(
    _ yaw: Double, _ pitch: Double = 0, _ roll: Double = 0, field: Double = 60
  ) -> CameraView {
    CameraView(SphereOrientation(yaw: yaw, pitch: pitch, roll: roll), fieldOfView: field)
  }

  /// What a view shows at a place, in pixels.
  private func direction(_ x: Double, _ y: Double, _ view: CameraView) throws -> Direction {
    let geometry = try PictureGeometry(
      .rectilinear(horizontalFieldOfView: view.fieldOfView), width: Self.width,
      height: Self.height)
    let own = try #require(geometry.direction(of: PicturePosition(x: x - 0.5, y: y - 0.5)))
    return try #require(Rotation(view: view.orientation)(own).normalized)
  }

  private func areNear(_ one: Direction, _ other: Direction) -> Bool {
    abs(one.x - other.x) + abs(one.y - other.y) + abs(one.z - other.z) < 1e-9
  }

  @Test(
    "the grabbed point stays under the pointer, in either eye's view",
    arguments: [
      (0, 0, 0, 60), (20, 0, 0, 60), (-150, 30, 0, 90), (179, -35, 0, 30), (80, 10, 25, 60),
      (-60, -20, -140, 100),
    ] as [(Double, Double, Double, Double)], [(0, 0), (64, 0), (0, 36)] as [(Double, Double)])
  func grabbing(
    start: (yaw: Double, pitch: Double, roll: Double, field: Double), eye: (x: Double, y: Double)
  ) throws {
    var navigation = navigation()
    var view = view(start.yaw, start.pitch, start.roll, field: start.field)
    #expect(navigation.take(.move(x: 3, y: 3), view) == nil)
    #expect(navigation.take(.release, view) == nil)
    let first = view
    #expect(navigation.take(.grab(x: 40.5 + eye.x, y: 18.5 + eye.y), view) == first)
    let grabbed = try direction(40.5, 18.5, view)
    for (x, y) in [(10.5, 18.5), (30.5, 30.5), (32.5, 4.5), (60.5, 20.5)] {
      let next = navigation.take(.move(x: x + eye.x, y: y + eye.y), view)
      view = try #require(next)
      #expect(areNear(try direction(x, y, view), grabbed), "\(x), \(y)")
      #expect(view.orientation.roll == start.roll && view.fieldOfView == start.field)
    }
    #expect(navigation.take(.release, view) == view)
    #expect(navigation.take(.move(x: 1.5, y: 1.5), view) == nil)
  }

  @Test("keys turn by five degrees and zoom by a tenth, within what there is")
  func keys() {
    var navigation = navigation()
    for (key, from, to) in [
      ("Left", view(3), view(-2)), ("Right", view(178), view(-177)),
      ("Up", view(0, 10), view(0, 15)), ("Up", view(0, 88), view(0, 90)),
      ("Down", view(0, -10), view(0, -15)), ("Down", view(0, -88), view(0, -90)),
      ("bracketleft", view(0, 0, 2), view(0, 0, -3)),
      ("bracketright", view(0, 0, 178), view(0, 0, -177)),
      ("plus", view(9, field: 100), view(9, field: 90)),
      ("Page_Up", view(9, field: 10), view(9, field: 10)),
      ("minus", view(9, field: 90), view(9, field: 100)),
      ("Page_Down", view(9, field: 150), view(9, field: 150)),
      ("Home", view(77, 5, 9, field: 20), CameraView()),
    ] {
      let next = navigation.take(.key(key), from)
      #expect(next?.orientation == to.orientation, "\(key)")
      #expect(next.map { abs($0.fieldOfView - to.fieldOfView) < 1e-9 } == true, "\(key)")
    }
    for key in ["q", "", "left"] { #expect(navigation.take(.key(key), view(0)) == nil) }
    for (steps, field) in [(1, 54), (-2, 60 / 0.81), (100, 10), (-.infinity, nil), (.nan, nil)]
      as [(Double, Double?)]
    {
      let next = navigation.take(.scroll(steps), view(7))
      #expect(next?.orientation == (field == nil ? nil : view(7).orientation))
      #expect(field == nil || abs((next?.fieldOfView ?? 0) - (field ?? 0)) < 1e-9, "\(steps)")
    }
    #expect(navigation.take(nil, view(0)) == nil)
    navigation.size = (0, 36)
    #expect(navigation.take(.key("Home"), view(9)) == nil)
  }

  @Test("the point under one finger stays there; two fingers pinch the field of view")
  func touching() throws {
    var navigation = navigation()
    var view = view(20)
    func take(_ input: NavigationInput) throws -> CameraView {
      let next = navigation.take(input, view)
      return try #require(next)
    }
    #expect(navigation.take(.touchMove(finger: 7, x: 1, y: 1), view) == nil)
    #expect(navigation.take(.touchRelease(finger: 7), view) == nil)
    #expect(navigation.take(.touchCancel, view) == nil)
    #expect(try take(.touch(finger: 7, x: 40.5, y: 18.5)) == view)
    let held = try direction(40.5, 18.5, view)
    view = try take(.touchMove(finger: 7, x: 10.5, y: 18.5))
    #expect(areNear(try direction(10.5, 18.5, view), held))
    #expect(view.fieldOfView == 60)
    // A second finger changes nothing until it moves; twice as far apart, things are twice as
    // large.
    #expect(try take(.touch(finger: 9, x: 30.5, y: 18.5)) == view)
    let middle = try direction(20.5, 18.5, view)
    view = try take(.touchMove(finger: 9, x: 50.5, y: 18.5))
    let expected: Double = 2 * atan(tan(30 * Double.pi / 180) / 2) * 180 / Double.pi
    #expect(abs(view.fieldOfView - expected) < 1e-9)
    // What was in the middle of the two, at 20, is in the middle still, at 30.
    #expect(areNear(try direction(30.5, 18.5, view), middle))
    // A third has no effect, nor has a finger that is not there, nor one that is there already.
    for input in [
      .touch(finger: 11, x: 1, y: 1), .touchMove(finger: 11, x: 60, y: 30),
      .touchRelease(finger: 11), .touchMove(finger: 33, x: 2, y: 2),
      .touch(finger: 9, x: 3, y: 3),
    ] as [NavigationInput] {
      #expect(try take(input) == view)
    }
    // Without the first, the other one holds the picture where it is.
    #expect(try take(.touchRelease(finger: 7)) == view)
    let rest = try direction(50.5, 18.5, view)
    view = try take(.touchMove(finger: 9, x: 40.5, y: 18.5))
    #expect(abs(view.fieldOfView - expected) < 1e-9)
    #expect(areNear(try direction(40.5, 18.5, view), rest))
    #expect(try take(.touchCancel) == view)
    #expect(navigation.take(.touchMove(finger: 9, x: 1, y: 1), view) == nil)
  }

  @Test("input at invalid or equal positions leaves a valid view")
  func hostile() {
    let places: [Double] = [.nan, .infinity, -.infinity, 1e300, -1e300, 1e6, -5, 0, 5, 5, 63.9]
    var navigation = navigation()
    var view = CameraView()
    for x in places {
      for y in places {
        for input in [
          .grab(x: x, y: y), .move(x: y, y: x), .touch(finger: 1, x: x, y: y),
          .touchMove(finger: 1, x: y, y: x), .touch(finger: 2, x: x, y: y),
          .touchMove(finger: 2, x: x, y: y), .touchMove(finger: 1, x: x, y: y),
          .scroll(x), .touchRelease(finger: .max), .touchRelease(finger: 1), .release,
        ] as [NavigationInput] {
          view = navigation.take(input, view) ?? view
          #expect(CameraView.fieldsOfView.contains(view.fieldOfView), "\(input)")
          #expect(CameraView.pitches.contains(view.orientation.pitch), "\(input)")
          #expect((-180...180).contains(view.orientation.yaw), "\(input)")
          #expect(view.orientation.roll == 0, "\(input)")
        }
        _ = navigation.take(.touchCancel, view)
      }
    }
  }
}
